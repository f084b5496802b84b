"""The long experiment's file agrees with its code, and with the same runs made again where that is cheap."""

import dataclasses

import numpy as np
import pytest

from capcore import AR1, DampedCosine, Hierarchical, PowerLaw
from chapters import stored as results
from chapters.hierarchical_errors import lbfgs_stopping, stopping
from chapters.hierarchical_errors.runs import many_runs

PAPER = Hierarchical(channels=4, n_layers=6)
SMALL = lbfgs_stopping.SETTINGS | lbfgs_stopping.QUICK


@pytest.fixture(scope="module")
def stored():
    return stopping.StoppingExperiment.load()


def test_the_settings_are_those_of_the_registry(stored):
    assert stored.settings == lbfgs_stopping.SETTINGS
    assert all(runs.n_runs == 30 for runs in stored.by_stop.values()) and 2000 in stored.by_stop
    assert all(runs.n_runs == 10 and runs.max_iterations == 300 for runs in stored.families.values())
    assert stored.settings["ftol"] == 1e-12


def test_runs_made_again_agree_with_the_stored_ones(stored):
    """The overlap: the ten power-law runs of 300 iterations. Equal on the same kind of processor, else within error."""
    live = many_runs(PAPER, PowerLaw(), 10, max_iterations=300, ftol=1e-12)
    assert stopping.agrees(live, stored.families["PowerLaw"])
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


def test_the_overlap_is_that_of_the_family(stored):
    assert stored.overlap(PAPER, PowerLaw(), 300) is stored.families["PowerLaw"]
    assert stored.overlap(PAPER, DampedCosine(), 300) is stored.families["DampedCosine"]
    assert stored.overlap(PAPER, DampedCosine(period=9.0), 300) is None
    assert stored.overlap(PAPER, PowerLaw(), 301) is None
    assert stored.overlap(Hierarchical(channels=1, n_layers=6), PowerLaw(), 300) is None


def test_a_small_experiment_is_run_saved_and_read(tmp_path):
    path = tmp_path / "small.json"
    results.save(path, "a test", lbfgs_stopping.run, SMALL, lambda: lbfgs_stopping.run(SMALL))
    found = stopping.StoppingExperiment.load(path)
    assert list(found.by_stop) == [5, 10] and len(found.families) == 5
    assert found.paper(Hierarchical(channels=2, n_layers=3), PowerLaw(), 10) is found.by_stop[10]


def test_different_runs_do_not_agree(stored):
    runs = stored.families["PowerLaw"]
    errors = dataclasses.replace(runs.inputs.errors, mean=np.roll(runs.inputs.bounds.mean, 1))
    shifted = dataclasses.replace(runs, inputs=dataclasses.replace(runs.inputs, errors=errors))
    assert not stopping.agrees(shifted, runs)


def test_stationary_errors_keep_their_limit_and_stopped_ones_do_not(stored):
    """x_i² ≤ (1 − κ_i)‖X‖² follows from KᵀX = 0 alone (paper 1, section 3.3)."""
    assert stopping.beyond_limit(many_runs(PAPER, PowerLaw(), 2, method="gauss-newton")).size == 0
    assert 63 in stopping.beyond_limit(stored.by_stop[2000])
