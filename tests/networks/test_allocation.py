"""Capacity of trained networks: the definition by retraining, and the models for which it is known in closed form."""

import numpy as np
import pytest

import capcore as cc
from capcore import networks

jax = pytest.importorskip("jax")
jnp = jax.numpy
pytestmark = pytest.mark.usefixtures("compiled_once")


def mlp(params, x):
    """One hidden layer of tanh."""
    return jnp.tanh(x @ params["below"] + params["bias"]) @ params["top"]


def start(rng, d, width, k):
    shapes = {"below": (d, width), "bias": (width,), "top": (width, k)}
    return {name: rng.normal(size=shape) / np.sqrt(shape[0]) for name, shape in shapes.items()}


@pytest.fixture(scope="module", params=["squared", "cross-entropy"])
def trained(request):
    """(apply, params at an optimum, inputs, targets, options) for either loss; residuals are large."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 3))
    y = rng.integers(0, 3, 40) if request.param == "cross-entropy" else rng.normal(size=(40, 3))
    options = {"loss": request.param, "weight_decay": 0.1}
    found = networks.polish(mlp, start(rng, 3, 4, 3), x, y, **options)
    assert found.converged and found.gradient_norm < 1e-8 and found.smallest_eigenvalue > 0
    return found.params, x, y, options


def test_retraining_with_shifted_targets_is_the_response(trained):
    """The definition. Central differences of step h err by h² times third derivatives: 1e-4 is generous at h = 1e-3."""
    params, x, y, options = trained
    probabilities = np.eye(3)[y] if y.ndim == 1 else y
    shift = np.random.default_rng(4).normal(size=probabilities.shape)
    if options["loss"] == "cross-entropy":  # targets stay probabilities: start from smoothed ones
        probabilities = 0.9 * probabilities + 0.1 / 3
        params = networks.polish(mlp, params, x, probabilities, **options).params
        shift -= shift.mean(axis=1, keepdims=True)
    found = cc.allocate_network(mlp, params, x, probabilities, curvature="full", **options)
    h = 1e-4

    def retrained(sign):
        ends = networks.polish(mlp, params, x, probabilities + sign * h * shift, **options).params
        return np.tanh(x @ ends["below"] + ends["bias"]) @ ends["top"]

    moved = (retrained(1) - retrained(-1)) / (2 * h)
    expected = found.response(shift)
    assert np.linalg.norm(moved - expected) < 1e-4 * np.linalg.norm(moved)
    rough = cc.allocate_network(mlp, params, x, probabilities, **options)
    assert np.linalg.norm(moved - rough.response(shift)) > 0.02 * np.linalg.norm(moved)
