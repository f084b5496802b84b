"""One network in every library, with the same weights: the verbs give the same numbers."""

import os

import numpy as np
import pytest

import capcore as cc

os.environ.setdefault("KERAS_BACKEND", "jax")
jax = pytest.importorskip("jax")
jnp = jax.numpy
LENGTH, WIDTHS, DILATIONS = 12, [2, 3, 1], [1, 2]
TASK = cc.Independent([cc.PowerLaw(0.5), cc.AR1(0.5)])
POINT = np.random.default_rng(1).normal(size=(LENGTH, 2))
RNG = np.random.default_rng(0)
SHAPES = [(2, *WIDTHS[l : l + 2]) for l in range(2)]
WEIGHTS = [(RNG.integers(-8, 9, shape) / 8, RNG.integers(-8, 9, shape[-1]) / 8) for shape in SHAPES]
"""For each layer a kernel (taps, in, out), oldest tap first, and biases: padded causal convolutions, tanh between. They
are eighths, so that libraries that keep single precision have the same."""


def function():
    def apply(layers, x):
        for (kernel, bias), dilation in zip(layers, DILATIONS, strict=True):
            past = jnp.pad(x, ((dilation, 0), (0, 0)))[: len(x)]
            x = past @ kernel[0] + x @ kernel[1] + bias
            x = jnp.tanh(x) if dilation == 1 else x
        return x[:, 0]

    return apply, WEIGHTS, POINT


def torch():
    torch = pytest.importorskip("torch")
    layers = []
    for (kernel, bias), dilation in zip(WEIGHTS, DILATIONS, strict=True):
        layer = torch.nn.Conv1d(*kernel.shape[1:], 2, dilation=dilation)
        values = {"weight": kernel.transpose(2, 1, 0).copy(), "bias": bias}
        layer.load_state_dict({name: torch.as_tensor(value) for name, value in values.items()})
        layers += [torch.nn.ConstantPad1d((dilation, 0), 0.0), layer, torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1], torch.nn.Flatten()), None, POINT.T[None]


def linen():
    flax = pytest.importorskip("flax.linen")

    class Net(flax.Module):
        @flax.compact
        def __call__(self, x):
            x = flax.tanh(flax.Conv(3, (2,), padding="CAUSAL")(x))
            return flax.Conv(1, (2,), padding="CAUSAL", kernel_dilation=2)(x)[..., 0]

    layers = {f"Conv_{l}": {"kernel": kernel, "bias": bias} for l, (kernel, bias) in enumerate(WEIGHTS)}
    return Net(), {"params": layers}, POINT[None]


def nnx():
    nnx = pytest.importorskip("flax.nnx")
    layers = []
    for (kernel, bias), dilation in zip(WEIGHTS, DILATIONS, strict=True):
        layers += [nnx.Conv(*kernel.shape[1:], 2, padding="CAUSAL", kernel_dilation=dilation, rngs=nnx.Rngs(0))]
        layers[-1].kernel.value, layers[-1].bias.value = kernel, bias
    return nnx.Sequential(layers[0], jnp.tanh, layers[1], lambda x: x[..., 0]), None, POINT[None]


def equinox():
    eqx = pytest.importorskip("equinox")
    layers = []
    for (kernel, bias), dilation in zip(WEIGHTS, DILATIONS, strict=True):
        layer = eqx.nn.Conv1d(*kernel.shape[1:], 2, dilation=dilation, padding=[(dilation, 0)], key=jax.random.key(0))
        values = kernel.transpose(2, 1, 0), bias[:, None]
        layers += [eqx.tree_at(lambda m: (m.weight, m.bias), layer, values), eqx.nn.Lambda(jnp.tanh)]
    return eqx.nn.Sequential([*layers[:-1], eqx.nn.Lambda(jnp.ravel)]), None, POINT.T


def keras():
    keras = pytest.importorskip("keras")
    layers = [keras.layers.Conv1D(3, 2, padding="causal", activation="tanh"), keras.layers.Dropout(0.5),
              keras.layers.Conv1D(1, 2, padding="causal", dilation_rate=2), keras.layers.Reshape((-1,))]  # fmt: skip
    model = keras.Sequential([keras.layers.Input((None, 2)), *layers])
    for layer, values in zip(layers[:3:2], WEIGHTS, strict=True):
        layer.set_weights(values)
    return model, None, POINT[None]


LOADED = {
    "torch": lambda module, new: module.load_state_dict(new),
    "nnx": lambda module, new: pytest.importorskip("flax.nnx").update(module, new),
    "keras": lambda module, new: module.set_weights(new),
}


@pytest.fixture(params=[function, torch, linen, nnx, equinox, keras], ids=lambda make: make.__name__)
def network(request):
    return (*request.param(), request.param.__name__)


@pytest.fixture(scope="module")
def expected():
    """The linear part by hand: J of tanh at the point, between two convolutions."""
    (below, bias), (above, _) = WEIGHTS
    past = np.vstack([0 * POINT[:1], POINT[:-1]])
    slopes = 1 - np.tanh(past @ below[0] + POINT @ below[1] + bias) ** 2
    lags = np.zeros((LENGTH, 2))
    for lag, upper in ((0, above[1]), (2, above[0])):
        inner = slopes[LENGTH - 1 - lag] * upper[:, 0]
        lags[lag] += below[1] @ inner
        lags[lag + 1] += below[0] @ inner
    return lags


def test_one_network_in_every_library(network, expected):
    """Channels first or last, with an axis for examples or without: nobody says which. The model stays as it is."""
    model, params, x, _ = network
    found = cc.receptive_field(model, params, x)
    assert (found.size, found.first, found.last, found.n_read) == (4, -3, 0, 4)
    assert cc.receptive_field(model, params, x, output=0).size == 1, "the first reads the first"
    linear = cc.linearised(model, params, x, output=-1)
    np.testing.assert_allclose(linear.coefficients(linear.params).reshape(LENGTH, 2), expected, atol=1e-12)
    assert linear.n_params == 22 and len(linear.layers) == 2
    with pytest.raises(ValueError, match=r"output: found None for outputs of shape"):
        cc.fit(model, TASK, params=params, inputs=x)


def test_all_verbs(network):
    """Each against the function's numbers; the fitted parameters go back into the module."""
    model, params, x, name = network
    options = {"inputs": x, "output": -1}
    byhand = cc.linearised(*function(), output=-1)
    before = cc.allocate(model, params, TASK, **options)
    np.testing.assert_allclose(before.per_input, cc.allocate(byhand, None, TASK).per_input, atol=1e-9)
    fit = cc.fit(model, TASK, params=params, **options)
    assert fit.loss == pytest.approx(cc.fit(byhand, TASK).loss, rel=1e-9)
    after = cc.allocate(model, fit, TASK, **options)
    assert after.total == cc.allocate(fit.arch, fit, TASK).total
    if name in LOADED:
        LOADED[name](model, fit.unravel())
        new = cc.allocate(model, None, TASK, **options)
        np.testing.assert_allclose(new.per_input, after.per_input, atol=1e-4)  # modules of single precision
    one = model if params is None else (model, params)
    table = cc.compare({"network": one, "stack": cc.Hierarchical(3, 2, input_dim=2)}, TASK, starts=2, **options)
    assert table.models["network"].losses[0] <= fit.loss * (1 + 1e-6)


def test_trained_networks(network):
    """allocate_network: the leverages of ridge regression in the Jacobian of the function."""
    model, params, x, name = network
    points = np.random.default_rng(2).normal(size=(5, LENGTH, 2))
    apply, weights, _ = function()
    with jax.enable_x64(True):
        jacobian = jax.jacfwd(lambda w: jax.vmap(apply, (None, 0))(w, points))(weights)
        rows = np.concatenate([np.reshape(leaf, (5 * LENGTH, -1)) for leaf in jax.tree.leaves(jacobian)], axis=1)
    hat = rows @ np.linalg.solve(rows.T @ rows + np.eye(22), rows.T)
    model = jax.vmap(model, (None, 0)) if name == "function" else model
    moved = points if x.shape[-1] == 2 else points.transpose(0, 2, 1)
    found = cc.allocate_network(model, params, moved, np.zeros((5, LENGTH)), weight_decay=1.0, subspaces={})
    assert found.total == pytest.approx(np.trace(hat), rel=1e-9)


def test_axes_that_only_the_model_tells():
    """A window that is flattened says nothing, a depthwise one both: then the reader does."""
    x, w = np.zeros((6, 2)), np.ones(12)
    with pytest.raises(ValueError, match=r"inputs: found the shape \(6, 2\), time along axes \[\]"):
        cc.linearised(lambda w, x: jnp.tanh(x.ravel() @ w), w, x)
    linear = cc.linearised(lambda w, x: jnp.tanh(x.ravel() @ w), w, x, time_axis=0)
    assert (linear.n_inputs, linear.input_dim) == (6, 2)
    assert cc.linearised(lambda w, x: x[1:] * w[0] + x[:-1] * w[1], w, x, output=(-1, 0)).input_dim == 2


@pytest.mark.parametrize(
    ("apply", "said"),
    [
        (lambda w, x: (x @ w, x), "model: found tuple returned, expected one array of float64"),
        (lambda w, x: (x @ w).astype("float32"), "model: found float32 returned, expected one array of float64"),
        (lambda w, x: x @ w[:2], r"inputs: found that shape \(3,\) fails: .*, expected what the model takes"),
    ],
)
def test_a_refusal_says_what_the_model_did(apply, said):
    for verb in (cc.linearised, cc.receptive_field):
        with pytest.raises((TypeError, ValueError), match=f"(?s)^{said}"):
            verb(apply, np.ones(3), np.ones(3))


def test_maxima_read_all_of_their_window_in_jax():
    """Against arithmetic: 2 + 2 · (3 − 1), with the holes of a dilation of 2 between."""
    flax = pytest.importorskip("flax.linen")

    class Net(flax.Module):
        @flax.compact
        def __call__(self, x):
            x = flax.relu(flax.Conv(2, (2,), kernel_dilation=5)(x))
            return flax.Conv(1, (1,))(flax.max_pool(x, (3,), (2,)))

    module, x = Net(), np.ones((1, 40, 1))
    found = cc.receptive_field(module, module.init(jax.random.key(0), x), x)
    assert (found.size, found.stride, found.n_read) == (8, 2, None)
