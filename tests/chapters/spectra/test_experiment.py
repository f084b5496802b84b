"""Small networks on digits: what is trained, on what, what becomes of layers; and the stored experiment about it."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.kit.stored import stored
from chapters.spectra import experiment
from chapters.spectra.experiment import Snapshot, Training, train_network, training_path, weights_of, wrong_labels
from tests.strategies import seeds

SMALL = Training(width=12, depth=2, epochs=4, rate=1e-2)


@given(seeds, st.integers(1, 200), st.floats(0, 0.99))
def test_exactly_the_share_of_labels_is_wrong(seed, n, noise):
    rng = np.random.default_rng(seed)
    labels = rng.integers(10, size=n)
    before = labels.copy()
    changed = wrong_labels(labels, noise, rng)
    assert (changed != labels).sum() == round(noise * n) and set(changed) <= set(range(10))
    np.testing.assert_array_equal(labels, before)


def test_shuffled_labels_are_the_same_labels():
    labels = np.repeat(np.arange(10), 20)
    shuffled = wrong_labels(labels, 1.0, np.random.default_rng(0))
    assert sorted(shuffled) == labels.tolist() and 0 < (shuffled == labels).mean() < 0.3


def test_wrong_labels_are_each_as_likely():
    changed = wrong_labels(np.zeros(9_000, int), 0.999, np.random.default_rng(0))
    counts = np.bincount(changed, minlength=10)[1:]
    assert abs(counts - 999).max() < 4 * np.sqrt(999)


def test_a_path_ends_where_the_training_does_and_begins_at_random():
    path = list(training_path(SMALL, [0, 1, 4]))
    end = train_network(SMALL)
    assert [each.epoch for each in path] == [0, 1, 4]
    for name, weights in end.weights.items():
        np.testing.assert_array_equal(path[-1].weights[name], weights)
    assert path[-1].train_accuracy == end.train_accuracy > 0.7 > 0.35 > path[0].train_accuracy
    bound = np.sqrt(6 / (64 + 12))  # uniform, as scikit-learn draws them
    assert 0.95 * bound < abs(path[0].weights["layer1"]).max() <= bound


def test_the_start_is_that_of_the_same_network():
    """An epoch at a rate of 1e-12 stays there."""
    slow = Training(width=12, depth=2, epochs=1, rate=1e-12)
    start, end = training_path(slow, [0, 1])
    for name, weights in end.weights.items():
        np.testing.assert_allclose(start.weights[name], weights, atol=1e-9)


def test_the_same_seed_gives_the_same_network_and_another_does_not():
    first, again = train_network(SMALL), train_network(SMALL)
    other = train_network(Training(**{**vars(SMALL), "seed": 1}))
    np.testing.assert_array_equal(first.weights["layer2"], again.weights["layer2"])
    assert not np.array_equal(first.weights["layer2"], other.weights["layer2"])


def test_weight_decay_shrinks_weights():
    plain, decayed = (train_network(Training(width=12, depth=1, epochs=30, rate=1e-2, decay=d)) for d in (0.0, 3.0))
    assert np.linalg.norm(decayed.weights["layer1"]) < 0.7 * np.linalg.norm(plain.weights["layer1"])


def test_weights_are_stored_out_by_in():
    class Network:
        coefs_ = (np.ones((3, 2)), np.zeros((2, 5)))

    assert {name: w.shape for name, w in weights_of(Network()).items()} == {"layer1": (2, 3), "layer2": (5, 2)}


@pytest.mark.parametrize(
    ("message", "values"),
    [
        ("width: found 0", {"width": 0}),
        ("decay: found -1.0, expected at least 0", {"decay": -1.0}),
        ("rate: found 0.0, expected more than 0", {"rate": 0.0}),
        ("noise: found 1.5, expected a share", {"noise": 1.5}),
        ("noise: found nan", {"noise": float("nan")}),
    ],
)
def test_trainings_that_make_no_sense(message, values):
    with pytest.raises(ValueError, match=message):
        Training(**values)


def test_what_becomes_of_a_layer():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(40, 40))
    heavy = noise * (1 + rng.pareto(1.0, size=(40, 1)))
    shots = [Snapshot(0, {"layer1": noise}, 0.5, 0.4), Snapshot(3, {"layer1": heavy}, 0.9, 0.8)]
    (row,) = experiment.outcomes({"heavy": shots}, 7).to_dict("records")
    before, after = (experiment.analysed(shot.weights).spectra[0] for shot in shots)
    assert (row["start"], row["alpha"], row["spikes"]) == (before.alpha, after.alpha, after.n_spikes)
    assert row["moved"] == pytest.approx(np.sqrt(((heavy - noise) ** 2).sum() / (noise**2).sum()))
    assert (row["network"], row["seed"], row["layer"], row["shape"], row["test"]) == (
        "heavy",
        7,
        "layer1",
        (40, 40),
        0.8,
    )
    still = experiment.outcomes({"still": shots[:1]}, 0)
    assert still["moved"].item() == 0 and still["alpha"].item() == still["start"].item()


@pytest.fixture(scope="module")
def content():
    return {"settings": experiment.QUICK, "values": json.loads(json.dumps(experiment.run(experiment.QUICK)))}


def test_what_was_stored_comes_back_as_it_was(content):
    training = {"one": Training(32, 2, epochs=1, seed=4)}
    pd.testing.assert_frame_equal(
        experiment.stored_outcomes(content, training, 4), experiment.trained_outcomes(training, 4)
    )


@pytest.mark.parametrize("change", [{"epochs": 2}, {"noise": 1.0}, {"decay": 0.1}, {"seed": 3}, {"width": 33}])
def test_other_networks_are_not_taken_for_stored_ones(content, change):
    training = Training(32, 2, epochs=1, seed=4)
    assert experiment.stored_outcomes(content, {"one": replace(training, **change)}, 4) is None
    assert experiment.stored_outcomes(content, {"another": training}, 4) is None
    assert experiment.stored_outcomes(content, {"one": replace(training, seed=5)}, 5) is None


def test_the_stored_experiment_is_the_chapters_and_can_be_repeated():
    content = stored("layer_seeds")
    trainings = experiment.networks(256, 60, 1.0, 1e-2, seed=2)
    found = experiment.stored_outcomes(content, trainings, 2)
    assert list(dict.fromkeys(found["network"])) == list(trainings) and len(found) == 12
    name = "a quarter as wide"
    again = experiment.trained_outcomes({name: trainings[name]}, 2)
    then = found[found["network"] == name].reset_index(drop=True)
    assert (again[["layer", "shape", "seed"]] == then[["layer", "shape", "seed"]]).all(axis=None)
    for column, within in {"start": 1e-6, "alpha": 0.05, "moved": 0.01, "test": 0.01}.items():
        np.testing.assert_allclose(again[column], then[column], atol=within)  # processors round sums differently
