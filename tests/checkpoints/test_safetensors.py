"""The safetensors format: what it holds is read exactly, and a header that lies is refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.checkpoints import CheckpointError
from capcore.checkpoints.number_types import bfloat16
from capcore.checkpoints.opening import read_file
from capcore.checkpoints.safetensors import LONGEST_HEADER, TYPES
from tests.checkpoints.crafted import entry, packed, safetensors_bytes


@pytest.fixture
def written(tmp_path):
    def write(data):
        path = tmp_path / "model.safetensors"
        path.write_bytes(data)
        return path

    return write


def test_golden_bytes(written):
    """By hand, from the published description of the format."""
    data = (
        b"\x4a\x00\x00\x00\x00\x00\x00\x00"
        b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"__metadata__":{}}  '
        b"\x00\x00\x80\x3f\x00\x00\x00\xc0"
    )
    found = read_file(written(data))
    assert found["a"].tolist() == [1.0, -2.0]
    assert (found.format, found.size, [*found]) == ("safetensors", len(data), ["a"])


@given(data=st.data())
def test_what_was_written_is_read(data, tmp_path_factory):
    names = data.draw(st.lists(st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1), unique=True))
    kinds = st.sampled_from(["float64", "float32", "float16", "int64", "uint8", "bool"])
    shapes = st.lists(st.integers(0, 3), max_size=4)
    rng = np.random.default_rng(0)
    arrays = {n: rng.integers(0, 2, data.draw(shapes)).astype(data.draw(kinds)) for n in names if n != "__metadata__"}
    path = tmp_path_factory.mktemp("read") / "model.safetensors"
    path.write_bytes(packed(arrays))
    found = read_file(path)
    assert [*found] == [*arrays]
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
        assert found[name] is not found[name]  # so that writing to one changes nothing


def test_bfloat16_is_exact():
    """All 65,536 of them, against the definition: sign, eight bits of exponent, seven of fraction."""
    words = np.arange(2**16, dtype=np.uint16)
    sign, power, fraction = words >> 15, (words >> 7) & 255, words & 127
    with np.errstate(over="ignore"):
        normal = np.ldexp(1 + fraction / 128, power.astype(int) - 127)
    value = np.where(power == 0, np.ldexp(fraction / 128, -126), normal) * (1.0 - 2.0 * sign)
    finite = power < 255
    np.testing.assert_array_equal(bfloat16(words)[finite].astype(float), value[finite])
    assert not np.isfinite(bfloat16(words)[~finite]).any()


@pytest.mark.parametrize("code", TYPES)
def test_every_type_is_listed(written, code):
    size = TYPES[code][2] // 2
    found = read_file(written(safetensors_bytes({"a": entry(code, [4], 0, size)}, bytes(size))))
    tensor = found.tensors["a"]
    assert tensor.is_real == (code in ("F64", "F32", "F16", "BF16"))
    if code.startswith(("F8", "F6_", "F4", "C64")):
        with pytest.raises(CheckpointError, match="Complex" if code == "C64" else "Quantised"):
            tensor.read()
    else:
        assert tensor.read().tolist() == [0] * 4


GOOD = entry("F32", [2], 0, 8)


def test_the_longest_header_is_a_limit(written):
    text = b'{"a":' + json.dumps(GOOD).encode() + b"}"
    assert len(read_file(written(safetensors_bytes(text + b" " * 1000, bytes(8))))) == 1
    with pytest.raises(CheckpointError, match="header of"):
        read_file(written(safetensors_bytes(text + b" " * LONGEST_HEADER, bytes(8))))


def test_the_reference_implementation_agrees(tmp_path):
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed: an optional comparison")
    arrays = {"w": np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32), "n": np.arange(3)}
    library.save_file(arrays, tmp_path / "model.safetensors", metadata={"format": "np"})
    found = read_file(tmp_path / "model.safetensors")
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
