"""Losses of tokens and pixels, weights, ignored positions and frozen parameters, against plain dense computations."""

import numpy as np
import pytest

import capcore as cc
from capcore import networks
from capcore.networks.losses import LOSSES, from_metric, huber, losses_of, of_each, quantile, slopes_of

jax = pytest.importorskip("jax")
jnp = jax.numpy
N, T, K, DECAY = 7, 3, 2, 0.4
ROUNDING = 1e-9
"""Condition numbers here are below 1e4, times eps and a thousand operations."""
KINDS = LOSSES | {"huber": huber(0.8), "quantile": quantile(0.9, 0.3)}


def apply(params, x):
    """(N, 4) → (N, T, K), with more parameters than a position has outputs."""
    inner = jnp.tanh(x @ params["below"]["w"]).reshape(len(x), T, -1)
    return inner @ params["top"]["w"] + params["top"]["b"]


@pytest.fixture
def network():
    rng = np.random.default_rng(3)
    top = {"b": rng.normal(size=K) / 2, "w": rng.normal(size=(2, K))}
    return {"below": {"w": rng.normal(size=(4, 2 * T))}, "top": top}, rng.normal(size=(N, 4))


def targets_of(loss, shape, seed=0):
    """Targets that a loss accepts: probabilities, counts, or numbers."""
    y = np.random.default_rng(seed).normal(size=shape)
    if loss == "cross-entropy":
        return np.exp(y) / np.exp(y).sum(-1, keepdims=True)
    return {"binary cross-entropy": 1.0 * (y > 0), "poisson": np.floor(np.exp(y))}.get(loss, y)


def outputs_of(params, x):
    with jax.enable_x64(True):
        return np.asarray(apply(jax.tree.map(jnp.asarray, params), jnp.asarray(x)))


def hessians(f, y, loss):
    """(M, K, K) second derivatives by the outputs, written out."""
    z, k = np.exp(f), f.shape[1]
    if loss == "cross-entropy":
        p = z / z.sum(1, keepdims=True)
        return p[:, :, None] * np.eye(k) - p[:, :, None] * p[:, None]
    own = np.exp((f - y) / 0.3)
    curvature = {
        "squared": np.ones_like(f),
        "binary cross-entropy": z / (1 + z) ** 2,
        "poisson": z,
        "huber": 1.0 * (np.abs(f - y) <= 0.8),
        "quantile": own / (1 + own) ** 2 / 0.3,
    }[loss]
    return curvature[:, :, None] * np.eye(k)


def dense(params, x, metric, decay=DECAY, trained=lambda name: True, function=apply):
    """(N·T,) leverages from J, W (N·T, K, K) and H, all of them formed."""
    with jax.enable_x64(True):
        params = jax.tree.map(jnp.asarray, params)
        tree = jax.jacrev(lambda w: function(w, jnp.asarray(x)))(params)
        columns = [
            np.asarray(leaf).reshape(*metric.shape[:2], -1)
            for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]
            if trained(".".join(str(key.key) for key in path))
        ]
    jacobian = np.concatenate(columns, axis=2)
    hessian = np.einsum("mkp,mkl,mlq->pq", jacobian, metric, jacobian) + decay * np.eye(jacobian.shape[2])
    return np.einsum("mkp,pq,mlq,mlk->m", jacobian, np.linalg.inv(hessian), jacobian, metric)


@pytest.mark.parametrize("loss", KINDS)
def test_slopes_and_metric_are_derivatives_of_the_loss(loss):
    """Central differences with steps of 1e-5: their error is 1e-10 times third derivatives, and rounding 1e-11."""
    f, y, each = np.random.default_rng(1).normal(size=(9, 3)), targets_of(loss, (9, 3)), KINDS[loss]
    errors, roots, means = slopes_of(f, y, each)
    for j, step in enumerate(1e-5 * np.eye(3)):
        slope = (losses_of(f + step, y, each) - losses_of(f - step, y, each)) / 2e-5
        assert slope == pytest.approx(errors[:, j], abs=1e-8)
        curvature = (slopes_of(f + step, y, each)[0] - slopes_of(f - step, y, each)[0]) / 2e-5
        root = from_metric(np.tile(np.eye(3), (9, 1)), roots, means).reshape(9, 3, 3)
        assert curvature == pytest.approx((root @ np.swapaxes(root, 1, 2))[:, j], abs=1e-8)
    assert losses_of(f, y, each).min() >= 0


@pytest.mark.parametrize("loss", KINDS)
@pytest.mark.parametrize("method", ["dense", "dual"])
def test_tokens_have_the_leverages_of_a_dense_computation(network, loss, method):
    """With weights of tokens, some of them 0, in total and layer by layer; and twice the weight is a token twice."""
    params, x = network
    f, y = outputs_of(params, x), targets_of(loss, (N, T, K))
    weights = np.random.default_rng(2).integers(0, 3, (N, T))
    options = {"loss": KINDS[loss], "weight_decay": DECAY, "sample_weight": weights, "method": method}
    found = cc.allocate_network(apply, params, x, y, **options)
    metric = weights.reshape(-1, 1, 1) * hessians(f.reshape(-1, K), y.reshape(-1, K), loss)
    assert found.per_position == pytest.approx(dense(params, x, metric).reshape(N, T), abs=ROUNDING)
    assert not found.per_position[weights == 0].any()
    assert found.per_example.sum() == pytest.approx(found.per_output.sum()) == pytest.approx(found.total)
    top = dense(params, x, metric, trained=lambda name: name.startswith("top"))
    assert found.layers["top"].independent.per_position.ravel() == pytest.approx(top, abs=ROUNDING)
    frozen = cc.allocate_network(apply, params, x, y, trainable=lambda name: name.startswith("top"), **options)
    assert frozen.per_position.ravel() == pytest.approx(top, abs=ROUNDING) and list(frozen.layers) == ["top"]


def test_pixels_come_with_classes_first_or_last(network):
    """A public wish (Laplace, issue 163); labels of −100 are ignored, and class weights weigh as in PyTorch."""
    params, x = network
    labels = np.random.default_rng(4).integers(0, K, (N, T))
    labels[::2, 1] = -100
    last = cc.allocate_network(apply, params, x, labels, loss="cross-entropy", weight_decay=DECAY)
    for axes in ((N, K, T), (N, K, 1, T)):
        first = lambda w, x: jnp.moveaxis(apply(w, x), -1, 1).reshape(-1, *axes[1:])  # noqa: B023, E731
        y = labels.reshape(N, *axes[2:])
        found = cc.allocate_network(first, params, x, y, loss="cross-entropy", weight_decay=DECAY)
        assert found.per_position == pytest.approx(last.per_position.reshape(y.shape), abs=ROUNDING)
        assert found.per_output == pytest.approx(last.per_output, abs=ROUNDING)
        assert found.leave_one_out().error_rate == pytest.approx(last.leave_one_out().error_rate)
    assert not last.per_position[labels < 0].any() and last.problem.n_fitted == np.count_nonzero(labels >= 0)
    scales = np.array([0.5, 3.0])
    options = {"loss": "cross-entropy", "weight_decay": DECAY}
    weighted = cc.allocate_network(apply, params, x, labels, sample_weight=scales[None, None], **options)
    by_label = cc.allocate_network(apply, params, x, labels, sample_weight=scales[np.maximum(labels, 0)], **options)
    assert weighted.per_position == pytest.approx(by_label.per_position, abs=ROUNDING)
    assert not np.allclose(weighted.per_position, last.per_position, atol=1e-3)


@pytest.mark.parametrize("loss", ["squared", "binary cross-entropy", "poisson", "quantile"])
def test_retraining_with_other_targets_is_the_response(loss):
    """To first order, at an optimum: central differences of trained models; third derivatives are below a hundred."""
    x = np.random.default_rng(5).normal(size=(12, 2))
    y, linear = targets_of(loss, (12, 2)), lambda w, x: x @ w
    shift, options = np.random.default_rng(6).normal(size=y.shape), {"loss": KINDS[loss], "weight_decay": DECAY}
    train = lambda y: networks.polish(linear, np.zeros((2, 2)), x, y, gtol=1e-13, **options).params  # noqa: E731
    y = np.clip(y, 0.1, 0.9) if loss == "binary cross-entropy" else y + 1.0
    ends = [train(y + h * shift) for h in (0, -1e-4, 1e-4)]
    found = cc.allocate_network(linear, ends[0], x, y, curvature="full", **options)
    assert x @ (ends[2] - ends[1]) / 2e-4 == pytest.approx(found.response(shift), abs=1e-6)


def test_a_sequence_left_out_is_ridge_regression_without_it():
    """With weights of tokens, for a model that is linear in its parameters."""
    rng = np.random.default_rng(8)
    rows, y, weights = rng.normal(size=(N, T, 4)), rng.normal(size=(N, T)), rng.integers(0, 3, (N, T))
    solve = lambda a, b, w: np.linalg.solve(a.T @ (w[:, None] * a) + DECAY * np.eye(4), a.T @ (w * b))  # noqa: E731
    function = lambda w, index: (jnp.asarray(rows)[index] @ w)[..., None]  # noqa: E731
    whole = solve(rows.reshape(-1, 4), y.ravel(), weights.ravel())
    options = {"weight_decay": DECAY, "sample_weight": weights}
    left = cc.allocate_network(function, whole, np.arange(N), y, **options).leave_one_out()
    for i in range(N):
        others = np.arange(N) != i
        w = solve(rows[others].reshape(-1, 4), y[others].ravel(), weights[others].ravel())
        assert left.outputs[i] == pytest.approx(rows[i] @ w, abs=ROUNDING)
        assert left.losses[i] == pytest.approx((weights[i] * (y[i] - rows[i] @ w) ** 2 / 2).sum(), abs=ROUNDING)


def test_a_loss_of_ones_own_has_its_derivatives(network):
    """Log-cosh."""
    params, x = network
    own = of_each("log-cosh", lambda f, y: (np.log(np.cosh(f - y)), np.tanh(f - y), np.cosh(f - y) ** -2.0))
    y = targets_of("squared", (N, T, K))
    found = cc.allocate_network(apply, params, x, y, loss=own, weight_decay=DECAY)
    curvature = np.cosh(outputs_of(params, x) - y).reshape(-1, K, 1) ** -2
    assert found.per_position.ravel() == pytest.approx(dense(params, x, curvature * np.eye(K)), abs=ROUNDING)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": np.full((N, T), 2), "loss": "cross-entropy"}, "labels outside 0 … 1"),
        ({"targets": np.full((N, T), -1), "loss": "cross-entropy"}, "or -100"),
        ({"targets": np.full((N, T), -100), "loss": "cross-entropy"}, "no term of the loss"),
        ({"loss": "poisson", "targets": np.full((N, T, K), -1.0)}, "0 to inf"),
        ({"loss": "binary cross-entropy", "targets": np.full((N, T, K), 2.0)}, "0 to 1"),
        ({"sample_weight": -np.ones(N)}, "below 0"),
        ({"sample_weight": np.ones((N, T + 1))}, "broadcast"),
        ({"class_axis": 0}, "class_axis"),
        ({"class_axis": 3}, "class_axis"),
        ({"loss": "hinge"}, "loss"),
        ({"trainable": lambda name: False}, "no parameters"),
        ({"inputs": iter([]), "targets": None}, "no batch"),
    ],
)
def test_what_cannot_be_used_is_refused(network, change, message):
    params, x = network
    options = {"inputs": x, "targets": np.zeros((N, T, K)), "weight_decay": DECAY} | change
    with pytest.raises(ValueError, match=message):
        cc.allocate_network(apply, params, **options)


def test_an_axis_that_labels_leave_open_is_asked_for():
    square = lambda w, x: x[:, :2, None] * w  # noqa: E731
    options = {"loss": "cross-entropy", "weight_decay": 1.0}
    with pytest.raises(ValueError, match="class_axis"):
        cc.allocate_network(square, np.ones(2), np.eye(4), np.zeros((4, 2)), **options)
    assert cc.allocate_network(square, np.ones(2), np.eye(4), np.zeros((4, 2)), class_axis=-1, **options).total > 0
