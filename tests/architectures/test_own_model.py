"""The reader's own model: functions, JAX models and PyTorch modules."""

import importlib.util

import numpy as np
import pytest

import capcore as cc
from capcore.architectures import derivatives
from tests.listings import listing, run
from tests.strategies import refused

ARCH = cc.Hierarchical(channels=[2, 3], n_layers=3)


def kernels(params):
    """Kernels (in, taps, out) of the model above, layer 1 first."""
    shapes = [(1, 2, 2), (2, 2, 3), (3, 2, 1)]
    parts = [params[part] for part in ARCH.layers.values()]
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


@pytest.fixture
def params():
    return ARCH.init(np.random.default_rng(5))


def convolutions(weights, x, tanh=None):
    """The last output of a stack of causal dilated convolutions in JAX, oldest input first; x is (n,) or (n, d)."""
    jnp = pytest.importorskip("jax").numpy
    h = x.reshape(len(x), -1)
    for kernel, dilation in zip(weights, ARCH.dilations, strict=True):
        delayed = jnp.pad(h, ((dilation, 0), (0, 0)))[: len(h)]
        h = h @ kernel[:, 0] + delayed @ kernel[:, 1]
        h = h if tanh is None else tanh(h)
    return h[-1, 0]


def test_the_linearisation_of_a_linear_stack_is_the_stack(params):
    pytest.importorskip("jax")
    model = cc.linearised(convolutions, kernels(params), np.arange(8.0))
    assert model.params == pytest.approx(params)
    assert list(model.layers.values()) == list(ARCH.layers.values())
    assert np.asarray(model.function(model.params)) == pytest.approx(ARCH.coefficients(params), rel=1e-12)
    byhand = cc.Function(model.function, model.n_params, layers=model.layers, derivative="jax")
    found = cc.allocate(byhand, model.params, cc.PowerLaw())
    expected = cc.allocate(ARCH, params, cc.PowerLaw())
    assert found.per_input == pytest.approx(expected.per_input, abs=1e-8)
    assert [layer.totals for layer in found.layers.values()] == [layer.totals for layer in expected.layers.values()]


def test_the_point_matters_only_where_the_model_is_not_linear(params):
    jax = pytest.importorskip("jax")

    def curved(weights, x):
        return convolutions(weights, x, jax.numpy.tanh)

    linear, other = (
        [cc.linearised(apply, kernels(params), at * np.ones(8)).function(params) for at in (0.0, 1.0)]
        for apply in (convolutions, curved)
    )
    assert np.asarray(linear[0]) == pytest.approx(np.asarray(linear[1]))
    assert np.asarray(other[0]) == pytest.approx(ARCH.coefficients(params)), "tanh has slope one at zero"
    assert not np.allclose(other[0], other[1], rtol=0.05)


def test_the_derivative_is_that_of_the_output(params):
    """Central differences by the inputs themselves, for two components; the oldest is first, lag 0 last."""
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(5, 2)), {"b": rng.normal(size=3), "a": rng.normal(size=(2, 3))}

    def apply(weights, x):
        return jax.numpy.tanh(x @ weights["a"])[-2:].sum(axis=0) @ weights["b"]

    with jax.enable_x64(True):
        differences = np.zeros_like(x)
        for index in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[index] = 1e-6
            differences[index] = (apply(weights, x + step) - apply(weights, x - step)) / 2e-6
    model = cc.linearised(apply, weights, x)
    assert model.coefficients(model.params).reshape(5, 2) == pytest.approx(differences[::-1], abs=1e-8)
    assert model.layers == {"a": slice(0, 6), "b": slice(6, 9)}
    process = cc.Independent([cc.PowerLaw(0.3), cc.PowerLaw(0.9)])
    alloc = cc.allocate(model, None, process)
    assert alloc.per_input.shape == (5,) and alloc.per_input.sum() == pytest.approx(alloc.total)


def test_gates_at_zero_have_the_exact_capacity_of_the_polynomial_they_are_there():
    """At zero tanh(a)σ(b) has the tangent a/2; biases only scale. One channel, residual and skip, dilations 1, 2, 4."""
    jax = pytest.importorskip("jax")
    jnp, rng = jax.numpy, np.random.default_rng(1)

    def gated(w, x):
        state, total = w["in"] * x, 0.0
        for layer, dilation in zip(w["layers"], (1, 2, 4), strict=True):
            past = jnp.pad(state, (dilation, 0))[: len(state)]
            out = jnp.tanh(layer[0] * past + layer[1] * state + layer[2])
            out = out * jax.nn.sigmoid(layer[3] * past + layer[4] * state + layer[5])
            state, total = state + layer[6] * out, total + layer[7] * out[-1]
        return total

    def polynomial(w):
        impulse = np.concatenate([w[:1], np.zeros(7)])
        state, total = impulse, 0 * impulse
        for layer, dilation in zip(w[1:].reshape(3, 4), (1, 2, 4), strict=True):
            past = np.concatenate([np.zeros(dilation), state[:-dilation]])
            out = (layer[0] * past + layer[1] * state) / 2
            state, total = state + layer[2] * out, total + layer[3] * out
        return total

    weights = {"in": rng.normal(), "layers": [rng.normal(size=8) for _ in range(3)]}
    for layer in weights["layers"]:
        layer[[2, 5]] = 0
    exact = cc.Function(polynomial, 13)
    assert exact.is_polynomial()
    found = cc.allocate(gated, weights, cc.PowerLaw(), inputs=np.zeros(8))
    assert found.total == exact.generic_capacity() < 13


test_bad_jax_models = refused(
    lambda *model: pytest.importorskip("jax") and cc.linearised(*model),
    (lambda w, x: x * w, np.ones(1), np.ones(4), r"output: found None for outputs of shape \(4,\)"),
    (lambda w, x: x[0], {}, np.ones(4), "params: found no parameters"),
    (lambda w, x: w[0] * x[0], np.ones(1), np.array([1.0, np.nan]), "inputs: found 1 value.* NaN"),
    (lambda w, x: w[0] * x[0], np.ones(1), np.ones((1,) * 6), r"inputs: found an array of shape \(1, 1, 1, 1, 1, 1\)"),
)


def test_any_function_without_jax(monkeypatch):
    installed = importlib.util.find_spec
    monkeypatch.setattr(derivatives, "find_spec", lambda name: None if name == "jax" else installed(name))
    found = cc.allocate(lambda w: np.convolve(w[:2], w[2:]), [1.0, 0.5, 2.0, 0.1], cc.AR1())
    assert found.per_input == pytest.approx(np.ones(3))


def test_a_function_is_probed_where_its_parameters_are():
    """√w is not defined at random parameters around zero."""
    found = cc.allocate(lambda w: np.sqrt(w) * [1.0, 2.0, 3.0], [1.0, 4.0, 9.0], cc.PowerLaw())
    assert found.total == found.generic_total == 3


test_bad_arguments_of_allocate_function = refused(
    lambda params, process: cc.allocate(lambda w: np.append(w, w[:1] * w[1:]), params, process),
    ([[1.0, 2.0]], cc.PowerLaw(), "params: found an array of shape"),
    ([1.0, 2.0], cc.FromAutocovariance([1.0, 0.1]), "autocovariance: found 2 lags, expected at least 4"),
)


def test_a_curved_module_with_two_components_in_torch():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)

    class Last(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Sequential(torch.nn.Conv1d(2, 3, 2), torch.nn.Tanh(), torch.nn.Conv1d(3, 1, 2))

        def forward(self, x):
            return self.inner(x)[..., -1]

    point = np.random.default_rng(0).normal(size=(1, 2, 4))
    model = cc.linearised(Last(), inputs=point)
    coefficients = model.coefficients(model.params).reshape(4, 2)
    assert np.all(coefficients[0] != 0) and np.all(coefficients[3] == 0), "lag 0 is the last; three taps are seen"
    step = 1e-6 * np.eye(model.params.size)[0]
    central = (model.coefficients(model.params + step) - model.coefficients(model.params - step)) / 2e-6
    assert model.jacobian(model.params)[:, 0] == pytest.approx(central, abs=1e-8)


def test_bad_torch_modules():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"output: found None for outputs of shape \(1, 1, 4\)"):
        cc.linearised(torch.nn.Conv1d(1, 1, 1), inputs=np.ones((1, 1, 4)))
    with pytest.raises(ValueError, match="model: found no parameters"):
        cc.linearised(torch.nn.Flatten(), inputs=np.ones((1, 4)), output=0)
    with pytest.raises(ValueError, match="time_axis: found 3, expected an axis of inputs of shape"):
        cc.linearised(torch.nn.Linear(4, 1), inputs=np.ones((1, 4)), time_axis=3)
    with pytest.raises(ValueError, match=r"inputs: found 1 value.* NaN"):
        cc.linearised(torch.nn.Linear(2, 1), inputs=np.array([1.0, np.nan]))


def test_the_torch_listing_of_the_chapter():
    """The lines that the chapter shows and does not run."""
    pytest.importorskip("torch")
    names = run(listing("your_own_model", "import torch"))
    assert names["alloc"].per_input.shape == (16,)
    assert names["alloc"].per_input.sum() == pytest.approx(names["alloc"].total)


@pytest.mark.parametrize("exponent", [-100, -60, 0, 30, 60, 100])
def test_parameters_in_other_units_do_not_change_where_capacity_goes(exponent):
    unit = 2.0**exponent
    smooth = cc.allocate(lambda w: w[:1] * np.tanh(np.arange(1, 4) * w[1] / unit), [1, 0.7 * unit], cc.PowerLaw())
    assert smooth.total == 2
    np.testing.assert_allclose(smooth.per_input, [0.831959, 0.363678, 0.804363], atol=1e-5)
