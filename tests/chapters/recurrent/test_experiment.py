"""Where L-BFGS-B stops on recurrent models: the stored runs against runs made now, and what they show."""

import numpy as np
import pytest

import capcore as cc
from capcore.processes import FAMILIES
from chapters.kit.stored import stored
from chapters.recurrent.experiment import QUICK, run, stops
from chapters.recurrent.study import recurrent_sweep


@pytest.fixture(scope="module")
def content():
    return stored("recurrent_lbfgs")


def test_more_channels_agree_to_an_order_of_magnitude(content):
    now, kept = stops(cc.PowerLaw(), {"channels": [8, 32], "seeds": [0, 1, 2]}), content["values"]["PowerLaw"]
    for c in ("8", "32"):
        assert abs(np.log10(np.median(now["losses"][c]) / np.median(kept["losses"][c]))) < 0.7
    assert [c in now["params"] for c in ("8", "32")] == [c in kept["params"] for c in ("8", "32")] == [True, False]


def test_every_family_size_and_seed_is_there(content):
    settings, values = content["settings"], content["values"]
    assert list(values) == settings["families"] == list(FAMILIES)
    for family in values.values():
        assert [int(c) for c in family["losses"]] == settings["channels"]
        assert all(len(losses) == len(settings["seeds"]) == 10 for losses in family["losses"].values())
        assert [len(each[0]) for each in family["params"].values()] == [3, 6, 12, 24]


def test_stored_parameters_have_the_stored_losses(content):
    values = content["values"]["PowerLaw"]
    for c, kept in values["params"].items():
        arch = cc.Recurrent(64, int(c))
        problem = cc.Problem.of(arch, cc.PowerLaw())
        for params, loss in zip(kept, values["losses"][c], strict=True):
            assert problem.loss(arch.coefficients(np.array(params))) == pytest.approx(loss, rel=1e-6)


def test_no_stop_is_below_the_best_optimum_which_is_monotone(content):
    best = recurrent_sweep(64, [1, 2, 4, 8], cc.PowerLaw())
    kept = content["values"]["PowerLaw"]["losses"]
    for c, loss in zip(best.channels, best.loss, strict=True):
        assert min(kept[str(c)]) >= loss * (1 - 1e-6)
    assert np.all(np.diff(best.loss) < 0)
    assert min(kept["8"]) > 1e3 * best.loss[-1]


def test_a_reduced_run_has_all_parts():
    found = run({**QUICK, "families": ["AR1"]})
    assert set(found) == {"AR1"} and set(found["AR1"]) == {"losses", "iterations", "params"}
    assert list(found["AR1"]["losses"]) == ["1", "16"] and list(found["AR1"]["params"]) == ["1"]
