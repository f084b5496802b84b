"""Small networks: what is stored is what the code gives, and what it says of time, labels and width."""

import numpy as np
import pytest

from chapters.double_descent import experiment
from chapters.double_descent.experiment import split
from chapters.double_descent.study import StoredDescent

pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def stored():
    return StoredDescent.load()


def test_the_stored_runs_have_the_settings_of_the_code(stored):
    assert stored.settings == experiment.SETTINGS
    steps, widths = experiment.SETTINGS["steps"], experiment.SETTINGS["widths"]
    shape = (len(steps["sizes"]), steps["n_trials"], len(steps["steps"]))
    assert all(np.array(stored.values["steps"][kind]["steps"]).shape == shape for kind in steps["labels"])
    assert stored.errors("test").shape == (len(widths["widths"]), widths["n_seeds"])


def test_more_steps_fit_better():
    settings = {"hidden": 32, "batch": 32, "learning_rate": 0.01}
    (few, many), after = experiment.training_errors(40, "right", 0, [2, 150], 3, settings)
    assert many < 0.1 < few and 0 <= after <= 1


def test_an_epoch_is_a_pass_over_the_sample():
    """Five epochs of 64 images in batches of 32 are ten steps."""
    settings = {"hidden": 8, "batch": 32, "learning_rate": 0.01}
    (errors, after) = experiment.training_errors(64, "right", 1, [10], 5, settings)
    assert errors[0] == after


def test_a_wide_network_meets_wrong_labels_and_a_narrow_one_does_not():
    data = split(40, "wrong", np.random.default_rng(0))
    narrow, wide = (experiment.width_errors(width, data, 0, 300) for width in (1, 64))
    assert wide["train"] < 1e-3 < 0.1 < narrow["train"]
    assert wide["train_wrong"] == 0 and 0 < wide["test_wrong"] < 1


def test_thresholds_are_read_off_means(stored):
    widths = stored.widths.tolist()
    assert stored.peak in widths and stored.first_within("train", -1.0) is None
    assert stored.first_within("train", np.inf) == widths[0]
    assert [each.sizes.tolist() for each in stored.by_steps("right", 0.05)] == [
        stored.settings["steps"]["sizes"]
    ] * len(stored.steps)
