"""Where runs stop, errors of predictions, the two forces behind them, and limits read from the registry."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import spearmanr

from capcore import AR1, DampedCosine, FromAutocovariance, Hierarchical, PowerLaw
from chapters.claims import ClaimsError, load
from chapters.hierarchical_errors import experiment, study
from chapters.hierarchical_errors.runs import Runs, many_runs
from chapters.hierarchical_errors.study import PredictionErrors, forces, forces_across, passes, relative_to
from chapters.kit import stored as results
from chapters.shared import survey

PAPER = Hierarchical(channels=4, n_layers=6)
SMALL = experiment.SETTINGS | experiment.QUICK


@pytest.fixture(scope="module")
def stored():
    return study.StoppingExperiment.load()


def test_the_settings_are_those_of_the_registry(stored):
    assert stored.settings == experiment.SETTINGS
    assert all(runs.n_runs == 30 for runs in stored.by_stop.values()) and 2000 in stored.by_stop
    assert all(runs.n_runs == 10 and runs.max_iterations == 300 for runs in stored.families.values())
    assert stored.settings["ftol"] == 1e-12


def agrees(live: Runs, stored: Runs, n_errors: float = 4.0) -> bool:
    """Whether two sets of runs agree within sampling error: distances and spread ratios within ``n_errors`` of it.

    On the same kind of processor the same runs are equal to the last digit stored; elsewhere each set is a sample.
    """
    pairs = [(live.inputs, stored.inputs), (live.eigenvectors, stored.eigenvectors)]
    gaps = [
        abs(getattr(a, name) - getattr(b, name))
        - n_errors * (a.uncertainty[name] ** 2 + b.uncertainty[name] ** 2) ** 0.5
        for a, b in pairs
        for name in ("distance", "spread_ratio")
    ]
    return max(gaps) <= 1e-5


@pytest.mark.slow
def test_runs_made_again_agree_with_the_stored_ones(stored):
    """The overlap: the ten power-law runs of 300 iterations. Equal on the same kind of processor, else within error."""
    live = many_runs(PAPER, PowerLaw(), 10, max_iterations=300, ftol=1e-12)
    assert agrees(live, stored.families["PowerLaw"])
    assert np.median(live.losses) == pytest.approx(np.median(stored.families["PowerLaw"].losses), rel=1.0)


def test_the_first_runs_of_the_longer_set_are_those_of_the_shorter(stored):
    assert stored.by_stop[300].losses[:10] == pytest.approx(stored.families["PowerLaw"].losses)


def test_more_iterations_never_raise_the_loss(stored):
    losses = np.array([runs.losses for runs in stored.by_stop.values()])
    assert np.all(np.diff(losses, axis=0) <= 0)


def test_only_the_stored_model_and_process_are_looked_up(stored):
    assert stored.paper(PAPER, PowerLaw(), 2000) is stored.by_stop[2000]
    assert stored.paper(PAPER, AR1(), 2000) is None
    assert stored.paper(PAPER, PowerLaw(0.7), 2000) is None
    assert stored.paper(Hierarchical(channels=3, n_layers=6), PowerLaw(), 2000) is None
    assert stored.paper(PAPER, PowerLaw(), 77) is None


def test_a_small_experiment_is_run_saved_and_read(tmp_path):
    path = tmp_path / "small.json"
    results.save(path, "a test", experiment.run, SMALL, experiment.run(SMALL))
    found = study.StoppingExperiment.load(path)
    assert list(found.by_stop) == [5, 10] and len(found.families) == 5
    assert found.paper(Hierarchical(channels=2, n_layers=3), PowerLaw(), 10) is found.by_stop[10]


def test_different_runs_do_not_agree(stored):
    runs = stored.families["PowerLaw"]
    errors = dataclasses.replace(runs.inputs.errors, mean=np.roll(runs.inputs.bounds.mean, 1))
    shifted = dataclasses.replace(runs, inputs=dataclasses.replace(runs.inputs, errors=errors))
    assert not agrees(shifted, runs)


def test_stationary_errors_keep_their_limit_and_stopped_ones_do_not(stored):
    """x_i² ≤ (1 − κ_i)‖X‖² follows from KᵀX = 0 alone (paper 1, section 3.3)."""
    assert study.beyond_limit(many_runs(PAPER, PowerLaw(), 2, method="gauss-newton")).size == 0
    assert 63 in study.beyond_limit(stored.by_stop[2000])


@pytest.fixture(scope="module")
def errors():
    return PredictionErrors.of(survey.case(Hierarchical(channels=2, n_layers=6), PowerLaw()))


def test_both_autocorrelations_start_at_one_and_the_model_s_obeys_its_own_recursion(errors):
    assert errors.autocorrelation[0] == errors.model_autocorrelation[0] == 1
    assert errors.autocorrelation_error[0] == 0
    c = errors.model_autocorrelation
    predicted = [errors.model @ c[np.abs(k - 1 - np.arange(64))] for k in range(1, 65)]
    assert c[1:] == pytest.approx(predicted, abs=1e-10)


def test_the_predictor_of_the_model_s_autocorrelation_is_the_model(errors):
    target, _ = FromAutocovariance(errors.model_autocorrelation).predictor(64)
    assert target == pytest.approx(errors.model, abs=1e-8)


def test_the_ratio_is_that_of_root_mean_squares_over_the_registered_lags(errors):
    error = errors.autocorrelation_error
    ratio = np.linalg.norm(error[1:9]) / np.sqrt(8) / (np.linalg.norm(error[33:65]) / np.sqrt(32))
    assert errors.short_long_ratio() == pytest.approx(ratio)


def test_a_target_that_is_attained_has_no_errors_to_speak_of(errors):
    assert errors.exists
    assert not PredictionErrors.of(survey.case(Hierarchical(channels=2, n_layers=4), AR1())).exists
    nothing = PredictionErrors(np.ones(4), np.ones(4), np.ones(5), np.ones(5), False)
    assert nothing.short_long_ratio() == 1


def test_relative_errors_have_gaps_where_the_truth_is_zero():
    assert relative_to(np.array([0.1, 0.2]), np.array([0.5, 0.0])) == pytest.approx([0.2, np.nan], nan_ok=True)


@pytest.fixture(scope="module")
def case():
    return survey.case(Hierarchical(channels=1, n_layers=6), PowerLaw())


def test_they_are_the_rank_correlations_of_the_registry(case):
    size, error = np.abs(case.problem.target), np.abs(case.error)
    found = forces(case)
    assert found.exists
    assert found.capacity == pytest.approx(spearmanr(size, case.allocation.per_input).statistic)
    assert found.outcome == pytest.approx(spearmanr(size, error).statistic)


def test_both_forces_are_felt_where_they_are_put(case, rng):
    """An error that is target size over capacity, in ranks: difficulty must come out positive whatever the outcome."""
    size, capacity = np.abs(case.problem.target), case.allocation.per_input
    error = size**0.5 / (capacity + 1e-3) ** 4
    coefficients = case.problem.target + error * rng.choice([-1, 1], size.size)
    made = dataclasses.replace(case, fit=dataclasses.replace(case.fit, coefficients=coefficients))
    assert forces(made).outcome < -0.5 < 0.3 < forces(made).difficulty


def test_a_target_that_is_attained_has_only_the_first_force():
    found = forces(survey.case(Hierarchical(channels=2, n_layers=4), AR1()))
    assert not found.exists and np.isnan(found.difficulty) and -1 <= found.capacity <= 1


def test_every_family_and_model_is_there():
    archs = {"c = 1": Hierarchical(1, 4), "c = 2": Hierarchical(2, 4)}
    across = forces_across(archs)
    assert {len(row) for row in across.values()} == {2}
    assert across["DampedCosine"][0] == forces(survey.case(archs["c = 1"], DampedCosine()))


def test_all_values_must_pass_their_own_test():
    check = load()["P1.23"].check("ratio_inputs")
    bound = check.test.bound
    assert check.test.holds(bound) and not check.test.holds(bound + 1e-6)
    assert passes("P1.23", ratio_inputs=bound, ratio_eigenvectors=bound)
    assert not passes("P1.23", ratio_inputs=bound, ratio_eigenvectors=bound + 1e-6)


def test_unknown_names_are_refused():
    with pytest.raises(ClaimsError, match="ratio_inputs"):
        passes("P1.23", ratio_input=0.1)
    with pytest.raises(ClaimsError, match=r"P1\.99"):
        passes("P1.99", x=0.1)
