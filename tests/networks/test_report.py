"""The report: which number, what the gradient means for it, and what to beware of."""

import numpy as np
import pytest

import capcore as cc
from capcore import networks

jax = pytest.importorskip("jax")
jnp = jax.numpy
optax = pytest.importorskip("optax")
DECAY = 1.0


def convolution(params, x):
    """Dilated tanh layers with tied weights, (N, 8) → (N,): two small ones of a practitioner's five."""
    state = x[:, None, :]
    for weights, bias, dilation in zip(params["weights"], params["biases"], (1, 4), strict=True):
        moved = [state[:, :, dilation:], state[:, :, :-dilation]]
        state = jnp.tanh(sum(jnp.einsum("ncl,cd->ndl", part, w) for part, w in zip(moved, weights, strict=True)) + bias)
    return state[:, :, 0] @ params["out"]


@pytest.fixture(scope="module")
def practitioner(compiled_once):
    """Weights where AdamW stopped, and her data: no optimum of anything."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 8))
    y = np.tanh(x[:, 0]) + 0.5 * x[:, 7] * x[:, 1] + 0.3 * rng.normal(size=60)
    params = {
        "weights": [rng.normal(size=(2, c, 3)) / np.sqrt(2 * c) for c in (1, 3)],
        "biases": [np.zeros((1, 3, 1)) for _ in range(2)],
        "out": rng.normal(size=3) / 2,
    }
    optimiser = optax.adamw(1e-2, weight_decay=1e-3)
    state = optimiser.init(params)

    @jax.jit
    def step(params, state):
        slope = jax.grad(lambda p: ((convolution(p, x) - y) ** 2).mean())(params)
        updates, state = optimiser.update(slope, state, params)
        return optax.apply_updates(params, updates), state

    for _ in range(150):
        params, state = step(params, state)
    return jax.tree.map(np.array, params), x, y


@pytest.fixture(scope="module")
def three(practitioner):
    """Her three numbers: by default, with the full Hessian at her weights, and with it after polishing."""
    params, x, y = practitioner
    options = {"weight_decay": DECAY, "subspaces": {}}
    default = cc.allocate_network(convolution, params, x, y, **options)
    with pytest.warns(cc.CapacityWarning, match="found no minimum"):
        full = cc.allocate_network(convolution, params, x, y, curvature="full", **options)
    end = networks.polish(convolution, params, x, y, weight_decay=DECAY)
    polished = cc.allocate_network(convolution, end.params, x, y, curvature="full", **options)
    return default, full, polished


def words(found):
    return " ".join(found.report().split())


def test_the_number_to_report_is_that_of_gauss_newton_at_the_trained_weights(three, recwarn):
    default, full, _ = three
    assert default.curvature == "gauss-newton" and default.total == default.gauss_newton_total
    assert full.gauss_newton_total == pytest.approx(default.total, rel=1e-9)
    for found in three:
        assert found.report().startswith(f"{found.gauss_newton_total:.3g} of ")
        assert max(map(len, found.report().splitlines())) <= 100
    assert len({round(found.total, 1) for found in three}) == 3


def test_each_of_three_numbers_is_said_to_belong_to_something(three):
    default, full, polished = map(words, three)
    assert "These weights are no optimum" in default and "The number above stands" in default
    assert "curvature='full'" not in default and "no optimum" in full
    assert f"The total with the full Hessian, {three[1].total:.3g}, then does not describe retraining" in full
    assert three[2].is_optimum
    assert f"another number wherever residuals are large: {three[2].total:.3g}: curvature='full'" in polished


def test_an_optimum_is_told(rng):
    x = rng.normal(size=(30, 3))
    y = x @ np.ones(3) + rng.normal(size=30)
    w = np.linalg.solve(x.T @ x + np.eye(3), x.T @ y)
    told = words(cc.allocate_network(lambda w, x: x @ w, w, x, y, weight_decay=1.0))
    assert "These weights are where training ends" in told and "Beware" not in told
    told = words(cc.allocate_network(lambda w, x: x @ w, w, x, y, weight_decay=1.0, curvature="full"))
    assert "These weights are where training ends" in told and "curvature='full'" in told


@pytest.mark.parametrize("method", ["dense", "dual"])
def test_an_example_that_is_fitted_whatever_its_target_is_is_told(method, rng):
    """The last example has a parameter of its own, without weight decay."""
    x = np.column_stack([rng.normal(size=(20, 2)), np.eye(20)[:, 19]])
    y = rng.normal(size=20)
    model = (lambda w, x: x @ w), np.linalg.lstsq(x, y)[0], x, y
    with pytest.warns(cc.CapacityWarning, match="found.* an example with a leverage of 1, such as example 19"):
        found = cc.allocate_network(*model, method=method)
    assert found.largest_leverage == pytest.approx(1) and "leverage of 1" in found.report()
    assert "leverage of 1" in found._repr_html_()
    if method == "dense":
        with pytest.warns(cc.CapacityWarning, match="leverage of 1"):
            cc.allocate_network(*model, curvature="full")
