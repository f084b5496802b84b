"""The experiment on the residual scale: its arms, the stored runs against runs made now, and its follow-up."""

import numpy as np
import pytest

from chapters.scaling_conjecture import live_arm as live
from chapters.scaling_conjecture.experiment import SETTINGS, arms, run, train_arm
from chapters.scaling_conjecture.residual_delay import SETTINGS as DELAY
from chapters.scaling_conjecture.residual_delay import run as run_delay
from chapters.scaling_conjecture.residual_delay import steps_to_learn
from chapters.scaling_conjecture.study import loss_of
from chapters.stored import stored

BRIEF = {**SETTINGS, "digits": {**SETTINGS["digits"], "n_steps": 4}, "seeds": [0, 1], "extensions": 0}


def leaves(values):
    return [values] if "best" in values else [leaf for each in values.values() for leaf in leaves(each)]


def test_every_arm_has_a_place_of_its_own():
    keys = [keys for keys, _, _ in arms()]
    assert len(set(keys)) == len(keys) == len(leaves(stored("residual_scale")["values"]))


@pytest.mark.slow
@pytest.mark.parametrize("task", live.TASKS)
def test_the_stored_runs_agree_with_runs_now(task):
    now = live.live_arm(task, "two-layer", 8, 0.5)
    then = stored("residual_scale")["values"][task]["two-layer"]["8"]["0.5"]
    assert now["rates"] == SETTINGS["rates"]
    # float32 on another processor: rounding of 1e-7 grows with the learning rate, over 160 or 200 steps
    assert live.largest_gap(now, then) < 0.05
    np.testing.assert_allclose(now["moved"]["start"], then["moved"]["start"], rtol=1e-3)
    assert "met" in live.comparison(now, then)


def test_the_best_rate_of_every_arm_that_learns_lies_inside_its_grid():
    content = stored("residual_scale")
    for arm in leaves(content["values"]):
        assert len(arm["best"]) == len(content["settings"]["seeds"])
        if np.median(loss_of(arm)) < 0.9:
            assert not arm["at_edge"] and arm["rates"][0] < arm["rate"] < arm["rates"][-1]


def test_scales_from_zero_start_at_the_identity_and_leave_it():
    for arm in stored("residual_scale")["values"]["zero_start"].values():
        assert arm["moved"]["start"] == [0.0, 0.0, 0.0] and min(arm["moved"]["trained"]) > 0.5


def test_arms_are_nested_by_their_keys():
    none = {"depths": [], "transport_depths": {}, "other_distances": {"n_layers": 8, "distances": []}}
    found = run({**BRIEF, **none, "zero_start": [2], "normalised": {"n_layers": 2, "exponents": [0.25]}})
    assert set(found) == {"normalised", "zero_start"} and len(leaves(found)) == 2
    assert found["zero_start"]["2"]["rates"] == SETTINGS["rates"]


def test_what_overflows_is_stored_as_nothing():
    task = live.make_task("digits", "relu", 300, -0.5)
    arm = train_arm("digits", task, {**BRIEF, "rates": [1e-3], "seeds": [0]})
    assert arm["best"] == [None] and arm["moved"]["start"] == [None] and loss_of(arm).tolist() == [np.inf]


def test_gaps_and_their_words():
    one = {"rates": [0.1, 0.2], "losses": [[1.0], [5.0]]}
    other = {"rates": [0.1, 0.2], "losses": [[1.2], [1.0]]}
    assert live.largest_gap(one, other) == pytest.approx(0.167)
    assert "missed within 5%" in live.comparison(one, other)
    assert live.comparison(one, None) == "there is no stored run with these settings"
    with pytest.raises(ValueError, match="task: found 'digit'"):
        live.make_task("digit", "relu", 2, 0.5)


def test_steps_until_the_loss_is_low():
    falling = np.r_[np.ones(20), np.zeros(20)]
    assert steps_to_learn(falling, 0.1) == 29  # nine zeros in the last ten
    assert steps_to_learn(np.ones(20), 0.1) is None


@pytest.mark.slow
def test_transport_at_scale_one_over_depth_is_learnt_late_as_stored():
    now = run_delay({**DELAY, "depths": [8], "rates": [6.4e-3], "n_steps": 900})["8"][0]
    then = stored("residual_delay")["values"]["8"][DELAY["rates"].index(6.4e-3)]
    assert all(200 < step < 900 for step in (*now, *then))  # when a plateau is left depends on rounding
