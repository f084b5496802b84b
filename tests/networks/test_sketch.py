"""Sketches against the dense route: what they estimate, and how often their error bars hold it."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

import capcore as cc
from capcore import networks
from capcore.networks import sketch as sketch_module
from capcore.networks.sketch import estimate
from tests.networks.kinds import KINDS, capacity, trained

jnp = pytest.importorskip("jax").numpy
pytestmark = pytest.mark.usefixtures("compiled_once")
RUNS = 1000


@pytest.fixture(scope="module", autouse=True)
def factors_once():
    """Student's factor of a number of probes, the same in all of the runs, is looked up once: half of the time."""

    class Remembered:
        ppf = staticmethod(cache(sketch_module.t.ppf))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch_module, "t", Remembered)
        yield


@pytest.fixture(scope="module", params=["squared", "cross-entropy"])
def both(request):
    """(dense result, sketch with any options)."""
    apply, params, x, y, options = trained("untied", request.param)
    subspaces = {"inputs": networks.inputs(x), "half": np.eye(60)[:, :30]}

    options = {**options, "subspaces": subspaces}

    def sketch(**more):
        return cc.allocate_network(apply, params, x, y, method="sketch", options=networks.Options(**more), **options)

    return cc.allocate_network(apply, params, x, y, **options), sketch


class Held:
    """An operator S held whole, in place of products with it: what a sketch asks of its model, and solves exactly."""

    def __init__(self, operator):
        self.operator, self.roots = operator, np.ones((len(operator) // 2, 2))

    def applied(self, columns):
        return self.operator @ columns, np.zeros(columns.shape[1])


@cache
def operator_of(kind):
    """(60, 60) S."""
    loss = "cross-entropy" if kind == "convolution" else "squared"
    apply, params, x, y, options = trained(kind, loss)
    found = cc.allocate_network(apply, params, x, y, subspaces={}, method="dense", **options)
    return found._response.factor @ found._response.signed.T


def shares_held(operator, probes):
    """Shares of intervals that hold the value, by quantity, and the mean error of the total over its standard error."""
    model, rng, ends = Held(operator), np.random.default_rng(8), np.arange(60) < 30
    prepared = {"half": (np.eye(60)[:, ends], np.zeros(30, dtype=int), ())}
    diagonal, held, totals = np.diag(operator), np.zeros(4), []
    for _ in range(RUNS):
        found = estimate(model, prepared, probes, rng)
        means, errors = found.means, found.errors
        totals.append(means.total)
        gaps = [
            (means.total - diagonal.sum(), errors.total),
            (means.per_output[0] - diagonal[::2].sum(), errors.per_output[0]),
            (means.per_example[3] - diagonal[6:8].sum(), errors.per_example[3]),
            (means.per_subspace["half"] - diagonal[ends].sum(), errors.per_subspace["half"]),
        ]
        held += [abs(gap) <= error + 1e-9 for gap, error in gaps]
    return held, abs(np.mean(totals) - diagonal.sum()) / (np.std(totals) / np.sqrt(RUNS))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("probes", [4, 16])
def test_intervals_hold_the_dense_value_as_often_as_they_say(kind, probes):
    """Of 95 % intervals as many must hold it as a binomial law of 93 % allows in 999 of 1000.

    Student's law is that of normal samples. Quadratic forms of signs are skewed, which costs two-sided intervals up to
    two points. Of four probes, an example's two outputs see so few different signs that theirs miss more: not asked.
    The estimates are not biased: the mean of the runs is within four standard errors.
    """
    held, away = shares_held(operator_of(kind), probes)
    asked = held if probes > 4 else held[[0, 1, 3]]
    assert asked.min() >= binom.ppf(0.001, RUNS, 0.93)
    assert asked.max() <= binom.ppf(0.999, RUNS, 0.98)
    assert away < 4


@pytest.mark.parametrize("rank", [1, 5])
def test_small_totals_are_held(rank):
    """A projector of rank one gives squares of a normal number, whose skew costs four probes some points."""
    basis = np.linalg.qr(np.random.default_rng(10).normal(size=(60, rank)))[0]
    for probes, share in ((4, 0.89), (16, 0.93)):
        held, away = shares_held(basis @ basis.T, probes)
        assert held[0] >= binom.ppf(0.001, RUNS, share) and away < 4


def test_solves_that_are_not_finished_are_told_and_counted():
    """After three steps of some sixty no share is known: the error is as large as the capacity."""
    apply, params, x, y, options = trained("convolution", "squared")
    with pytest.warns(cc.CapacityWarning, match=r"max_steps: found solves that stopped with a share of 1 "):
        found = cc.allocate_network(
            apply,
            params,
            x,
            y,
            method="sketch",
            subspaces={"one": np.eye(60)[:, :1]},
            options=networks.Options(max_steps=3, probes=4),
            **options,
        )
    assert found.errors.per_subspace["one"] == pytest.approx(found.per_subspace["one"])
    with pytest.warns(cc.CapacityWarning, match="max_steps: found solves that stopped after 3 steps"):
        found.response(np.eye(30, 2))
    with pytest.warns(cc.CapacityWarning, match="max_steps: found solves that stopped after 3 steps"):
        capacity(found, np.eye(60)[:, :1])


@pytest.mark.parametrize("tolerance", [None, 1e-2])
def test_responses_are_solved_for_whatever_the_tolerance_of_the_sketch(both, rng, tolerance):
    """To a share of 1e-12: its root, and the condition number below 1e3."""
    dense, sketch = both
    shift = rng.normal(size=(30, 2))
    shift -= shift.mean(axis=1, keepdims=True)
    found, expected = sketch(probes=2, tolerance=tolerance).response(shift), dense.response(shift)
    assert np.linalg.norm(found - expected) < 1e-5 * np.linalg.norm(expected)


def test_small_subspaces_are_exact(both, rng):
    """To the share of 1e-12 at which the solves stop, and the condition number."""
    dense, sketch = both
    found = sketch(probes=16)
    assert found.per_subspace["inputs"] == pytest.approx(dense.per_subspace["inputs"], abs=1e-3)
    columns = rng.normal(size=(60, 2))
    assert capacity(found, columns) == pytest.approx(capacity(dense, columns), rel=1e-6)
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


def test_the_route_follows_from_memory(monkeypatch):
    x = np.random.default_rng(0).normal(size=(50, 4))
    options = {"weight_decay": 0.1, "subspaces": {}, "options": networks.Options(probes=4)}
    arguments = lambda w, x: x @ w.reshape(4, 3), np.ones(12) / 2, x, np.ones((50, 3))
    assert cc.allocate_network(*arguments, **options).method == "dense"
    wide = lambda w, x: jnp.tanh(x @ w.reshape(4, 60)).sum(1), np.ones(240) / 2, x, np.ones(50)
    assert cc.allocate_network(*wide, **options).method == "dual"
    assert cc.allocate_network(*wide, **{**options, "weight_decay": np.arange(240)}).method == "dense"
    monkeypatch.setenv("CAPCORE_MEMORY", "5e4")
    assert cc.allocate_network(*arguments, **options).method == "sketch"
