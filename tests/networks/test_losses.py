"""Losses of tokens and pixels, weights, ignored positions and frozen parameters, against plain dense computations."""

import numpy as np
import pytest

import capcore as cc
from capcore import networks
from capcore.networks.losses import LOSSES, elementwise, from_metric, huber, losses_of, quantile, slopes_of

jax = pytest.importorskip("jax")
jnp = jax.numpy
N, T, K, DECAY = 7, 3, 2, 0.4
ROUNDING = 1e-9
"""Condition numbers here are below 1e4, times eps and a thousand operations."""
OWN = elementwise("log-cosh", lambda f, y: (np.log(np.cosh(f - y)), np.tanh(f - y), np.cosh(f - y) ** -2.0))
KINDS = LOSSES | {"huber": huber(0.8), "quantile": quantile(0.9, 0.3), "log-cosh": OWN}


def apply(params, x):
    inner = jnp.tanh(x @ params["below"]["w"]).reshape(len(x), T, -1)
    return inner @ params["top"]["w"] + params["top"]["b"]


@pytest.fixture
def network():
    """Parameters, and inputs (N, 4) of outputs (N, T, K)."""
    rng = np.random.default_rng(3)
    top = {"b": rng.normal(size=K) / 2, "w": rng.normal(size=(2, K))}
    return {"below": {"w": rng.normal(size=(4, 2 * T))}, "top": top}, rng.normal(size=(N, 4))


def targets_of(loss, shape):
    """Targets that a loss accepts: probabilities, counts, or numbers."""
    y = np.random.default_rng(0).normal(size=shape)
    if loss == "cross-entropy":
        return np.exp(y) / np.exp(y).sum(-1, keepdims=True)
    return {"binary cross-entropy": 1.0 * (y > 0), "poisson": np.floor(np.exp(y))}.get(loss, y)


def hessians(f, y, loss):
    """(M, K, K) second derivatives by the outputs, written out."""
    z, own = np.exp(f), np.exp((f - y) / 0.3)
    if loss == "cross-entropy":
        p = z / z.sum(1, keepdims=True)
        return p[:, :, None] * np.eye(K) - p[:, :, None] * p[:, None]
    flat = {"squared": 1 + 0 * f, "binary cross-entropy": z / (1 + z) ** 2, "poisson": z, "huber": abs(f - y) <= 0.8}
    flat |= {"quantile": own / (1 + own) ** 2 / 0.3, "log-cosh": np.cosh(f - y) ** -2.0}
    return flat[loss][:, :, None] * np.eye(K)


def dense(params, x, y, loss, weights, layers=("below", "top")):
    """(N, T) leverages from J, W and H, all of them formed."""
    with jax.enable_x64(True):
        params, x = jax.tree.map(jnp.asarray, params), jnp.asarray(x)
        f = np.asarray(apply(params, x)).reshape(-1, K)
        leaves = jax.tree.leaves([jax.jacrev(apply)(params, x)[name] for name in layers])
    jacobian = np.concatenate([np.asarray(leaf).reshape(N * T, K, -1) for leaf in leaves], axis=2)
    metric = weights.reshape(-1, 1, 1) * hessians(f, y.reshape(-1, K), loss)
    hessian = np.einsum("mkp,mkl,mlq->pq", jacobian, metric, jacobian) + DECAY * np.eye(jacobian.shape[2])
    return np.einsum("mkp,pq,mlq,mlk->m", jacobian, np.linalg.inv(hessian), jacobian, metric).reshape(N, T)


@pytest.mark.parametrize("loss", KINDS)
def test_slopes_and_metric_are_derivatives_of_the_loss(loss):
    """Central differences with steps of 1e-5: their error is 1e-10 times third derivatives, and rounding 1e-11."""
    f, y, each = np.random.default_rng(1).normal(size=(9, 3)), targets_of(loss, (9, 3)), KINDS[loss]
    errors, roots, means = slopes_of(f, y, each)
    root = from_metric(np.tile(np.eye(3), (9, 1)), roots, means).reshape(9, 3, 3)
    for j, step in enumerate(1e-5 * np.eye(3)):
        slope = (losses_of(f + step, y, each) - losses_of(f - step, y, each)) / 2e-5
        assert slope == pytest.approx(errors[:, j], abs=1e-8)
        curvature = (slopes_of(f + step, y, each)[0] - slopes_of(f - step, y, each)[0]) / 2e-5
        assert curvature == pytest.approx((root @ np.swapaxes(root, 1, 2))[:, j], abs=1e-8)
    assert losses_of(f, y, each).min() >= 0


@pytest.mark.parametrize("loss", KINDS)
@pytest.mark.parametrize("method", ["dense", "dual"])
def test_tokens_have_the_leverages_of_a_dense_computation(network, loss, method):
    """With weights of tokens, some of them 0, in total, for a layer, and with all others frozen."""
    (params, x), y, weights = network, targets_of(loss, (N, T, K)), np.random.default_rng(2).integers(0, 3, (N, T))
    options = {"loss": KINDS[loss], "weight_decay": DECAY, "sample_weight": weights, "method": method}
    found = cc.allocate_network(apply, params, x, y, **options)
    assert found.per_position == pytest.approx(dense(params, x, y, loss, weights), abs=ROUNDING)
    assert not found.per_position[weights == 0].any()
    assert found.per_example.sum() == pytest.approx(found.per_output.sum()) == pytest.approx(found.total)
    frozen = cc.allocate_network(apply, params, x, y, trainable=lambda name: name.startswith("top."), **options)
    for each in (found.layers["top"].independent, frozen):
        assert each.per_position == pytest.approx(dense(params, x, y, loss, weights, ["top"]), abs=ROUNDING)


def test_pixels_come_with_classes_first_or_last(network):
    """A public wish (Laplace, issue 163); labels of −100 are ignored, and classes may have weights."""
    (params, x), labels = network, np.random.default_rng(4).integers(0, K, (N, T))
    labels[::2, 1] = -100
    options = {"loss": "cross-entropy", "weight_decay": DECAY}
    last = cc.allocate_network(apply, params, x, labels, **options)
    assert not last.per_position[labels < 0].any() and last.problem.n_fitted == np.count_nonzero(labels >= 0)
    for form in ((K, T), (K, 1, T)):
        first = lambda w, x: jnp.moveaxis(apply(w, x), -1, 1).reshape(-1, *form)  # noqa: B023, E731
        found = cc.allocate_network(first, params, x, labels.reshape(N, *form[1:]), **options)
        assert found.per_position.reshape(N, T) == pytest.approx(last.per_position, abs=ROUNDING)
        assert found.per_output == pytest.approx(last.per_output, abs=ROUNDING)
        assert found.leave_one_out().error_rate == pytest.approx(last.leave_one_out().error_rate)
    weights = np.array([0.5, 3.0])
    terms, positions = weights[None, None], weights[np.maximum(labels, 0)]
    one, other = (cc.allocate_network(apply, params, x, labels, sample_weight=w, **options) for w in (terms, positions))
    assert one.per_position == pytest.approx(other.per_position, abs=ROUNDING)
    assert abs(one.per_position - last.per_position).max() > 0.01


@pytest.mark.parametrize("loss", ["binary cross-entropy", "poisson", "quantile"])
def test_retraining_with_other_targets_is_the_response(loss):
    """To first order, at an optimum: central differences of trained models; third derivatives are below a hundred."""
    x, shift = np.random.default_rng(5).normal(size=(2, 12, 2))
    y = 0.2 + 0.6 * (targets_of(loss, (12, 2)) > 0)
    linear, options = lambda w, x: x @ w, {"loss": KINDS[loss], "weight_decay": DECAY}
    ends = [networks.polish(linear, np.zeros((2, 2)), x, y + h * shift, gtol=1e-13, **options).params
            for h in (0, -1e-4, 1e-4)]  # fmt: skip
    found = cc.allocate_network(linear, ends[0], x, y, **options)
    assert x @ (ends[2] - ends[1]) / 2e-4 == pytest.approx(found.response(shift), abs=1e-6)


def test_a_sequence_left_out_is_ridge_regression_without_it():
    """With weights of tokens, for a model that is linear in its parameters."""
    rng = np.random.default_rng(8)
    rows, y, weights = rng.normal(size=(N, T, 4)), rng.normal(size=(N, T)), rng.integers(0, 3, (N, T))

    def ridge(i):
        a, b, w = rows[i].reshape(-1, 4), y[i].ravel(), weights[i].reshape(-1, 1)
        return np.linalg.solve(a.T @ (w * a) + DECAY * np.eye(4), (w * a).T @ b)

    function = lambda w, i: (jnp.asarray(rows)[i] @ w)[..., None]  # noqa: E731
    options = {"weight_decay": DECAY, "sample_weight": weights}
    left = cc.allocate_network(function, ridge(np.arange(N)), np.arange(N), y, **options).leave_one_out()
    expected = np.array([rows[i] @ ridge(np.arange(N) != i) for i in range(N)])
    assert left.outputs == pytest.approx(expected, abs=ROUNDING)
    assert left.losses == pytest.approx((weights * (y - expected) ** 2 / 2).sum(axis=1), abs=ROUNDING)


WRONG = (
    ({"targets": np.full((N, T), 2), "loss": "cross-entropy"}, "labels outside 0 … 1, .* or -100"),
    ({"targets": np.full((N, T), -100), "loss": "cross-entropy"}, "no term of the loss"),
    ({"loss": "binary cross-entropy", "targets": np.full((N, T, K), 2.0)}, "0 to 1"),
    ({"sample_weight": -np.ones(N)}, "one below"),
    ({"sample_weight": np.ones((N, T + 1))}, "broadcast"),
    ({"class_axis": 0}, "class_axis"),
    ({"targets": np.zeros((N, T)), "loss": "cross-entropy", "apply": lambda w, x: x[:, :3, None] + 0 * x[:, None, :3]},
     "class_axis: found None"),
    ({"trainable": lambda name: False}, "no parameters"),
    ({"inputs": iter([]), "targets": None}, "no batch"),
)  # fmt: skip


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_what_cannot_be_used_is_refused(network, change, message):
    options = {"apply": apply, "inputs": network[1], "targets": np.zeros((N, T, K)), "weight_decay": DECAY} | change
    with pytest.raises(ValueError, match=message):
        cc.allocate_network(params=network[0], **options)
