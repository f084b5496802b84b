"""The experiment on the residual scale: its arms, the stored runs against runs made now, and its follow-up."""

import jax.numpy as jnp
import numpy as np
import pytest

from chapters.scaling_conjecture import experiment
from chapters.scaling_conjecture.experiment import SETTINGS, arms, run, search, train_arm
from chapters.scaling_conjecture.residual_delay import SETTINGS as DELAY
from chapters.scaling_conjecture.residual_delay import run as run_delay
from chapters.scaling_conjecture.residual_delay import steps_to_learn
from chapters.scaling_conjecture.study import loss_of
from chapters.scaling_conjecture.tasks import Task
from chapters.stored import stored

BRIEF = {**SETTINGS, "digits": {**SETTINGS["digits"], "n_steps": 4}, "seeds": [0, 1], "extensions": 0}


def leaves(values):
    return [values] if "best" in values else [leaf for each in values.values() for leaf in leaves(each)]


def test_every_arm_has_a_place_of_its_own():
    keys = [keys for keys, _, _ in arms()]
    assert len(set(keys)) == len(keys) == len(leaves(stored("residual_scale")["values"]))


@pytest.mark.slow
@pytest.mark.parametrize("task", experiment.TASKS)
def test_the_stored_runs_agree_with_runs_now(task):
    now = experiment.live_arm(task, "two-layer", 8, 0.5)
    then = stored("residual_scale")["values"][task]["two-layer"]["8"]["0.5"]
    assert now["rates"] == SETTINGS["rates"]
    # float32 on another processor: rounding of 1e-7 grows with the learning rate, over 160 or 200 steps
    assert experiment.largest_gap(now, then) < 0.05
    np.testing.assert_allclose(now["moved"]["start"], then["moved"]["start"], rtol=1e-3)
    assert "met" in experiment.comparison(now, then)


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
    task = experiment.make_task("digits", "relu", 300, -0.5)
    arm = train_arm("digits", task, {**BRIEF, "rates": [1e-3], "seeds": [0]})
    assert arm["best"] == [None] and arm["moved"]["start"] == [None] and loss_of(arm).tolist() == [np.inf]


def test_gaps_and_their_words():
    one = {"rates": [0.1, 0.2], "losses": [[1.0], [5.0]]}
    other = {"rates": [0.1, 0.2], "losses": [[1.2], [1.0]]}
    assert experiment.largest_gap(one, other) == pytest.approx(0.167)
    assert "missed within 5%" in experiment.comparison(one, other)
    assert experiment.comparison(one, None) == "there is no stored run with these settings"
    with pytest.raises(ValueError, match="task: found 'digit'"):
        experiment.make_task("digit", "relu", 2, 0.5)


def test_steps_until_the_loss_is_low():
    falling = np.r_[np.ones(20), np.zeros(20)]
    assert steps_to_learn(falling, 0.1) == 29  # nine zeros in the last ten
    assert steps_to_learn(np.ones(20), 0.1) is None


@pytest.mark.slow
def test_transport_at_scale_one_over_depth_is_learnt_late_as_stored():
    now = run_delay({**DELAY, "depths": [8], "rates": [6.4e-3], "n_steps": 900})["8"][0]
    then = stored("residual_delay")["values"]["8"][DELAY["rates"].index(6.4e-3)]
    assert all(200 < step < 900 for step in (*now, *then))  # when a plateau is left depends on rounding


# Gradient descent on w²/2 from 1 has the loss (1 − rate)^(2t)/2: the best rate is 1, rates above 2 diverge.
BOWL = Task(lambda key: 1.0, lambda w, batch: 0.5 * w**2, [np.zeros(4)], lambda w, x: (x, x), 0.5)


def find(rates, **options):
    return search(BOWL, rates, [0, 1], 10, optimiser="sgd", **options)


def test_a_grid_around_the_best_rate_is_not_extended():
    found = find([0.5, 1.0, 2.0])
    assert found.rates.tolist() == [0.5, 1.0, 2.0] and found.rates[found.best] == 1 and not found.at_edge


@pytest.mark.parametrize("rates", [[0.0625, 0.125], [4.0, 8.0]])
def test_a_grid_beside_it_is_extended_until_the_best_lies_inside(rates):
    found = find(rates, extensions=6)
    assert found.rates[found.best] == 1 and not found.at_edge
    assert np.allclose(np.diff(np.log2(found.rates)), 1)


def test_extensions_end():
    found = find([2.0**-9, 2.0**-8], extensions=2)
    assert found.rates.tolist() == [2.0**k for k in (-9, -8, -7, -6)] and found.at_edge


def test_nothing_is_extended_where_every_rate_diverges():
    steep = Task(lambda key: 1.0, lambda w, batch: jnp.exp(1e3 * w), [np.zeros(4)], lambda w, x: (x, x), 1.0)
    found = search(steep, [1.0, 2.0], [0], 10, optimiser="sgd")
    assert found.rates.tolist() == [1.0, 2.0] and np.isinf(found.losses).all()


def test_parameters_are_those_of_the_best_rate():
    assert np.allclose(find([0.5, 1.0, 2.0]).params, 0)


def test_rates_must_rise():
    with pytest.raises(ValueError, match=r"rates: found .*expected rising numbers"):
        find([1.0, 0.5])
