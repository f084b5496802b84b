"""Poles reported, and the complex pairs that real recurrent weights leave out."""

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from scipy.linalg import cholesky
from strategies import seeds

import capcore as cc
from capcore.variable_projection import pole_limit, projection_path
from chapters.recurrent import poles
from chapters.recurrent.poles import PoleReport, best_response, pair_columns


def n_complex(response):
    """Number of poles that are not real, beyond the rounding of a double root."""
    return int(np.count_nonzero(np.abs(response.poles.imag) > 1e-6))


def flat_problem(target):
    n = len(target)
    return cc.Problem(np.asarray(target, float), np.eye(n), np.eye(n), 1.0)


def best_real(problem, c, **options):
    model, rng = cc.Recurrent(problem.target.size, c), np.random.default_rng(0)
    found = projection_path(model, [c], problem.target, problem.root, rng, **options)
    return cc.Recurrent(problem.target.size, c).poles(found[c].params), found[c].history[-1]


# --- the report -------------------------------------------------------------------------------------------------------


def test_every_kind_of_pole_is_named():
    arch = cc.Recurrent(8, 6)
    values = [0.3, -1.2, 0.305, 0.31, 0.9, pole_limit(8)]
    report = PoleReport.of(arch, arch.assemble(values, [1.0, 2.0, -2.0, 3.0, 0.0, 1e-9]))
    assert report.poles.tolist() == sorted(values)
    assert_allclose(report.weights, [2.0, 1.0, -2.0, 3.0, 0.0, 1e-9])
    assert report.merged == [slice(1, 4)] and report.n_merged == 3
    assert report.growing.tolist() == [True, False, False, False, False, True]


def test_two_groups_and_a_tolerance():
    arch = cc.Recurrent(8, 4)
    params = arch.assemble([0.1, 0.12, 0.5, 0.52], np.ones(4))
    assert PoleReport.of(arch, params).merged == []
    assert PoleReport.of(arch, params, tolerance=0.1).merged == [slice(0, 2), slice(2, 4)]


# --- complex pairs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", [(0.7, -0.6), (1.2, 0.36), (0.8, 0.8)], ids=["real", "merged", "complex"])
def test_the_columns_of_a_pair_span_its_responses(pair):
    first, second = np.roots([1.0, -pair[0], pair[1]])
    lags = np.arange(10)
    matrix = pair_columns(10, 1)(np.array([*pair, 0.5]))[0]
    merged = abs(first - second) < 1e-6
    second_response = lags * first ** (lags - 1.0) if merged else second**lags
    for response in (first**lags, second_response, 0.5**lags):
        rest = response - matrix @ np.linalg.lstsq(matrix.astype(complex), response, rcond=None)[0]
        assert np.abs(rest).max() < 1e-6


@given(seeds)
def test_derivatives_against_differences(seed):
    rng = np.random.default_rng(seed)
    parameters, weights = rng.uniform(-0.8, 0.8, 5), rng.normal(size=5)
    columns = pair_columns(9, 2)
    steered = columns(parameters)[1](weights)
    h = 1e-6
    for j, step in enumerate(h * np.eye(5)):
        difference = (columns(parameters + step)[0] - columns(parameters - step)[0]) @ weights / (2 * h)
        assert_allclose(steered[:, j], difference, atol=1e-6 * max(1, np.abs(steered).max()))


@settings(max_examples=10)
@given(seeds)
def test_complex_pairs_never_lose_to_real_poles(seed):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(8, 12))
    covariance = columns @ columns.T
    problem = cc.Problem(rng.normal(size=8), covariance, cholesky(covariance), 1.0)
    for c in (1, 2, 3):
        found_poles, loss = best_real(problem, c)
        found = best_response(problem, found_poles)
        assert found.loss <= loss * (1 + 1e-6)
        assert found.poles.shape == (c,)
        assert n_complex(found) % 2 == 0
        assert found.loss == pytest.approx(problem.loss(found.coefficients))


@settings(max_examples=10)
@given(seeds)
def test_a_complex_response_is_recovered(seed):
    rng = np.random.default_rng(seed)
    lags, modulus, angle = np.arange(20), rng.uniform(0.6, 0.95), rng.uniform(0.5, 2.5)
    problem = flat_problem(modulus**lags * np.cos(angle * lags + rng.uniform(0, 1)) + 0.7 * 0.3**lags)
    found = best_response(problem, best_real(problem, 3, n_random=0)[0])
    assert found.loss < 1e-18 and n_complex(found) == 2
    assert_allclose(np.sort(np.abs(found.poles)), [0.3, modulus, modulus], atol=1e-6)


def test_where_real_poles_suffice_nothing_is_gained():
    problem = cc.Problem.of(cc.Recurrent(32, 1), cc.PowerLaw())
    found_poles, loss = best_real(problem, 3)
    found = best_response(problem, found_poles)
    assert n_complex(found) == 0 and found.loss == pytest.approx(loss, rel=1e-6)


def test_a_merged_pair_is_a_complex_one_held_back():
    problem = cc.Problem.of(cc.Recurrent(64, 1), cc.RationalQuadratic())
    found_poles, loss = best_real(problem, 3, n_random=4)
    found = best_response(problem, found_poles)
    assert np.diff(np.sort(found_poles))[0] < 0.01
    assert n_complex(found) == 2 and found.loss < 0.999 * loss


def test_refusals():
    problem = flat_problem([1.0, 0.5, 0.25])
    with pytest.raises(ValueError, match=r"poles: .*NaN"):
        best_response(problem, np.array([np.nan]))
    with pytest.raises(ValueError, match="poles: found an empty array"):
        best_response(problem, np.zeros(0))


# --- tables and examples ----------------------------------------------------------------------------------------------


def test_the_table_leaves_out_what_is_attained():
    swinging = poles.oscillating_process(32)
    processes = {"swinging": swinging, "AR(1)": cc.AR1(0.9)}
    problems = {name: cc.Problem.of(cc.Recurrent(32, 2), process) for name, process in processes.items()}
    fits = {name: cc.fit(cc.Recurrent(32, 2), problem) for name, problem in problems.items()}
    reports = {name: {2: PoleReport.of(cc.Recurrent(32, 2), found.params)} for name, found in fits.items()}
    losses = {name: {2: found.loss} for name, found in fits.items()}
    table = poles.pole_table(problems, reports, losses)
    assert list(table) == ["swinging, c = 2"]
    (row,) = table.values()
    assert row["merged poles"] == "2"  # held back from a complex pair
    assert float(row["complex pairs gain"]) > 100
    assert float(row["loss"]) == pytest.approx(fits["swinging"].loss, rel=0.05)


def test_the_oscillating_process():
    process = poles.oscillating_process(64, 0.9, 8.0)
    target = process.predictor(64)[0]
    found = best_response(cc.Problem.of(cc.Recurrent(64, 1), process), np.array([0.2, 0.5]))
    pair = 0.9 * np.exp(2j * np.pi / 8 * np.array([1, -1]))
    assert_allclose(np.sort_complex(found.poles), np.sort_complex(pair), atol=1e-3)
    assert np.sign(target[1:5]).tolist() != [1, 1, 1, 1]


def test_a_report_for_every_model():
    models = {c: cc.Recurrent(8, c) for c in (1, 3)}
    params = {c: arch.init(np.random.default_rng(0)) for c, arch in models.items()}
    found = poles.report_all(models, params)
    assert {c: report.poles.size for c, report in found.items()} == {1: 1, 3: 3}
