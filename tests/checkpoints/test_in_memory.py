"""Weights in memory, whatever holds them."""

from collections import namedtuple

import numpy as np
import pytest

from capcore.checkpoints.in_memory import named_weights
from capcore.spectra import CheckpointError, of_arrays

W, V = np.arange(6.0).reshape(2, 3), np.ones((3, 3))


class Tensor:
    """What of a PyTorch tensor is looked at here."""

    shape = (2, 2)

    def detach(self):
        return self


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
        ({"w": [[1.0, 2.0], [3.0, 4.0]]}, ["w"]),
    ],
)
def test_names_are_paths(source, names):
    assert [*named_weights(source)] == names == [*of_arrays(named_weights(source))]


def test_one_array_and_tensors_stay_as_they_are():
    tensor = Tensor()
    assert named_weights(W) is W and named_weights({"w": tensor})["w"] is tensor


@pytest.mark.parametrize("source", [3, {}, [], ["text"], {"epoch": 3}, np.tanh])
def test_without_an_array_there_are_no_weights(source):
    with pytest.raises(CheckpointError, match="without arrays, expected a path, a module or arrays by name"):
        named_weights(source)


def test_pytrees_of_jax():
    jax = pytest.importorskip("jax")
    tree = {"Dense_0": {"kernel": jax.numpy.ones((2, 3)), "bias": jax.numpy.zeros(3, jax.numpy.bfloat16)}}
    found = named_weights(tree)
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

    assert [*named_weights({"net": Net(jax.numpy.ones((2, 2)), "relu")})] == ["net.w"]
    assert [*named_weights(Net(jax.numpy.ones((2, 2)), "relu"))] == ["w"]
