"""What becomes of layers in training, and the stored experiment about it."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from chapters.spectra import layer_outcomes as study
from chapters.spectra import layer_spectra as layers
from chapters.spectra.trained_networks import Snapshot, Training
from chapters.stored import stored


def test_what_becomes_of_a_layer():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(40, 40))
    heavy = noise * (1 + rng.pareto(1.0, size=(40, 1)))
    shots = [Snapshot(0, {"layer1": noise}, 0.5, 0.4), Snapshot(3, {"layer1": heavy}, 0.9, 0.8)]
    (row,) = study.outcomes({"heavy": shots}, 7).to_dict("records")
    before, after = (layers.analysed(shot.weights).spectra[0] for shot in shots)
    assert (row["start"], row["alpha"], row["spikes"]) == (before.alpha, after.alpha, after.n_spikes)
    assert row["moved"] == pytest.approx(np.sqrt(((heavy - noise) ** 2).sum() / (noise**2).sum()))
    assert (row["network"], row["seed"], row["layer"], row["shape"], row["test"]) == (
        "heavy",
        7,
        "layer1",
        (40, 40),
        0.8,
    )
    still = study.outcomes({"still": shots[:1]}, 0)
    assert still["moved"].item() == 0 and still["alpha"].item() == still["start"].item()


@pytest.fixture(scope="module")
def content():
    return {"settings": study.QUICK, "values": json.loads(json.dumps(study.run(study.QUICK)))}


def test_what_was_stored_comes_back_as_it_was(content):
    training = {"one": Training(32, 2, epochs=1, seed=4)}
    pd.testing.assert_frame_equal(study.stored_outcomes(content, training, 4), study.trained_outcomes(training, 4))


@pytest.mark.parametrize("change", [{"epochs": 2}, {"noise": 1.0}, {"decay": 0.1}, {"seed": 3}, {"width": 33}])
def test_other_networks_are_not_taken_for_stored_ones(content, change):
    training = Training(32, 2, epochs=1, seed=4)
    assert study.stored_outcomes(content, {"one": replace(training, **change)}, 4) is None
    assert study.stored_outcomes(content, {"another": training}, 4) is None
    assert study.stored_outcomes(content, {"one": replace(training, seed=5)}, 5) is None


def test_the_stored_experiment_is_the_chapters_and_can_be_repeated():
    content = stored("layer_seeds")
    trainings = layers.networks(256, 60, 1.0, 1e-2, seed=2)
    found = study.stored_outcomes(content, trainings, 2)
    assert list(dict.fromkeys(found["network"])) == list(trainings) and len(found) == 12
    name = "a quarter as wide"
    again = study.trained_outcomes({name: trainings[name]}, 2)
    then = found[found["network"] == name].reset_index(drop=True)
    assert (again[["layer", "shape", "seed"]] == then[["layer", "shape", "seed"]]).all(axis=None)
    for column, within in {"start": 1e-6, "alpha": 0.05, "moved": 0.01, "test": 0.01}.items():
        np.testing.assert_allclose(again[column], then[column], atol=within)  # processors round sums differently
