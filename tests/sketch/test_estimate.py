"""Limits of random estimates hold as often as they say, with a solver stopped early and a ridge included."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from tqdm import tqdm

import capcore as cc
from capcore.sketch import CapacityEstimate, Interval, JacobianProducts, estimate_capacity
from capcore.sketch.covariance import covariance_product
from capcore.sketch.estimate import choose_method
from capcore.sketch.hutchinson import Flattened, project_probes
from capcore.sketch.operators import ConstraintOperator
from capcore.sketch.result import f_limit

N_RUNS = 150
CONFIDENCE = 0.9


def chance(n_runs: int, tail: float = 1e-4) -> tuple[float, float]:
    """The numbers of hits that limits of the right width fall below, or exceed, once in 10,000."""
    return tuple(binom.ppf([tail, 1 - tail], n_runs, CONFIDENCE))


FEW, MANY = chance(N_RUNS)


def steep(n: int, p: int, decay: float, seed: int) -> np.ndarray:
    """(n, p) Jacobian with singular values from 1 down to ``decay`` and uneven leverage."""
    rng = np.random.default_rng(seed)
    left = np.linalg.qr(np.exp(-np.arange(n) / 6)[:, None] * rng.normal(size=(n, p)) + 0.05 * rng.normal(size=(n, p)))[
        0
    ]
    return left * np.geomspace(1, decay, p) @ np.linalg.qr(rng.normal(size=(p, p)))[0]


def runs(jacobian: np.ndarray, known: bool = True, n_runs: int = N_RUNS, **options: object) -> list[CapacityEstimate]:
    total = jacobian.shape[1] if known else None
    products = JacobianProducts.dense(jacobian, generic_total=total)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CapacityWarning)
        return [
            estimate_capacity(
                products, None, cc.AR1(0.5), method="hutchinson", confidence=CONFIDENCE, rng=seed, **options
            )
            for seed in range(n_runs)
        ]


def coverage(intervals: list[Interval], truth: np.ndarray) -> np.ndarray:
    return np.sum([interval.covers(truth) for interval in intervals], axis=0)


def leverage(jacobian: np.ndarray) -> np.ndarray:
    return cc.ConstraintSpace.from_columns(cc.AR1(0.5).covariance(len(jacobian)) @ jacobian).per_input()


@pytest.mark.parametrize(("n_probes", "n_runs"), [(2, 400), (12, 1000)])
def test_limits_of_single_inputs_are_exact(n_probes: int, n_runs: int) -> None:
    jacobian = steep(24, 6, 0.3, seed=0)
    truth = leverage(jacobian)
    assert truth.min() < 0.05 and truth.max() > 0.75
    found = runs(jacobian, n_runs=n_runs, n_probes=n_probes, ridge=1e-5, tolerance=1e-9, deflate=6)
    hits = coverage([estimate.ridge_capacity(np.arange(24)) for estimate in found], truth)
    few, many = chance(n_runs)
    assert hits.min() >= few, "too narrow"
    assert hits.max() <= many, "too wide"


@pytest.mark.parametrize(("n_probes", "options"), [(4, {"ridge": 1e-3}), (16, {"ridge": 0.3, "deflate": 0})])
def test_limits_of_octaves_and_of_the_total_hold_at_least_as_often(n_probes: int, options: dict) -> None:
    jacobian = steep(40, 8, 1e-3, seed=1)
    truth = leverage(jacobian)
    found = runs(jacobian, n_probes=n_probes, **options)
    octaves = np.bincount(found[0].octaves, truth)
    assert coverage([estimate.per_octave for estimate in found], octaves).min() >= FEW
    assert coverage([estimate.per_input for estimate in found], truth).min() >= FEW
    assert coverage([estimate.total for estimate in found], np.array([8.0])).min() >= FEW


def test_a_strong_ridge_hides_capacity_and_the_limits_say_so() -> None:
    jacobian = steep(40, 8, 1e-4, seed=2)
    found = runs(jacobian, n_runs=1, n_probes=200, ridge=0.3, deflate=0)[0]
    assert found.ridge_capacity(np.zeros(40)).upper[0] < 6
    assert found.total.upper[0] == 8 and found.total.lower[0] < 6


def operator_of(jacobian: np.ndarray, rng: np.random.Generator) -> ConstraintOperator:
    products = JacobianProducts.dense(jacobian, generic_total=jacobian.shape[1])
    return ConstraintOperator.balanced(products, covariance_product(cc.AR1(0.5), len(jacobian)), rng)


@pytest.mark.parametrize("steps", [1, 3, 100])
def test_limits_of_ridge_scores_hold_wherever_the_solver_stops(steps: int) -> None:
    """Without flattening, B is ΣJD over its norm: the ridge scores can be written down for the scales drawn."""
    jacobian = steep(24, 6, 1e-2, seed=3)
    hits = np.zeros(24)
    options = {"n_runs": N_RUNS, "n_probes": 6, "ridge": 0.1, "deflate": 0, "max_iterations": steps}
    for seed, found in enumerate(runs(jacobian, **options)):
        scales = operator_of(jacobian, np.random.default_rng(seed)).scales
        s = np.linalg.svd(cc.AR1(0.5).covariance(24) @ (jacobian * scales))
        values = s.S / s.S[0]
        truth = np.square(s.U[:, :6]) @ (values**2 / (values**2 + 0.1**2))
        hits += found.ridge_capacity(np.arange(24)).covers(truth)
    assert hits.min() >= FEW
    assert steps < 100 or hits.max() <= MANY


@pytest.mark.parametrize("deflate", [0, 3])
@pytest.mark.parametrize("steps", [0, 1, 2, 4, 50])
def test_the_solver_error_is_bounded(steps: int, deflate: int) -> None:
    flat = Flattened(operator_of(steep(24, 6, 1e-3, seed=10), np.random.default_rng(0)), deflate,
                     np.random.default_rng(1), tqdm(disable=True))  # fmt: skip
    b, ridge = flat.forward(np.eye(6)), 0.02
    found = project_probes(flat, 5, ridge, np.random.default_rng(2), 1e-12, steps, tqdm(disable=True))
    rng = np.random.default_rng(2)
    z, below = rng.normal(size=(24, 5)), rng.normal(size=(6, 5))
    exact = b @ np.linalg.solve(b.T @ b + ridge**2 * np.eye(6), b.T @ z + ridge * below)
    for sums, vectors in ((found.inside, exact), (found.outside, z - exact)):
        distance = np.linalg.norm(np.sqrt(sums) - np.linalg.norm(vectors, axis=1))
        assert distance <= found.error + 1e-12
    assert found.error < 1e-10 if steps == 50 else found.error > 1e-6


@pytest.mark.parametrize("steps", [1, 5])
def test_a_solver_stopped_early_widens_the_limits(steps: int) -> None:
    jacobian = steep(40, 8, 1e-2, seed=4)
    truth = leverage(jacobian)
    found = runs(jacobian, n_probes=8, ridge=0.05, deflate=0, max_iterations=steps)
    octaves = np.bincount(found[0].octaves, truth)
    assert coverage([estimate.per_octave for estimate in found], octaves).min() >= FEW
    assert coverage([estimate.per_input for estimate in found], truth).min() >= FEW
    assert found[0].error > 1e-3


@given(st.floats(0.01, 30), st.floats(0.01, 30), st.floats(0, 1), st.floats(-1, 1), st.floats(-1, 1), st.integers(1, 3))
def test_limits_contain_those_of_all_sums_within_the_error(a, b, error, up, down, size) -> None:
    def limits(inside: float, outside: float, bound: float) -> Interval:
        rows = np.ones(size) / size
        return CapacityEstimate(
            "hutchinson", size, 1, None, size, None, CONFIDENCE, inside * rows, outside * rows, bound, n_probes=5
        ).ridge_capacity(np.zeros(size))

    wide = limits(a, b, error)
    exact = limits(max(np.sqrt(a) + up * error, 0) ** 2, max(np.sqrt(b) + down * error, 0) ** 2, 0.0)
    assert wide.covers(exact.lower).all() and wide.covers(exact.upper).all()


def test_stopping_early_warns() -> None:
    products = JacobianProducts.dense(steep(40, 8, 1e-3, seed=4), generic_total=8)
    with pytest.warns(cc.CapacityWarning, match="after 2 steps"):
        estimate_capacity(products, None, cc.AR1(0.5), method="hutchinson", deflate=0, max_iterations=2)


def test_without_a_known_rank_the_limits_still_enclose() -> None:
    jacobian = steep(30, 6, 1e-2, seed=5)
    found = runs(jacobian, known=False, n_probes=8)
    assert found[0].generic_total is None and found[0].largest_total == 6
    octaves = np.bincount(found[0].octaves, leverage(jacobian))
    assert coverage([estimate.per_octave for estimate in found], octaves).min() >= FEW


def test_more_probes_tell_more() -> None:
    arch = cc.Hierarchical(2, dilations=[1, 2, 4, 8] * 3)
    params = arch.init(np.random.default_rng(6))
    truth = cc.allocate(arch, params, cc.PowerLaw()).per_input
    widths, errors = [], []
    for n_probes in (16, 1024):
        found = estimate_capacity(arch, params, cc.PowerLaw(), method="hutchinson", n_probes=n_probes, ridge=1e-4)
        single = found.ridge_capacity(np.arange(arch.n_inputs))
        widths.append(np.median(single.upper - single.lower))
        errors.append(np.sqrt(np.mean(np.square(single.value - truth))))
    assert widths[1] < widths[0] / 5, "should be 8 times narrower"
    assert errors[1] < errors[0] / 3


@pytest.mark.parametrize("n_probes", [1, 4, 30])
@pytest.mark.parametrize(
    "weights",
    [[0.3], [1, 0, 0, 0, 0, 0, 0, 0], [0.6, *[0] * 30], [1, 1, 0.5, 0.01, *[0] * 20], [0.99] * 9 + [0.2], [0.5] * 10],
    ids=["single", "one direction", "part of one", "mixed", "nearly full", "even"],
)
def test_limits_of_groups_hold_for_any_angles(n_probes: int, weights: list[float]) -> None:
    rng, n_runs = np.random.default_rng(7), 4000
    squared = np.asarray(weights, dtype=float)
    inside = rng.chisquare(n_probes, (n_runs, len(squared))) @ squared
    outside = rng.chisquare(n_probes, (n_runs, len(squared))) @ (1 - squared)
    sizes = np.full(n_runs, float(len(squared)))
    below, above = (f_limit(inside, outside, sizes, n_probes, level) for level in (0.05, 0.95))
    most = binom.ppf(1 - 1e-4, n_runs, 0.05)
    assert np.sum(below > squared.sum()) <= most
    assert np.sum(above < squared.sum()) <= most


def test_groups_add_up_and_follow_their_labels() -> None:
    arch = cc.Hierarchical(2, dilations=[1, 2, 4, 1, 2, 4])
    found = estimate_capacity(arch, arch.init(np.random.default_rng(8)), cc.PowerLaw())
    assert found.octaves.tolist() == [0, 1, 2, 2, 3, 3, 3, 3, *[4] * 7]
    labels = np.arange(15) % 3
    np.testing.assert_allclose(
        found.of_groups(labels).value, [found.per_input.value[labels == k].sum() for k in range(3)], atol=1e-12
    )
    assert found.per_octave.value.sum() == pytest.approx(found.total.value[0]) == pytest.approx(15)


def test_the_method_follows_the_memory() -> None:
    def of(n: int, p: int, total: int) -> JacobianProducts:
        return JacobianProducts(lambda v: v, lambda u: u, n, p, generic_total=total)

    assert choose_method(of(2**16, 1000, 500), 2e9) == "range"
    assert choose_method(of(2**20, 1000, 500), 2e9) == "whitened"
    assert choose_method(of(2**20, 10**6, 500), 2e9) == "hutchinson"


def test_the_same_seed_gives_the_same_answer_and_progress_is_shown(capsys: pytest.CaptureFixture) -> None:
    products = JacobianProducts.dense(steep(20, 4, 0.1, seed=9), generic_total=4)
    for method in ("range", "whitened", "hutchinson"):
        first, second = (
            estimate_capacity(products, None, cc.AR1(0.5), method=method, rng=3, progress=shown) for shown in (0, 1)
        )
        np.testing.assert_array_equal(first.inside, second.inside)
        assert f"capacity, {method}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "rnge"}, "Did you mean 'range'?"),
        ({"n_probes": 0}, "n_probes: found 0"),
        ({"confidence": 1.0}, "confidence: found 1.0, expected a number above 0 and below 1"),
        ({"ridge": 0}, "ridge: found 0"),
        ({"tolerance": -1.0}, "tolerance: found -1.0, expected a positive number"),
        ({"memory": np.nan}, "memory: found nan"),
        ({"deflate": -1}, "deflate: found -1"),
        ({"max_iterations": 0}, "max_iterations: found 0"),
    ],
)
def test_bad_options_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        estimate_capacity(JacobianProducts.dense(np.eye(4)), None, cc.AR1(0.5), **options)


def test_bad_models_and_labels_are_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("found 1 component(s) per position, expected 2")):
        estimate_capacity(JacobianProducts.dense(np.eye(4), input_dim=2), None, cc.AR1(0.5))
    found = estimate_capacity(JacobianProducts.dense(np.eye(4)), None, cc.AR1(0.5))
    for labels in ([0, 1, 2], [0, 0, 2, 2], [0, 0.5, 1, 1], [-1, 0, 0, 0]):
        with pytest.raises(ValueError, match="labels: found"):
            found.of_groups(labels)
