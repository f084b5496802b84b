"""Networks whose capacity is known: linear ones, random features, Bayesian regression, logistic regression."""

import numpy as np
import pytest

import capcore as cc
from capcore import networks
from tests.networks.kinds import capacity

jnp = pytest.importorskip("jax").numpy
ROUNDING = 1e-9
"""Condition numbers here are below 1e5, times eps and sizes of a hundred."""


def features(w, x):
    """Linear in its parameters: what is measured does not depend on them."""
    return x @ w


@pytest.fixture
def regression(rng):
    x = rng.normal(size=(60, 12)) @ np.diag(np.geomspace(1, 0.03, 12))
    return x, x @ rng.normal(size=12) + rng.normal(size=60)


def ridge(x, y, decay):
    return np.linalg.solve(x.T @ x + decay * np.eye(x.shape[1]), x.T @ y)


def linear_stack(arch):
    """The stack as a JAX function of its parameters."""

    def apply(w, x):
        found = jnp.ones((1, 1))
        widths = [1, *arch.channels, 1]
        for part, below, above, taps in zip(
            arch.layers.values(), widths[:-1], widths[1:], arch.kernel_sizes, strict=True
        ):
            kernel = w[part].reshape(below, taps, above)
            found = jnp.concatenate([found @ kernel[:, tap] for tap in range(taps)])
        return x @ found[:, 0]

    return apply


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_a_linear_stack_has_the_capacity_of_paper_1(channels):
    """In total, and layer by layer in all four views, in any metric."""
    arch, process = cc.Hierarchical(channels=channels, n_layers=4), cc.PowerLaw()
    fit, rng = cc.fit(arch, process), np.random.default_rng(0)
    white = np.linalg.qr(rng.normal(size=(300, 16)))[0] * np.sqrt(300)
    x = white @ np.linalg.cholesky(process.covariance(16)).T  # of sample covariance Σ
    y = x @ process.predictor(16)[0]
    found = cc.allocate_network(linear_stack(arch), fit.params, x, y, layers=arch.layers, curvature="gauss-newton")
    expected = cc.allocate(arch, fit, process)
    assert found.total == pytest.approx(expected.total, abs=1e-6)
    for name, layer in expected.layers.items():
        assert found.layers[name].totals == pytest.approx(layer.totals, abs=1e-6)
    assert found.per_subspace["inputs"].sum() <= found.total + ROUNDING


@pytest.mark.parametrize("decay", [0.0, 0.1, 10.0])
def test_ridge_regression(regression, decay):
    """The hat matrix, MacKay's γ = Σ σ²/(σ² + λ), and the total as the trace of either."""
    x, y = regression
    found = cc.allocate_network(features, ridge(x, y, decay), x, y, weight_decay=decay)
    hat = x @ np.linalg.solve(x.T @ x + decay * np.eye(12), x.T)
    eigenvalues = np.linalg.eigvalsh(x.T @ x)
    assert found.per_example == pytest.approx(np.diag(hat), abs=ROUNDING)
    assert found.total == pytest.approx((eigenvalues / (eigenvalues + decay)).sum(), abs=ROUNDING)
    assert found.gauss_newton_total == pytest.approx(found.total, abs=ROUNDING) and found.is_optimum
    assert found.response(y[:, None]).ravel() == pytest.approx(hat @ y, abs=ROUNDING)
    assert capacity(found, np.eye(60)[:, :7]) == pytest.approx(np.diag(hat)[:7].sum(), abs=ROUNDING)


def test_random_features_are_kernel_ridge_regression(rng):
    """More parameters than examples: S = K(K + λ)⁻¹ with the kernel of the features alone."""
    inputs, inner = rng.normal(size=(30, 4)), rng.normal(size=(4, 80)) / 2
    phi, decay, y = np.tanh(inputs @ inner), 0.5, rng.normal(size=30)
    dual = phi.T @ np.linalg.solve(phi @ phi.T + decay * np.eye(30), y)
    found = cc.allocate_network(lambda w, x: jnp.tanh(x @ inner) @ w, dual, inputs, y, weight_decay=decay)
    operator = phi @ phi.T @ np.linalg.inv(phi @ phi.T + decay * np.eye(30))
    assert found.per_example == pytest.approx(np.diag(operator), abs=ROUNDING)
    basis = np.linalg.qr(rng.normal(size=(30, 5)))[0]
    assert capacity(found, basis) == pytest.approx(np.trace(basis.T @ operator @ basis), abs=ROUNDING)


def test_logistic_regression_has_pregibons_leverages(rng):
    """W^½X(XᵀWX)⁻¹XᵀW^½ for two classes as logits (0, z); the capacity of the linear functions is their number."""
    x = np.column_stack([np.ones(80), rng.normal(size=(80, 2))])
    y = (rng.random(80) < 1 / (1 + np.exp(-x @ [0.3, 1.0, -0.5]))).astype(int)

    def logits(w, x):
        return jnp.stack([0 * (x @ w), x @ w], axis=1)

    theta = networks.polish(logits, np.zeros(3), x, y, loss="cross-entropy").params
    found = cc.allocate_network(logits, theta, x, y, loss="cross-entropy", subspaces={"linear": x[:, 1:]})
    p = 1 / (1 + np.exp(-x @ theta))
    root = np.sqrt(p * (1 - p))[:, None] * x
    leverages = np.diag(root @ np.linalg.solve(root.T @ root, root.T))
    assert found.per_example == pytest.approx(leverages, abs=ROUNDING)
    assert found.total == pytest.approx(3) and found.per_subspace["linear"] == pytest.approx(2)
