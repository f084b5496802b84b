"""Measures along training: the stored experiment, the quick rank, and the rules that read the numbers."""

from pathlib import Path

import numpy as np
import pytest

from capcore.complexity import Network, random_network
from chapters.along_training import along_prose as prose
from chapters.along_training import along_summaries as summaries
from chapters.along_training import study
from chapters.along_training.stored_along import SETTINGS, Stored, has
from chapters.shared.geometric_intervals import geometric_interval

pytest.importorskip("sklearn")
PATH = Path(__file__).resolve().parents[3] / "notebooks" / "results" / "along_training.json"


@pytest.fixture(scope="module")
def stored():
    return Stored(PATH)


@pytest.fixture(scope="module")
def at():
    return study.places(SETTINGS["n_images"], SETTINGS["n_lines"])


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_the_stored_numbers_are_what_the_code_gives(stored, at, activation):
    """One seed, three epochs: rounding is magnified by training, here still by little. Ranks are whole numbers."""
    options = {name: SETTINGS[name] for name in ("width", "learning_rate", "error")}
    live = study.along_training(at, [3], [0, 1, 3], [1, 0, 0], activation, n_epochs=3, **options)
    for kind, table in live.items():
        for name, values in table.items():
            expected = stored.values[activation][kind][name][: len(values), 3]
            if name != "gap":  # a quotient by rounding errors
                np.testing.assert_allclose(values[:, 0], expected, rtol=1e-3, atol=1e-6, err_msg=name)
    assert stored.settings == SETTINGS


def test_what_is_stored_is_possible(stored):
    n_snapshots = len(SETTINGS["snapshots"])
    for activation, kinds in stored.values.items():
        for table in kinds.values():
            assert table["rank"].shape == (n_snapshots, 10) and table["test rank"].shape == (2, 10)
            for where in ("", "test "):
                ranks = [table[where + name] for name in ("rank", "limit", "ceiling", "bound")]
                assert np.all(np.diff(ranks, axis=0) >= 0) and np.all(table[where + "rank.seen"] < ranks[0])
            assert np.all((table["participation"] >= 1) & (table["participation"] <= table["rank"]))
            assert np.all(table["gap"] > 10)  # over a tolerance that allows for the rounding of the projection
            if activation == "relu":
                assert np.all(table["pieces"] <= table["patterns"])
        starts = [{n: v[0] for n, v in kinds[k].items() if n not in ("loss", "accuracy")} for k in study.KINDS]
        for name, value in starts[0].items():
            np.testing.assert_array_equal(value, starts[1][name])


def test_idle_units_and_unevenness():
    net = Network([np.ones((2, 3)), np.ones((3, 1))], [[0.0, 99.0, -99.0], [0.0]])
    assert study.idle_units(net, np.array([[1.0, 1.0], [-1.0, -1.0]])) == {"dead": 1, "never off": 1}
    assert study.unevenness(np.array([1.0, 3.0])) == 0.5


def test_geometric_intervals():
    mean, low, high = geometric_interval(np.array([[1.0, 10.0], [4.0, 10.0], [16.0, 10.0]]))
    np.testing.assert_allclose(mean, [4, 10])
    np.testing.assert_allclose([low[1], high[1]], 10)
    assert low[0] * high[0] == pytest.approx(16) and low[0] < 1  # symmetric in the logarithm
    with pytest.raises(ValueError, match="samples: found 1, expected at least 2"):
        geometric_interval([1.0])
    with pytest.raises(ValueError, match="samples: found 0, expected more than 0"):
        geometric_interval([1.0, 0.0])


def test_verdicts_are_about_the_interval():
    assert [summaries.verdict((1.0, *ends)) for ends in ((1.1, 2.0), (0.2, 0.9), (0.9, 1.1))] == ["up", "down", "level"]
    assert summaries.verdict((1.0, 1 + 1e-15, 1 + 1e-15)) == "level"


def test_equal_loss_interpolates_between_snapshots():
    """With a = loss^p along the way, a ratio at equal loss is the end over target^p."""
    losses, ends = np.array([2.0, 0.5, 0.1])[:, None] * np.ones(8), np.array([np.full(8, 2.0), np.full(8, 0.2)])
    kinds = {"right": {"loss": losses, "a": losses**-0.3}, "shuffled": {"loss": ends, "a": ends[:, :8] + 1}}
    found = summaries.equal_loss_ratio(kinds, "a")
    np.testing.assert_allclose(found, kinds["shuffled"]["a"][-1] * 0.2**0.3, rtol=1e-12)
    kinds["shuffled"]["loss"][-1] = 0.01
    with pytest.raises(ValueError, match=r"loss: found 0.01 of seed 0, expected one that falling losses"):
        summaries.equal_loss_ratio(kinds, "a")


def test_summaries_of_the_stored_experiment(stored):
    for activation, labels in (("relu", summaries.RELU), ("tanh", summaries.TANH)):
        kinds = stored.values[activation]
        assert len(summaries.overview(kinds, labels)) == len(labels)
        found = summaries.ratios(kinds, list(labels))
        assert set(found["labels"]) == set(labels) and "unevenness" not in found["equal loss"]
        assert all(low <= mean <= high for group in found.values() for mean, low, high in group.values())


def test_the_story_of_the_rank(stored):
    """Tanh: data and architecture decide it. ReLU: the sharper ceiling is near, the plain one not always."""
    tanh, relu = (summaries.short_of(stored.values, "limit", name) for name in ("tanh", "relu"))
    assert not tanh.any() and len(tanh) == len(relu) == 150
    assert len(np.unique([table["rank"] for table in stored.values["tanh"].values()])) == 1
    assert relu.max() <= 0.02 * 1450 and np.mean(relu == 0) > 0.5
    assert summaries.short_of(stored.values, "ceiling", "relu").max() > relu.max()


def test_what_the_chapter_says_of_relu(stored):
    kinds = stored.values["relu"]
    found = summaries.ratios(kinds, list(summaries.RELU))
    told = {group: {name: summaries.verdict(each) for name, each in values.items()} for group, values in found.items()}
    assert [list(told[kind].values()).count("up") for kind in study.KINDS] == [2, 7]  # a caption says so
    both = {name for name in summaries.RELU if told["right"][name] == told["shuffled"][name] == "up"}
    assert both == {"length", "logits"}
    assert {n for n in summaries.RELU if told["right"][n] == told["shuffled"][n] == "down"} == {"rank", "fisher"}
    opposite = {n for n in summaries.RELU if (told["right"][n], told["shuffled"][n]) == ("down", "up")}
    assert opposite == {"pieces", "patterns", "transitions", "probabilities"}
    assert {n for n, way in told["labels"].items() if way != "up"} == {"rank", "unevenness"}
    assert {n for n, way in told["equal loss"].items() if way != "up"} == {"rank", "fisher"}
    for place in ("boundary.ball", "boundary.near"):
        assert (told["right"][place], told["shuffled"][place]) == ("down", "level")
    at = [summaries.verdict(summaries.interval(summaries.labels_ratio(kinds, "rank", i))) for i in range(1, 8)]
    assert at == ["level", "down", "down", "level", "level", "level", "level"]


def test_what_the_chapter_says_of_tanh(stored):
    found = summaries.ratios(stored.values["tanh"], list(summaries.TANH))
    told = {name: summaries.verdict(each) for name, each in found["labels"].items()}
    assert told["rank"] == "level" and told["participation"] == "down"
    assert {told[name] for name in summaries.TANH if name not in ("rank", "participation")} == {"up"}
    assert summaries.verdict(found["right"]["probabilities"]) == "up"  # in ReLU networks it falls
    assert [summaries.verdict(found[kind]["curve"]) for kind in study.KINDS] == ["down", "up"]


def test_the_numbers_of_the_text(stored):
    found = prose.rank_prose(stored.values) | prose.boundary_prose(stored.values["relu"])
    found |= prose.measure_prose(stored.values, list(summaries.RELU))
    found |= prose.experiment_prose(stored.values, stored.settings)
    assert found["along_unseen_tanh"] == "20"  # 16 units, a bias, and three images set aside
    assert not any("nan" in value or not value for value in found.values())
    assert found["along_n_params"] == f"{random_network([64, 16, 16, 10], np.random.default_rng(0)).n_params:,}"
    sentences = [prose.live_prose(gap) for gap in (None, 1e-6, 0.5)]
    assert len(set(sentences)) == 3
    assert has([0, 9], width=16) and not has([10], width=16) and not has([0], width=8)
