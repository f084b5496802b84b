"""Errors of fitted models: many runs, stopped stacks, model against truth, and the two forces."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import spearmanr

from capcore import AR1, FractionalGaussianNoise, Hierarchical, PowerLaw, Problem, allocate, fit
from chapters.claims.registry import load
from chapters.hierarchical_errors import experiment, stopped_stacks, study
from chapters.hierarchical_errors.runs import Runs, along_basis, many_runs
from chapters.hierarchical_errors.study import PredictionErrors, forces, passes
from chapters.kit import stored as results
from chapters.kit.stored import stored as open_result
from chapters.linear_systems.errors import complement
from chapters.shared import survey

ARCH = Hierarchical(channels=2, n_layers=4)


LIMITED = {"max_iterations": 100}


@pytest.fixture(scope="module")
def runs():
    return many_runs(ARCH, PowerLaw(), 5, seed=7, **LIMITED)


def test_a_run_s_numbers_are_those_of_its_own_fit(runs):
    """Means over two runs against the definitions, run by run."""
    two = many_runs(ARCH, PowerLaw(), 2, seed=7, **LIMITED)
    problem = Problem.of(ARCH, PowerLaw())
    vectors = np.linalg.eigh(problem.covariance)[1][:, ::-1]
    squares, bounds = [], []
    for i in range(2):
        fitted = fit(ARCH, problem, rng=np.random.default_rng([7, i]), method="l-bfgs-b", start="random", **LIMITED)
        assert fitted.loss == two.losses[i] == runs.losses[i]
        alloc = allocate(ARCH, fitted.params, problem)
        error = vectors.T @ (fitted.coefficients - problem.target)
        squares.append(error**2 / (error @ error))
        bounds.append((1 - alloc.per_eigenvector) / (16 - alloc.total))
    assert two.eigenvectors.errors.mean == pytest.approx(np.mean(squares, axis=0), abs=1e-9)
    assert two.eigenvectors.bounds.mean == pytest.approx(np.mean(bounds, axis=0), abs=1e-9)
    assert two.eigenvectors.errors.deviation == pytest.approx(np.std(squares, axis=0, ddof=1), abs=1e-9)


def test_shares_sum_to_one_and_statistics_are_within_their_ranges(runs):
    for basis in (runs.inputs, runs.eigenvectors):
        assert basis.errors.mean.sum() == pytest.approx(1) and basis.bounds.mean.sum() == pytest.approx(1)
        assert 0 < basis.distance < 1 and basis.uncertainty["distance"] > 0
        assert all(np.diff(quantiles).min() >= 0 for quantiles in basis.isotropic.values())
    assert runs.exists and runs.resolved
    assert runs.follows()["distance_ratio"] == pytest.approx(runs.eigenvectors.distance / runs.inputs.distance)


def test_isotropic_errors_follow_the_bound():
    """Eq. 6: over independent errors in 𝒦^⊥ the distance vanishes like one over the root of their number."""
    rng = np.random.default_rng(0)
    alloc = allocate(ARCH, fit(ARCH, PowerLaw()).params, PowerLaw())
    free = complement(alloc.space)
    distances = []
    for n in (40, 4000):
        errors = rng.normal(size=(n, free.shape[1])) @ free.T
        compared = along_basis(errors, [free] * n, np.eye(16), rng, n_draws=2) if n < 100 else None
        shares = np.square(errors)
        mean = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
        bound = (1 - alloc.per_input) / (16 - alloc.total)
        distances.append(0.5 * np.abs(mean - bound).sum())
        if compared:
            assert compared.distance == pytest.approx(distances[-1])
    assert distances[1] < distances[0] / 3


def test_at_full_capacity_there_is_nothing_to_compare_and_no_nan():
    full = many_runs(Hierarchical(channels=4, n_layers=3), FractionalGaussianNoise(), 2, **LIMITED)
    assert set(full.totals) == {8}
    assert full.follows() == {"distance_inputs": 0, "distance_eigenvectors": 0, "distance_ratio": 1}
    assert np.isfinite(list(full.stability().values())).all()


CASES = [(order, method) for order in ("tiled", "repeated") for method in ("l-bfgs-b", "gauss-newton")]


each_run = pytest.mark.parametrize(("order", "method"), CASES)


@pytest.fixture(scope="module")
def values():
    return open_result("stopped_stacks")["values"]


@each_run
def test_a_run_stops_where_it_first_reaches_a_level(values, order, method):
    """The three earliest stops of each run, made again; longer runs part with the processor's arithmetic."""
    stack = stopped_stacks.stacks()[order]
    problem, stops = Problem.of(stack, PowerLaw()), values["stacks"][order]["runs"][method]
    for known in stops[:3]:
        run = stopped_stacks.stop(stack, problem, stopped_stacks.SETTINGS, method, known["iterations"])
        result = stopped_stacks.look(stack, problem, run)
        assert result["iterations"] == known["iterations"] and result["total"] == known["total"]
        assert result["loss"] == pytest.approx(known["loss"], rel=0.01)
        assert np.allclose(result["per_input"], known["per_input"], atol=2e-3)
        passed = [level for level in values["levels"] if level < run.history[-2]]
        assert known["loss"] <= 1.005 * passed[0], "the iteration before had not reached this level"


@each_run
def test_stored_profiles_obey_the_laws(values, order, method):
    stack = values["stacks"][order]
    for before, after in zip(stack["runs"][method], stack["runs"][method][1:], strict=False):
        assert after["iterations"] > before["iterations"] and after["loss"] <= before["loss"]
    for stop in stack["runs"][method]:
        assert sum(stop["per_input"]) == pytest.approx(stop["total"], abs=0.01)
        assert stop["total"] <= stack["total"] and min(stop["per_input"]) >= 0 and max(stop["per_input"]) <= 1
        assert 0 <= stop["excess"] <= 1
        assert stop["excess"] == 0 or not stop["converged"], "at an optimum no error is beyond its limit"


def test_the_excess_is_what_lies_beyond_the_limit_at_each_input():
    """By the projector onto 𝒦, input by input; and nothing at an optimum."""
    stack = Hierarchical(1, dilations=[1, 2, 4, 8])
    problem = Problem.of(stack, PowerLaw())
    settings = stopped_stacks.SETTINGS | {"seed": 1}
    early, late = (stopped_stacks.stop(stack, problem, settings, "gauss-newton", most) for most in (3, 500))
    error, k = early.coefficients - problem.target, allocate(stack, early.params, problem).space.basis
    beyond = [x**2 - (1 - row @ row) * (error @ error) for x, row in zip(error, k, strict=True)]
    share = sum(excess for excess in beyond if excess > 0) / (error @ error)
    assert share > 0.01
    assert stopped_stacks.look(stack, problem, early)["excess"] == pytest.approx(share, abs=1e-4)
    assert stopped_stacks.look(stack, problem, late)["excess"] == 0 and late.converged


PAPER = Hierarchical(channels=4, n_layers=6)


SMALL = experiment.SETTINGS | experiment.QUICK


@pytest.fixture(scope="module")
def stopping():
    return study.StoppingExperiment.load()


def agrees(live: Runs, stopping: Runs, n_errors: float = 4.0) -> bool:
    """Whether two sets of runs agree within sampling error: distances and spread ratios within ``n_errors`` of it.

    On the same kind of processor the same runs are equal to the last digit stored; elsewhere each set is a sample.
    """
    pairs = [(live.inputs, stopping.inputs), (live.eigenvectors, stopping.eigenvectors)]
    gaps = [
        abs(getattr(a, name) - getattr(b, name))
        - n_errors * (a.uncertainty[name] ** 2 + b.uncertainty[name] ** 2) ** 0.5
        for a, b in pairs
        for name in ("distance", "spread_ratio")
    ]
    return max(gaps) <= 1e-5


def test_more_iterations_never_raise_the_loss(stopping):
    losses = np.array([runs.losses for runs in stopping.by_stop.values()])
    assert np.all(np.diff(losses, axis=0) <= 0)


def test_a_small_experiment_is_run_saved_and_read(tmp_path):
    path = tmp_path / "small.json"
    results.save(path, "a test", experiment.run, SMALL, experiment.run(SMALL))
    result = study.StoppingExperiment.load(path)
    assert list(result.by_stop) == [5, 10] and len(result.families) == 5
    assert result.paper(Hierarchical(channels=4, n_layers=3), PowerLaw(), 10) is result.by_stop[10]


def test_stationary_errors_keep_their_limit_and_stopped_ones_do_not(stopping):
    """x_i² ≤ (1 − κ_i)‖X‖² follows from KᵀX = 0 alone (paper 1, section 3.3)."""
    assert study.beyond_limit(many_runs(PAPER, PowerLaw(), 2, method="gauss-newton")).size == 0
    assert 63 in study.beyond_limit(stopping.by_stop[2000])


@pytest.fixture(scope="module")
def errors():
    return PredictionErrors.of(survey.case(Hierarchical(channels=2, n_layers=6), PowerLaw()))


def test_both_autocorrelations_start_at_one_and_the_model_s_obeys_its_own_recursion(errors):
    assert errors.autocorrelation[0] == errors.model_autocorrelation[0] == 1
    assert errors.autocorrelation_error[0] == 0
    c = errors.model_autocorrelation
    predicted = [errors.model @ c[np.abs(k - 1 - np.arange(64))] for k in range(1, 65)]
    assert c[1:] == pytest.approx(predicted, abs=1e-10)


def test_the_ratio_is_that_of_root_mean_squares_over_the_registered_lags(errors):
    error = errors.autocorrelation_error
    ratio = np.linalg.norm(error[1:9]) / np.sqrt(8) / (np.linalg.norm(error[33:65]) / np.sqrt(32))
    assert errors.short_long_ratio() == pytest.approx(ratio)


def test_a_target_that_is_attained_has_no_errors_to_speak_of(errors):
    assert errors.exists
    assert not PredictionErrors.of(survey.case(Hierarchical(channels=2, n_layers=4), AR1())).exists
    nothing = PredictionErrors(np.ones(4), np.ones(4), np.ones(5), np.ones(5), False)
    assert nothing.short_long_ratio() == 1


@pytest.fixture(scope="module")
def case():
    return survey.case(Hierarchical(channels=1, n_layers=6), PowerLaw())


def test_they_are_the_rank_correlations_of_the_registry(case):
    size, error = np.abs(case.problem.target), np.abs(case.error)
    result = forces(case)
    assert result.exists
    assert result.capacity == pytest.approx(spearmanr(size, case.allocation.per_input).statistic)
    assert result.outcome == pytest.approx(spearmanr(size, error).statistic)


def test_both_forces_are_felt_where_they_are_put(case, rng):
    """An error that is target size over capacity, in ranks: difficulty must come out positive whatever the outcome."""
    size, capacity = np.abs(case.problem.target), case.allocation.per_input
    error = size**0.5 / (capacity + 1e-3) ** 4
    coefficients = case.problem.target + error * rng.choice([-1, 1], size.size)
    made = case._replace(fit=dataclasses.replace(case.fit, coefficients=coefficients))
    assert forces(made).outcome < -0.5 < 0.3 < forces(made).difficulty


def test_all_values_must_pass_their_own_test():
    check = load()["P1.23"].check("ratio_inputs")
    bound = check.test.bound
    assert check.test.holds(bound) and not check.test.holds(bound + 1e-6)
    assert passes("P1.23", ratio_inputs=bound, ratio_eigenvectors=bound)
    assert not passes("P1.23", ratio_inputs=bound, ratio_eigenvectors=bound + 1e-6)
