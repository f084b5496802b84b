"""Sketches against the dense route: what they estimate, and how often their error bars hold it."""

import numpy as np
import pytest
from scipy.stats import binom, t

import capcore as cc
from capcore import networks
from capcore.networks.allocation import _estimate as estimate

jnp = pytest.importorskip("jax").numpy
PROBES = 6
RUNS = 60


def network(w, x):
    """Three inputs, four tanh units, two outputs."""
    return jnp.tanh(x @ w[:12].reshape(3, 4)) @ w[12:].reshape(4, 2)


@pytest.fixture(scope="module", params=["squared", "cross-entropy"])
def both(request):
    """(dense result, sketch with any options)."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(30, 3))
    y = rng.integers(0, 2, 30) if request.param == "cross-entropy" else rng.normal(size=(30, 2))
    options = {"loss": request.param, "weight_decay": 0.3}
    params = networks.polish(network, rng.normal(size=20), x, y, **options).params
    subspaces = {"inputs": networks.inputs(x), "half": np.eye(60)[:, :30]}

    def sketch(**more):
        return cc.allocate_network(network, params, x, y, method="sketch", subspaces=subspaces, **options, **more)

    return cc.allocate_network(network, params, x, y, subspaces=subspaces, **options), sketch


def test_error_bars_hold_the_dense_value_as_often_as_they_say(both):
    """Of 60 runs, 90 % intervals of Student's t must hold it in as many as a binomial law allows in 999 of 1000.

    The runs share their compiled derivatives, so it is the estimator that is called.
    """
    dense, sketch = both
    width, rng = t.ppf(0.95, PROBES - 1), np.random.default_rng(8)
    first = sketch(probes=2)
    held = np.zeros(4)
    for _ in range(RUNS):
        found = estimate(first._response, first._subspaces, PROBES, rng)
        means, errors = found["means"], found["errors"]
        pairs = [
            (means.total, dense.total, errors.total),
            (means.per_output[0], dense.per_output[0], errors.per_output[0]),
            (means.per_example[3], dense.per_example[3], errors.per_example[3]),
            (means.per_subspace["half"], dense.per_subspace["half"], errors.per_subspace["half"]),
        ]
        held += [abs(mean - value) <= width * error + 1e-9 for mean, value, error in pairs]
    assert held.min() >= binom.ppf(0.001, RUNS, 0.9)


def test_the_difference_of_both_forms_is_better_known_than_either(both):
    """They are estimated with the same random vectors."""
    dense, sketch = both
    found = sketch(probes=40)
    gap = found.total - found.gauss_newton_total
    assert abs(gap - dense.total + dense.gauss_newton_total) < 3 * found.error


def test_small_subspaces_and_responses_are_exact(both, rng):
    """To the share of 1e-12 at which the solves stop, and the condition number."""
    dense, sketch = both
    found = sketch(probes=16)
    assert found.per_subspace["inputs"] == pytest.approx(dense.per_subspace["inputs"], abs=1e-3)
    assert not np.any(found.errors.per_subspace["inputs"])
    columns = rng.normal(size=(60, 2))
    assert found.capacity(columns) == pytest.approx(dense.capacity(columns), rel=1e-6)
    shift = rng.normal(size=(30, 2))
    shift -= shift.mean(axis=1, keepdims=True)
    assert found.response(shift) == pytest.approx(dense.response(shift), abs=1e-5)
    assert found.is_optimum and found.method == "sketch"


def test_the_same_seed_gives_the_same_answer_and_single_precision_nearly(both):
    _, sketch = both
    assert sketch(rng=1, probes=4).total == sketch(rng=1, probes=4).total
    assert sketch(rng=1, probes=4, single=True).total == pytest.approx(sketch(rng=1, probes=4).total, rel=1e-3)


def test_what_only_the_dense_route_gives_is_refused_with_its_name(both):
    found = both[1](probes=2)
    with pytest.raises(AttributeError, match="method='dense'"):
        found.layers  # noqa: B018


def test_a_saddle_is_refused_with_what_needs_no_minimum():
    x, y = np.linspace(-1, 1, 9)[:, None], np.linspace(-1, 1, 9)
    product = lambda w, x: w[0] * w[1] * x[:, 0]  # noqa: E731
    with pytest.raises(ValueError, match="curvature='gauss-newton'"):
        cc.allocate_network(product, np.full(2, 1e-3), x, y, weight_decay=1e-3, method="sketch", probes=2)
    found = cc.allocate_network(
        product, np.ones(2), x, y, weight_decay=1e-3, method="sketch", probes=2, curvature="gauss-newton"
    )
    assert found.total > 0 and not found.is_optimum
