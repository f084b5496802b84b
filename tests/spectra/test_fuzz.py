"""Whatever is done to a valid file, reading it succeeds or raises CheckpointError, and takes little memory."""

import io
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra import CheckpointError, read_checkpoint
from tests.spectra.crafted import packed, safetensors_bytes

ARRAYS = {"conv": np.ones((2, 3, 3, 3), np.float32), "n": np.arange(4), "bias": np.zeros(2, np.float16)}
MEMORY = 2**24  # bytes: far above a file of a kilobyte, far below what a lie could ask for


def valid(suffix):
    if suffix == "safetensors":
        return packed(ARRAYS)
    buffer = io.BytesIO()
    if suffix == "npy":
        np.save(buffer, ARRAYS["conv"])
    else:
        (np.savez_compressed if suffix == "packed.npz" else np.savez)(buffer, **ARRAYS)
    return buffer.getvalue()


FILES = {suffix: valid(suffix) for suffix in ("safetensors", "npy", "npz", "packed.npz")}
WORDS = [
    b"\xff",
    b"\x00" * 8,
    b"\xff" * 8,
    b"\x80\x04",
    b"9" * 30,
    b"[" * 50,
    b"-1",
    b'"',
    b"F32",
    b"PK\x01\x02",
    b"1e999",
]


@st.composite
def mutations(draw, data):
    """``data`` with a few bytes changed, cut out, put in, doubled or moved."""
    data = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        stop = min(len(data), start + draw(st.sampled_from([0, 1, 2, 4, 8, 64])))
        piece = draw(st.one_of(st.sampled_from(WORDS), st.binary(max_size=8), st.just(bytes(data[start:stop]) * 2)))
        data[start:stop] = piece
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


@pytest.mark.parametrize("suffix", FILES)
@given(data=st.data())
def test_mutations_of_valid_files(suffix, data, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / f"model.{suffix}"
    path.write_bytes(data.draw(mutations(FILES[suffix])))
    tracemalloc.start()
    try:
        checkpoint = read_checkpoint(path, non_finite="keep")
        for name in checkpoint:
            if not checkpoint.tensors[name].unread:
                assert checkpoint[name].shape == checkpoint.tensors[name].shape
    except CheckpointError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < MEMORY


numbers = st.one_of(st.integers(-3, 40), st.sampled_from([2**31, 2**63, 2**64, -(2**63), 10**40, 0.5, True, None]))
entries = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F32", "BF16", "F4", "BOOL", "I64", "f32", "", None, 5]),
        "shape": st.one_of(st.lists(numbers, max_size=5), numbers),
        "data_offsets": st.one_of(st.lists(numbers, max_size=3), numbers),
    }
)
json_values = st.recursive(st.one_of(st.none(), st.booleans(), st.floats(), st.text(max_size=5)), st.lists)
headers = st.dictionaries(
    st.one_of(st.just("__metadata__"), st.text(max_size=4)), st.one_of(entries, entries, json_values)
)


@given(header=headers, values=st.binary(max_size=40))
def test_headers_of_the_right_form(header, values, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "model.safetensors"
    path.write_bytes(safetensors_bytes(header, values))
    try:
        checkpoint = read_checkpoint(path, non_finite="keep")
    except CheckpointError:
        return
    assert (
        sum(checkpoint.tensors[name].read().nbytes for name in checkpoint if not checkpoint.tensors[name].unread) <= 80
    )


@pytest.mark.parametrize("suffix", FILES)
@given(noise=st.binary(max_size=200))
def test_noise(suffix, noise, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / f"model.{suffix}"
    path.write_bytes(noise)
    with pytest.raises(CheckpointError):
        read_checkpoint(path)


@pytest.mark.parametrize("suffix", FILES)
def test_every_bit_of_the_header(suffix, tmp_path):
    """One bit at a time through everything but the values."""
    for byte in range(len(FILES[suffix]) if suffix != "npy" else 128):
        data = bytearray(FILES[suffix])
        data[byte] ^= 1 << byte % 8
        path = tmp_path / f"model.{suffix}"
        path.write_bytes(data)
        try:
            read_checkpoint(path, non_finite="keep")
        except CheckpointError:
            continue
