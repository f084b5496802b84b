"""Where L-BFGS-B stops: the stored experiment, runs made now, and which of them a notebook judges."""

from types import SimpleNamespace

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.fitting.optimum import fit
from capcore.processes import AR1, PowerLaw
from chapters.gaussian_prediction.study import models_by_channels
from chapters.hierarchical.lbfgs_sweep import (
    QUICK,
    describes,
    iterations_to,
    nudged_losses,
    registered_large_runs,
    registered_stops,
    run,
    speedup,
)
from chapters.hierarchical.study import sweep
from chapters.kit.stored import stored

PAIR = models_by_channels([8, 64], 6)
WELL_CONDITIONED = [1, 32, 64]
REDUCED = {
    "channels": WELL_CONDITIONED,
    "nudged_channels": [],
    "families": [],
    "seeds": [0],
    "large_channels": 8,
    "large_max_iterations": 5,
}


@pytest.fixture(scope="module")
def content():
    return stored("lbfgs_sweep")


def test_every_seed_and_size_is_there(content):
    settings, values = content["settings"], content["values"]
    assert [int(c) for c in values["losses"]] == settings["channels"]
    assert all(len(losses) == len(settings["seeds"]) for losses in values["losses"].values())
    assert set(values["families"]) == set(settings["families"])
    assert len(values["speedup"]) == len(settings["seeds"])


def test_a_nudge_of_nothing_is_the_start_itself():
    arch = Hierarchical(2, 4)
    losses = nudged_losses(arch, PowerLaw(), 2, seed=1, max_iterations=30)
    start = arch.init(np.random.default_rng(1))
    assert losses[0] == fit(arch, PowerLaw(), method="l-bfgs-b", start=start, max_iterations=30).loss
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)  # after 30 iterations the paths have not yet parted


@pytest.mark.parametrize(("channels", "most"), [(2, 0.1), (4, 0.02), (16, 0.02)])
def test_rounding_errors_make_little_difference_on_a_path_as_short_as_that_of_wide_models(content, channels, most):
    """On other kinds of processor up to 2 per cent at two channels, and 0.2 at the others."""
    short = content["values"]["iterations"]["32"][0]
    losses = nudged_losses(Hierarchical(channels, 6), PowerLaw(), 9, max_iterations=short)
    assert max(losses) / min(losses) < 1 + most


def test_the_speedup_compares_iterations_to_the_same_loss():
    narrow, wide = (fit(Hierarchical(c, 4), PowerLaw(), method="l-bfgs-b", max_iterations=40) for c in (1, 16))
    reached = np.flatnonzero(wide.history <= narrow.loss)[0]
    assert speedup(narrow, wide) == pytest.approx(narrow.n_iterations / reached)
    assert speedup(wide, narrow) <= wide.n_iterations / narrow.n_iterations  # never reached: counted as one more


def test_a_reduced_run_has_all_parts():
    found = run(QUICK)
    assert set(found) == {
        "losses", "iterations", "free", "nudged", "families", "benchmark", "speedup", "large",
    }  # fmt: skip
    assert len(found["speedup"]) == 1
    assert set(found["families"]["AR1"]) == {"1", "2"}


def test_a_model_that_starts_at_the_loss_counts_one_iteration():
    narrow = SimpleNamespace(n_iterations=7, loss=1.0)
    assert speedup(narrow, SimpleNamespace(history=[0.5, 0.1])) == 7


def test_iterations_to_a_loss():
    assert iterations_to([4.0, 2.0, 1.0], 4.0) == 0
    assert iterations_to([4.0, 2.0, 1.0], 1.0) == 2


def test_stored_results_describe_one_process_and_one_shape():
    settings = {"n_layers": 6, "kernel_size": 2}
    assert describes(settings, Hierarchical(4, 6), PowerLaw(0.5))
    assert describes(settings, Hierarchical(4, 6), PowerLaw(0.5), channels=4)
    assert not describes(settings, Hierarchical(4, 6), PowerLaw(0.5), channels=5)
    assert not describes(settings, Hierarchical(4, 6), PowerLaw(0.6))
    assert not describes(settings, Hierarchical(4, 6), AR1())
    assert not describes(settings, Hierarchical(4, 5), PowerLaw(0.5))
    assert not describes(settings, Hierarchical(4, 6, dilations=[1, 2, 4, 1, 2, 4]), PowerLaw(0.5))


def test_the_large_runs_are_made_now_for_another_model(content):
    found = registered_large_runs(content, Hierarchical(2, 3), PowerLaw())
    assert list(found) == ["l-bfgs-b", "gauss-newton"]
    assert all(run["n_params"] == Hierarchical(2, 3).n_params and run["seconds"] > 0 for run in found.values())
    assert len(found["l-bfgs-b"]["history"]) <= content["settings"]["large_max_iterations"] + 1
    assert registered_large_runs(content, Hierarchical(512, 6), PowerLaw()) is content["values"]["large"]


def live_sweep(channels, process=None, max_iterations=3):
    """A sweep over the paper's widths, stopped at once: only its models matter here."""
    models = models_by_channels(channels, 6)
    options = {"method": "l-bfgs-b", "max_iterations": max_iterations, "ftol": 1e-12}
    return sweep(models, process or PowerLaw(), **options), options


def test_registered_stops_are_the_stored_ones_for_the_registered_models(content):
    live, _ = live_sweep(content["settings"]["channels"])
    options = {"max_iterations": content["settings"]["max_iterations"], "ftol": 1e-12, "method": "l-bfgs-b"}
    judged = registered_stops(content, live, 1.0, PAIR, PowerLaw(), 0, **options)
    assert judged.is_stored
    assert judged.loss.tolist() == [losses[0] for losses in content["values"]["losses"].values()]
    assert judged.benchmark == content["values"]["benchmark"][0]
    assert judged.speedup == content["values"]["speedup"][0]
    assert len(judged.tenfold) == 5
    other = registered_stops(content, live, 1.0, PAIR, PowerLaw(), 1, **options)
    assert other.loss.tolist() == [losses[1] for losses in content["values"]["losses"].values()]


@pytest.mark.parametrize(
    ("channels", "process"), [([1, 2], None), ([1, 2, 4, 8, 16, 32, 64, 128, 255], None), ([1], AR1())]
)
def test_registered_stops_are_made_now_for_anything_else(content, channels, process):
    live, options = live_sweep(channels, process)
    pair = models_by_channels([1, 2], 3)
    judged = registered_stops(content, live, 0.5, pair, process or PowerLaw(), 0, **options)
    assert not judged.is_stored
    assert np.array_equal(judged.loss, live.loss)
    assert judged.benchmark == 0.5
    assert judged.speedup > 0
    assert len(judged.tenfold) == 5
