"""Checkpoints from files, folders and memory."""

import hashlib
import json
import os
from collections import namedtuple

import numpy as np
import pytest

from capcore.checkpoints import CheckpointError, of_arrays, read_checkpoint, read_folder
from tests.checkpoints.crafted import entry, packed, safetensors_bytes
from tests.strategies import all_of, refused

WEIGHTS = {"fc.weight": np.arange(6.0, dtype=np.float32).reshape(2, 3), "fc.bias": np.ones(2, np.float32)}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.safetensors").write_bytes(packed(WEIGHTS))
    np.savez(tmp_path / "b.npz", **WEIGHTS)
    np.save(tmp_path / "c.npy", WEIGHTS["fc.weight"])
    return tmp_path


@pytest.fixture
def shards(tmp_path):
    (tmp_path / "m-1.safetensors").write_bytes(packed({"fc.weight": WEIGHTS["fc.weight"]}))
    (tmp_path / "m-2.safetensors").write_bytes(packed({"fc.bias": WEIGHTS["fc.bias"]}))
    return indexed(tmp_path, {"fc.weight": "m-1.safetensors", "fc.bias": "m-2.safetensors"})


def indexed(folder, weight_map):
    path = folder / "m.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return path


def same(checkpoint, arrays):
    assert {*checkpoint} == {*arrays}
    for name, array in arrays.items():
        np.testing.assert_array_equal(checkpoint[name], array)


def test_every_format_holds_the_same(folder):
    for name in ("a.safetensors", "b.npz"):
        found = read_checkpoint(str(folder / name))
        same(found, WEIGHTS)
        assert found.name == name
        assert found.sha256 == hashlib.sha256((folder / name).read_bytes()).hexdigest()
        assert found.size == (folder / name).stat().st_size
    same(read_checkpoint(folder / "c.npy"), {"c": WEIGHTS["fc.weight"]})


def test_the_hash_tells_values_names_shapes_and_types_apart():
    w = WEIGHTS["fc.weight"]
    others = [{"v": w}, *({"w": other} for other in (w, w.T, w.reshape(3, 2), w.astype(float), w + 1, w.view("i4")))]
    assert len({read_checkpoint(other).sha256 for other in others}) == len(others)
    assert read_checkpoint({"w": w}).sha256 == read_checkpoint({"w": w.copy(order="F")}).sha256


def test_a_folder(folder):
    (folder / "d.safetensors").write_bytes(b"nonsense")
    (folder / "README.md").write_text("not weights")
    (folder / "deeper").mkdir()
    found = read_folder(folder)
    assert [checkpoint.name for checkpoint in found.checkpoints] == ["a.safetensors", "b.npz", "c.npy"]
    assert list(found.refused) == ["d.safetensors"]
    assert "a file of 8" in found.refused["d.safetensors"]


def test_a_folder_with_one_checkpoint_is_that_checkpoint(folder, shards):
    with pytest.raises(CheckpointError, match=all_of(["found 4 checkpoints", "expected one", "read_folder"])):
        read_checkpoint(folder)
    for name in ("a.safetensors", "b.npz", "c.npy"):
        os.remove(folder / name)
    same(read_checkpoint(folder), WEIGHTS)


def test_parts_are_joined_by_their_index(shards):
    found = read_checkpoint(shards)
    same(found, WEIGHTS)
    assert (found.name, found.format, [*found.parts]) == ("m", "safetensors", ["m-1.safetensors", "m-2.safetensors"])
    assert len(found.sha256) == 64
    assert [checkpoint.name for checkpoint in read_folder(shards.parent).checkpoints] == ["m"]


def test_an_index_names_what_is_read(shards):
    assert [*read_checkpoint(indexed(shards.parent, {"fc.weight": "m-1.safetensors"}))] == ["fc.weight"]
    path = indexed(shards.parent, {"fc.weight": "m-2.safetensors", "fc.bias": "m-1.safetensors"})
    with pytest.raises(CheckpointError, match=all_of(["no 'fc.bias' in m-1", "what the index"])):
        read_checkpoint(path)
    assert "m.safetensors.index.json" in read_folder(shards.parent).refused


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite(tmp_path, value):
    bad = {"w": np.array([[1, value]], np.float32), "v": np.ones((2, 2))}
    (tmp_path / "a.safetensors").write_bytes(packed(bad))
    np.savez(tmp_path / "a.npz", **bad)
    for source in (bad, tmp_path / "a.safetensors", tmp_path / "a.npz"):
        with pytest.raises(CheckpointError, match=all_of(["1 value(s) that are NaN or infinite in 'w'", "keep"])):
            read_checkpoint(source)
        assert len(read_checkpoint(source, non_finite="keep")) == 2


def test_bfloat16_values_that_are_not_finite(tmp_path):
    path = tmp_path / "a.safetensors"
    path.write_bytes(safetensors_bytes({"a": entry("BF16", [1], 0, 2)}, b"\xc0\x7f"))
    with pytest.raises(CheckpointError, match="NaN or infinite in 'a'"):
        read_checkpoint(path)


def test_paths_that_lead_nowhere(tmp_path):
    with pytest.raises(CheckpointError, match="no such file"):
        read_checkpoint(tmp_path / "absent.npz")
    with pytest.raises(CheckpointError, match="no file of weights"):
        read_checkpoint(tmp_path)
    with pytest.raises(CheckpointError, match="found no folder"):
        read_folder(tmp_path / "absent")
    os.mkfifo(tmp_path / "pipe.npz")  # opening it would wait forever
    with pytest.raises(CheckpointError, match="not a file"):
        read_checkpoint(tmp_path / "pipe.npz")


@pytest.mark.parametrize("source", [3, None, {}, [], ["text"], {"epoch": 3}, np.tanh, {"w": [[1], [2]]}])
def test_sources_of_no_known_kind(source):
    with pytest.raises(CheckpointError, match="expected a path, a module or arrays by name"):
        read_checkpoint(source)


test_arrays_that_are_none = refused(
    read_checkpoint,
    ({"w": np.array([None])}, "Python objects"),
    ({"w\n": np.ones(2)}, "printable"),
    ({"a": {"b": np.ones(2)}, "a.b": np.ones(2)}, "two tensors 'a.b'"),
    error=CheckpointError,
)


def test_names_that_are_not_there():
    with pytest.raises(KeyError, match=r"'conv'.*2 tensors"):
        read_checkpoint(WEIGHTS)["conv"]


W, V = np.arange(6.0).reshape(2, 3), np.ones((3, 3))


class Module:
    def state_dict(self):
        return {"fc.weight": W}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (Module(), ["fc.weight"]),
        ({"fc.weight": W}, ["fc.weight"]),
        ({"fc": {"weight": W, "bias": V[0]}}, ["fc.weight", "fc.bias"]),
        ({"state_dict": {"fc.weight": W}, "epoch": 3, "optimizer": {"m": W}}, ["fc.weight"]),
        ({"epoch": 3, "layers": [{"w": W}, {"w": V}], "act": np.tanh}, ["layers.0.w", "layers.1.w"]),
        ([W, (V, V[0])], ["0", "1.0", "1.1"]),
        (namedtuple("Net", "first second")(W, V), ["first", "second"]),
        (W, ["array"]),
    ],
)
def test_names_are_paths(source, names):
    assert [*of_arrays(source)] == names


def test_pytrees_of_jax():
    jax = pytest.importorskip("jax")
    tree = {"Dense_0": {"kernel": jax.numpy.ones((2, 3)), "bias": jax.numpy.zeros(3, jax.numpy.bfloat16)}}
    found = of_arrays(tree)
    assert [*found] == ["Dense_0.kernel", "Dense_0.bias"] and found["Dense_0.bias"].dtype == np.float32

    @jax.tree_util.register_pytree_with_keys_class
    class Net:
        def __init__(self, w, act):
            self.w, self.act = w, act

        def tree_flatten_with_keys(self):
            return [(jax.tree_util.GetAttrKey("w"), self.w)], self.act

        @classmethod
        def tree_unflatten(cls, act, children):
            return cls(*children, act)

    assert [*of_arrays({"net": Net(jax.numpy.ones((2, 2)), "relu")})] == ["net.w"]
    assert [*of_arrays(Net(jax.numpy.ones((2, 2)), "relu"))] == ["w"]
