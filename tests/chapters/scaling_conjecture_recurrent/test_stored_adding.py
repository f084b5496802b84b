"""The stored adding task: its form, what is read from it, and the stored runs against runs made now."""

import numpy as np
import pytest

pytest.importorskip("jax")

from chapters.scaling_conjecture_recurrent import recurrent_memory as trained
from chapters.scaling_conjecture_recurrent import stored_adding as study
from chapters.stored import stored


@pytest.fixture(scope="module")
def content():
    return stored("recurrent_memory")


def test_every_arm_is_there_and_has_a_name(content):
    assert content["settings"] == trained.SETTINGS
    for N in trained.SETTINGS["lengths"]:
        labels = [network.label for network in trained.networks(N)]
        assert set(content["values"]["arms"][str(N)]) == set(labels) == set(study.NAMES)
    assert len(set(study.NAMES.values())) == len(study.NAMES)


def test_the_best_rate_has_the_lowest_median_and_is_inside_the_grid_unless_it_says_so(content):
    for arms in content["values"]["arms"].values():
        for arm in arms.values():
            final = np.array([[np.inf if loss is None else loss for loss in row] for row in arm["final"]])
            assert np.argmin(np.median(final, axis=1)) == arm["best"]
            assert arm["at_edge"] == (arm["best"] in (0, len(arm["learning_rates"]) - 1))


def test_losses_are_relative_to_a_constant_answer(content):
    arm = content["values"]["arms"]["16"]["dense shared 1"]
    found = study.relative_losses(content, "dense shared 1", 16)
    np.testing.assert_allclose(found, 6 * np.array(arm["final"][arm["best"]]))
    assert study.median_loss(content, "dense shared 1", 16) == np.median(found)
    assert study.all_losses(content)["one dense, 1/N"][16] == found.tolist()
    assert study.curve(content, "dense shared 1", 16)[-1] == pytest.approx(found.mean(), rel=0.2)


@pytest.mark.parametrize(
    ("label", "arguments"), [("dense shared 0.5", ("dense", 0.5)), ("local fresh 1", ("local", 1.0, False))]
)
def test_stored_runs_agree_with_runs_now(content, label, arguments):
    """The first hundred steps: later, single precision on another processor may lead another way."""
    arm = content["values"]["arms"]["16"][label]
    network = trained.RecurrentNetwork(16, 32, *arguments)
    assert network.label == label
    now = trained.train_arm(network, [arm["learning_rates"][arm["best"]]], n_steps=trained.EARLY)
    np.testing.assert_allclose(now.losses[0].mean(axis=-1), arm["early"][arm["best"]], rtol=1e-3)


def test_intervals_cover_the_mean_as_often_as_they_say(rng):
    hits = [
        low < np.exp(0.3) < high for low, high in (study.interval(np.exp(rng.normal(0.3, 1, 3))) for _ in range(2000))
    ]
    assert np.mean(hits) == pytest.approx(0.95, abs=0.015)  # three standard errors
    assert study.interval([1.0, np.inf, 2.0]) == (0.0, np.inf)


def test_rates_at_the_edge_of_the_grid_are_marked():
    arm = {"learning_rates": [1e-3, 3e-3], "best": 1, "at_edge": True}
    fake = {"settings": {"lengths": [8]}, "values": {"arms": {"8": dict.fromkeys(study.NAMES, arm)}}}
    assert study.learning_rates(fake)["one dense, 1/N"] == {"N = 8": "0.003 (edge)"}
