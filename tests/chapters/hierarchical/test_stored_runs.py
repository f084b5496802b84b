"""Stored experiments stand in for runs made now only where they are of the same models, process and seed."""

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.processes import AR1, PowerLaw
from chapters.gaussian_prediction.study import models_by_channels
from chapters.hierarchical.stored_runs import (
    describes,
    large_runs,
    loss_ratios,
    nudge_ratios,
    nudge_statistics,
    registered_counts,
    registered_stops,
    start_statistics,
    tenfold_count,
)
from chapters.hierarchical.study import sweep
from chapters.stored import stored

PAIR = models_by_channels([8, 64], 6)


@pytest.fixture(scope="module")
def content():
    return stored("lbfgs_sweep")


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
    found = large_runs(content, Hierarchical(2, 3), PowerLaw())
    assert list(found) == ["l-bfgs-b", "gauss-newton"]
    assert all(run["n_params"] == Hierarchical(2, 3).n_params and run["seconds"] > 0 for run in found.values())
    assert len(found["l-bfgs-b"]["history"]) <= content["settings"]["large_max_iterations"] + 1
    assert large_runs(content, Hierarchical(512, 6), PowerLaw()) is content["values"]["large"]


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


def test_registered_counts_are_stored_or_made_now():
    content = stored("eigenvalue_counts")
    models = models_by_channels(content["settings"]["channels"], 6)
    assert registered_counts(content, models, PowerLaw()) is content["values"]
    assert registered_counts(content, models_by_channels([1], 3), PowerLaw())["right"].keys() == {"1 channel"}
    assert registered_counts(content, models, PowerLaw(), seed=1) is not content["values"]


def test_loss_ratios_are_the_worst_of_the_starts_where_there_is_a_loss():
    def case(reference, plain):
        return {"reference": [reference], "plain_loss": plain}

    values = {
        "PowerLaw": {"2": case(1e-5, [2e-5, 3e-5]), "3": case(1e-7, [1e-7, 1e-7])},
        "AR1": {"2": case(1e-30, [1e-29, 1e-29])},
    }
    ratios = loss_ratios(values, "plain")
    assert list(ratios) == [2, 3]
    assert ratios[2] == pytest.approx([3.0])
    assert ratios[3] == pytest.approx([1.0])


def test_nudges_are_relative_to_their_median():
    content = {"values": {"nudged": {"2": [1.0, 2.0, 8.0]}}}
    assert nudge_ratios(content)[2].tolist() == [0.5, 1.0, 4.0]


def nudged(**losses):
    """Stored content with these nudged losses; the runs have 100 c iterations."""
    return {"values": {"nudged": losses, "iterations": {c: [100 * int(c), 0] for c in losses}}}


def test_nudge_statistics_say_where_the_scatter_is():
    losses = {"2": [1.0, 1.2], "4": [1.0, 1.0], "8": [1.0, 6.0, 2.0], "16": [1.0, 1.001], "32": [1.0, 1.0]}
    found = nudge_statistics(nudged(**losses))
    assert (found["first"], found["last"], found["calm"]) == (2, 8, 16)
    assert (found["worst"], found["worst_channels"], found["milder"]) == (6.0, 8, 1.2)
    assert (found["worst_iterations"], found["calm_iterations"]) == (800, 1600)


@pytest.mark.parametrize("widest", [[1.0, 1.0], [1.0, 2.0]])
def test_without_a_scatter_or_an_end_of_it_there_are_none(widest):
    other = [1.0, 1.0] if widest[1] == 1 else [1.0, 2.0]
    with pytest.raises(ValueError, match="nudged: found factors"):
        nudge_statistics(nudged(**{"2": other, "4": widest}))


def test_pairs_are_counted_over_families_and_seeds():
    families = {"A": {"8": [10.0, 1.0], "64": [1.0, 1.0]}, "B": {"8": [99.0, 5.0], "64": [1.0, 0.5]}}
    assert tenfold_count({"values": {"families": families}}) == (3, 4)


def test_start_statistics_leave_out_one_channel_and_ar1():
    def case(gap, ratio):
        return {"reference": [1e-5], "rebalanced_gap": [gap, 0.0], "plain_loss": [1e-5, ratio * 1e-5]}

    values = {"PowerLaw": {"1": case(9.0, 9.0), "2": case(0.1, 1.0), "3": case(0.2, 2.0)}, "AR1": {"2": case(8.0, 1.0)}}
    values["AR1"]["2"]["reference"] = [1e-30]
    found = start_statistics(values)
    assert found["cases"] == found["nonzero"] == 2
    assert found["gap"] == 0.2
    assert found["stuck"] == 1
    assert found["worst"] == pytest.approx(2.0)
