"""Weights in memory, whatever holds them."""

from collections import namedtuple

import numpy as np
import pytest

from capcore.checkpoints import of_arrays

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
