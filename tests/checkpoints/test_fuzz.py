"""Whatever is done to a valid file, reading it succeeds or raises CheckpointError, and takes little memory."""

import io
import struct
import tracemalloc
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.checkpoints import CheckpointError, read_checkpoint
from capcore.spectra import find_layers
from tests.checkpoints.corpus import of_names, tensor, torch_zip
from tests.checkpoints.crafted import packed, safetensors_bytes

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
WORDS = [b"\xff", bytes(8), b"\xff" * 8, b"\x80\x04", b"9" * 30, b"[" * 50, b"-1", b"F32", b"PK\x01\x02", b"1e999"]


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
    assert sum(tensor.read().nbytes for tensor in checkpoint.tensors.values() if not tensor.unread) <= 80


def seeds():
    """Valid files of every kind that is read, by suffix."""
    rng = np.random.default_rng(0)
    quantised = {
        "fc.weight": rng.integers(-9, 9, (8, 8)).astype("i1"), "fc.weight_scale": np.ones((8, 1), "f4"),
        "a.qweight": np.ones((1, 8), "i4"), "a.qzeros": np.ones((1, 1), "i4"), "a.scales": np.ones((1, 8), "f4"),
        "experts.up_blocks": np.ones((2, 2, 1, 16), "u1"), "experts.up_scales": np.ones((2, 2, 1), "u1"),
        "b.lora_A.weight": np.ones((2, 4)), "b.lora_B.weight": np.ones((3, 2)),
    }  # fmt: skip
    buffer = io.BytesIO()
    np.savez(buffer, **quantised)
    found = [*FILES.items(), ("quantised.npz", buffer.getvalue()), ("pt", torch_zip(of_names(("w", tensor()))))]
    found.append(("safetensors.index.json", b'{"weight_map": {"w": "model-1.safetensors"}}'))
    gguf = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + struct.pack("<Q3sIQ3s", 3, b"k.a", 8, 3, b"abc")
    gguf += struct.pack("<Q1sIQQIQ", 1, b"w", 2, 4, 3, 0, 0)
    found.append(("gguf", gguf.ljust(-(-len(gguf) // 32) * 32, b"\0") + bytes(48)))
    onnx = b"\x08\x0e: \x12\x01g*\x1b\x08\x02\x08\x02\x10\x01B\x01wJ\x10" + bytes(16) + b"B\x02\x10\x1c"
    found.append(("onnx", onnx))
    return found


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the index finds its part."""
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "model-1.safetensors").write_bytes(packed({"w": np.ones((3, 3), "f4")}))
    return folder


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("suffix", "content"), seeds())
@given(data=st.data())
def test_mutations_of_valid_files(suffix, content, data, folder):
    """Each ends in an answer, of which every tensor can be read, or in a message, in little time and memory."""
    path = folder / f"model.{suffix}"
    path.write_bytes(data.draw(mutations(content)))
    tracemalloc.start()
    try:
        checkpoint = read_checkpoint(path, non_finite="keep")
        find_layers(checkpoint)
        for tensor in checkpoint.tensors.values():
            assert tensor.unread or tensor.read().shape == tensor.shape
    except CheckpointError:
        pass  # the corpus looks at messages
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        path.unlink()
    assert peak < 2 * MEMORY


@pytest.mark.filterwarnings("ignore")
def test_seeds_are_valid(folder):
    """Without the extras, six of them are read."""
    answers = 0
    for suffix, content in seeds():
        path = folder / f"model.{suffix}"
        path.write_bytes(content)
        with suppress(CheckpointError):
            answers += len(read_checkpoint(path)) > 0
        path.unlink()
    assert answers >= 6
