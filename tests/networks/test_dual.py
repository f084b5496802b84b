"""The dual route against the dense one, on networks of ten kinds, and what holds for any of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import capcore as cc
from capcore.networks.dual import gram
from capcore.networks.problem import NetworkProblem
from tests.strategies import refused

jax = pytest.importorskip("jax")
jnp = jax.numpy
pytestmark = pytest.mark.usefixtures("compiled_once")
N = 8
CLOSE = 1e-10
"""Absolute, of capacities below 20: condition numbers below 1e4, times eps and a margin of some thirty."""


def mlp(w, x):
    return jnp.tanh(x @ w["below"] + w["bias"]) @ w["top"]


def shifted(w, x):
    return mlp(w, x) + w["shift"]


def convolution(w, x):
    x = jax.lax.conv_general_dilated(x[:, None], w["below"], (1,), "SAME")
    return jnp.tanh(x).mean(-1) @ w["top"]


def gru(w, x):
    state = jnp.zeros((len(x), 3))
    for now in jnp.split(x, x.shape[1], axis=1):
        both = jnp.hstack([state, now])
        keep, reset = jax.nn.sigmoid(both @ w["keep"]), jax.nn.sigmoid(both @ w["reset"])
        state = keep * state + (1 - keep) * jnp.tanh(jnp.hstack([reset * state, now]) @ w["new"])
    return state @ w["top"]


def attention(w, x):
    tokens = x[:, :, None] * w["into"] + w["place"]
    tokens = (tokens - tokens.mean(-1, keepdims=True)) / jnp.sqrt(tokens.var(-1, keepdims=True) + 1e-5) * w["gain"]
    queries, keys, values = jnp.split(tokens @ w["three"], 3, axis=-1)
    shares = jax.nn.softmax(queries @ keys.swapaxes(1, 2), axis=-1)
    return (tokens + shares @ values).mean(1) @ w["top"]


def embedding(w, x):
    return jnp.tanh(w["table"][(jnp.abs(x) * 3).astype(int) % 5].mean(1)) @ w["top"]


def tied(w, x):
    hidden = jnp.tanh(x @ w["both"])
    return jnp.tanh(hidden @ w["both"].T) @ w["both"][:, :2]


def tokens(w, x):
    hidden = jnp.tanh(x.reshape(len(x), 2, 2) @ w["into"])
    return jnp.tanh(hidden @ w["wide"]).mean(1) @ w["top"]


DENSE = {"below": (4, 5), "bias": (5,), "top": (5, 2)}
WITHOUT = {"below": np.full((4, 5), 0.5), "bias": np.zeros(5), "top": np.full((5, 2), 2.0)}
SHIFTED = {"shift": (2,), **DENSE}
FREE_SHIFT = {**WITHOUT, "bias": np.ones(5), "shift": np.zeros(2)}
TOKENS = {"into": (2, 5), "wide": (5, 3), "top": (3, 2)}
ATTENTION = {"into": (3,), "place": (4, 3), "gain": (3,), "three": (3, 9), "top": (3, 2)}
GATES = {"keep": (4, 3), "reset": (4, 3), "new": (4, 3), "top": (3, 2)}
NETWORKS = {
    "MLP": (mlp, DENSE, {}),
    "convolution": (convolution, {"below": (3, 1, 3), "top": (3, 2)}, {}),
    "GRU": (gru, GATES, {}),
    "attention, layer norm": (attention, ATTENTION, {}),
    "embedding": (embedding, {"table": (5, 4), "top": (4, 2)}, {}),
    "tied weights": (tied, {"both": (4, 4)}, {}),
    "a decay for each": (mlp, DENSE, {"weight_decay": np.geomspace(0.1, 10, 35)}),
    "softmax": (mlp, DENSE, {"loss": "cross-entropy"}),
    "one output": (mlp, {**DENSE, "top": (5, 1)}, {}),
    "fewer parameters": (lambda w, x: x @ w["top"], {"top": (4, 2)}, {}),
    "biases without decay": (mlp, DENSE, {"weight_decay": WITHOUT}),
    "softmax, a shift without decay": (shifted, SHIFTED, {"loss": "cross-entropy", "weight_decay": FREE_SHIFT}),
    "tokens, compiled": (jax.jit(tokens), TOKENS, {"weight_decay": 0.5}),
}


def example(kind, seed=0):
    """Arguments and options of a network whose weights are as they are drawn."""
    apply, shapes, options = NETWORKS[kind]
    rng = np.random.default_rng(seed)
    params = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    x, k = rng.normal(size=(N, 4)), list(shapes.values())[-1][-1]
    y = rng.integers(0, k, N) if "loss" in options else rng.normal(size=(N, min(k, 2)))
    return (apply, params, x, y), {"weight_decay": 0.5, **options}


def plain(arguments, loss="squared", weight_decay=0.0):
    """S of NumPy alone, from J and the decay: a block of the projector on the columns of RᵀJ above Λ^½."""
    apply, params, x, _ = arguments
    parts = jax.tree.leaves(jax.jacrev(lambda w: apply(w, x))(params))
    outputs = np.asarray(apply(params, x))
    jacobian = np.concatenate([np.reshape(part, (*outputs.shape, -1)) for part in parts], axis=2)
    if loss == "cross-entropy":
        p = np.exp(outputs - outputs.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        jacobian = np.sqrt(p)[..., None] * (jacobian - np.einsum("nk,nkp->np", p, jacobian)[:, None])
    jacobian = jacobian.reshape(outputs.size, -1)
    own = jax.tree.leaves(weight_decay) if isinstance(weight_decay, dict) else [weight_decay]
    roots = np.sqrt(np.broadcast_to(np.concatenate([np.ravel(part) for part in own]), jacobian.shape[1]))
    basis, sizes, _ = np.linalg.svd(np.vstack([jacobian, np.diag(roots)]), full_matrices=False)
    basis = basis[: len(jacobian), sizes > 1e-12 * sizes[0]]
    return basis @ basis.T


@pytest.mark.parametrize("kind", NETWORKS)
def test_it_is_what_numpy_computes(kind):
    arguments, options = example(kind)
    with jax.enable_x64(True):
        expected = plain(arguments, **options)
    found = cc.allocate_network(*arguments, method="dual", **options)
    assert found._response.factor @ found._response.factor.T == pytest.approx(expected, rel=0, abs=CLOSE)
    assert found.decay_curve([1.0])[0] == pytest.approx(found.total, rel=1e-10)


@pytest.mark.parametrize("kind", NETWORKS)
def test_it_is_the_dense_route(kind):
    arguments, options = example(kind)
    found, expected = (cc.allocate_network(*arguments, method=method, **options) for method in ("dual", "dense"))
    assert found.method == "dual" and abs(found.total - expected.total) <= expected.total * CLOSE
    for name in ("per_example", "per_output", "largest_leverage", "decrement", "gauss_newton_total"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=0, abs=CLOSE)
    assert found.per_subspace["inputs"] == pytest.approx(expected.per_subspace["inputs"], rel=0, abs=CLOSE)
    for name, layer in expected.layers.items():
        for view, capacities in vars(layer).items():
            own = getattr(found.layers[name], view)
            assert own.per_example == pytest.approx(capacities.per_example, rel=0, abs=CLOSE)
            assert own.per_subspace["inputs"] == pytest.approx(capacities.per_subspace["inputs"], rel=0, abs=CLOSE)
    shift = np.random.default_rng(1).normal(size=expected.problem.targets.shape)
    shift -= shift.mean(axis=1, keepdims=True)
    assert found.response(shift) == pytest.approx(expected.response(shift), rel=0, abs=CLOSE)
    one, other = found.leave_one_out(), expected.leave_one_out()
    for name in ("outputs", "losses", "leverage", "distance", "optimum_distance"):  # those of Newton's last step
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9, abs=1e-9)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 99))
def test_more_decay_is_less_capacity_and_layers_add_up(seed):
    """S falls as λ rises (Loewner's order), each leverage is a share, and layers in order sum to the whole."""
    arguments, options = example("MLP", seed)
    less, more = (cc.allocate_network(*arguments, method="dual", **{**options, "weight_decay": d}) for d in (0.5, 2.0))
    assert np.all(more.per_example < less.per_example) and 0 < more.largest_leverage < less.largest_leverage < 1
    assert sum(layer.forward.total for layer in less.layers.values()) == pytest.approx(less.total)
    assert all(layer.marginal.total <= layer.independent.total + 1e-9 for layer in less.layers.values())


def test_blocks_of_examples_give_one_matrix(monkeypatch):
    """Three at a time, the last block of two; and parts of the parameters add up."""
    arguments, _ = example("MLP")
    problem = NetworkProblem.of(*arguments, "squared", 0.5)
    jacobian = problem.derivatives.jacobian(problem.derivatives.params)
    monkeypatch.setattr("capcore.networks.dual.BLOCK", (3 * 2) ** 2)
    (matrix,), columns, moved = gram(problem)
    assert moved == pytest.approx(jacobian @ problem.derivatives.params, rel=1e-12, abs=1e-12)
    assert matrix == pytest.approx(2 * jacobian @ jacobian.T, rel=1e-12, abs=1e-12) and columns.shape == (16, 0)
    parts, *_ = gram(problem, [slice(0, 7), slice(7, 35)])
    assert sum(parts) == pytest.approx(matrix, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("method", ["dense", "dual"])
@pytest.mark.parametrize("kind", ["MLP", "biases without decay", "softmax"])
def test_the_curve_is_that_of_other_decays(kind, method):
    """The same network with each decay multiplied; parameters without stay without."""
    arguments, options = example(kind)
    curve = cc.allocate_network(*arguments, method=method, **options).decay_curve([0.1, 1.0, 7.0])
    for scale, total in zip((0.1, 1.0, 7.0), curve, strict=True):
        decay = jax.tree.map(lambda each, scale=scale: scale * each, options["weight_decay"])
        other = cc.allocate_network(*arguments, method=method, **{**options, "weight_decay": decay})
        assert total == pytest.approx(other.total, rel=1e-9)


def test_a_curve_of_a_full_hessian_or_of_no_decay_is_refused():
    arguments, options = example("one output")
    with pytest.warns(cc.CapacityWarning, match="no minimum"):
        full = cc.allocate_network(*arguments, curvature="full", **options)
    with pytest.raises(AttributeError, match=r"decay_curve: found a full Hessian, expected curvature=.gauss-newton"):
        full.decay_curve([1.0])
    with pytest.raises(ValueError, match="scales: found 0"):
        cc.allocate_network(*arguments, **options).decay_curve([0.0])


def test_more_parameters_without_decay_than_outputs_fit_everything():
    """All weights below the last layer, 25 of them, for 16 outputs: the limit is S = I, and it is told."""
    arguments, _ = example("MLP")
    decay = {"below": np.zeros((4, 5)), "bias": np.zeros(5), "top": np.ones((5, 2))}
    with pytest.warns(cc.CapacityWarning, match="8 examples with a leverage of 1"):
        found = cc.allocate_network(*arguments, method="dual", weight_decay=decay)
    assert found.total == pytest.approx(16, abs=1e-8) and found.layers["below"].independent.total < 16 + 1e-8


def test_the_method_follows_from_operations_and_memory(monkeypatch):
    few, many = example("fewer parameters"), example("MLP")
    assert [cc.allocate_network(*each[0], **each[1]).method for each in (few, many)] == ["dense", "dual"]
    monkeypatch.setenv("CAPCORE_MEMORY", "3e4")  # 16² × 8 bytes, six times, fit; 35² × 8 bytes, nine times, do not
    assert cc.allocate_network(*many[0], subspaces={}, **many[1]).method == "dual"
    with pytest.raises(cc.TooLargeError, match="found 16 outputs on the data and 35 parameters"):
        cc.allocate_network(*many[0], subspaces={}, method="dense", **many[1])
    assert cc.allocate_network(*few[0], subspaces={}, seconds=60, **few[1]).method == "dense"


def test_a_wrong_decay_is_noticed():
    """The control: one part in a thousand moves the total by far more than the tolerance of these tests."""
    arguments, options = example("MLP")
    found = cc.allocate_network(*arguments, method="dual", **{**options, "weight_decay": 0.5005})
    expected = cc.allocate_network(*arguments, method="dense", **options)
    assert abs(found.total - expected.total) > 1e4 * CLOSE


test_what_it_cannot_do_is_refused = refused(
    lambda options: cc.allocate_network(*example("MLP")[0], method="dual", **options),
    ({}, "found 8 examples, which 35 parameters can fit anyhow"),
    ({"weight_decay": 1.0, "curvature": "full"}, "method of curvature='full': found 'dual', expected .*'dense'"),
    ({"weight_decay": 1.0, "seconds": 1e-9}, r"seconds: found about .* operations of method 'dual', expected at most"),
)


def test_what_does_not_fit_is_refused_before(monkeypatch):
    arguments, options = example("MLP")
    found = cc.allocate_network(*arguments, method="dual", **options)
    monkeypatch.setenv("CAPCORE_MEMORY", "1e3")
    with pytest.raises(cc.TooLargeError, match=r"found 16 outputs on the data and 35 parameters.*4 outputs or as"):
        cc.allocate_network(*arguments, method="dual", subspaces={}, **options)
    with pytest.raises(cc.TooLargeError, match="layers: found 3 of 16 outputs"):
        found.layers  # noqa: B018
