"""What is read off the measures: ratios, verdicts, correlations, and what the chapter says of them."""

import numpy as np
import pytest

from chapters.along_training import study
from chapters.along_training.experiment import KINDS, SETTINGS, Stored, places, table
from chapters.effective_complexity.experiment import fit, trained
from chapters.shared.complexity import fisher_rao
from chapters.shared.rank_statistics import spearman

NAMES = list(study.RELU)


@pytest.fixture(scope="module")
def stored():
    return Stored()


@pytest.fixture(scope="module")
def relu(stored):
    return stored.values["relu"]


def made_up(rng, noise=0.05):
    """Tables of two snapshots and eight seeds: "a" and "b" follow each other, "c" goes its own way."""
    kinds = {}
    for kind, factor in (("right", 1.0), ("shuffled", 2.0)):
        a = np.exp(rng.normal(size=8))
        tables = {"a": a, "b": a * np.exp(noise * rng.normal(size=8)), "c": np.exp(rng.normal(size=8))}
        kinds[kind] = {name: np.stack([np.ones(8), factor * values]) for name, values in tables.items()}
        kinds[kind]["loss"] = np.stack([np.full(8, 2.0), np.full(8, 0.1 * factor)])
    return kinds


def verdicts(kinds, names):
    return {
        group: {name: study.verdict(each) for name, each in values.items()}
        for group, values in study.ratios(kinds, list(names)).items()
    }


def test_verdicts_are_about_the_interval():
    assert [study.verdict((1.0, *ends)) for ends in ((1.1, 2.0), (0.2, 0.9), (0.9, 1.1))] == ["up", "down", "level"]
    assert study.verdict((1.0, 1 + 1e-15, 1 + 1e-15)) == "level"


def test_equal_loss_interpolates_between_snapshots():
    """With a = loss^p along the way, a ratio at equal loss is the end over target^p."""
    losses, ends = np.array([2.0, 0.5, 0.1])[:, None] * np.ones(8), np.array([np.full(8, 2.0), np.full(8, 0.2)])
    kinds = {"right": {"loss": losses, "a": losses**-0.3}, "shuffled": {"loss": ends, "a": ends[:, :8] + 1}}
    found = study.equal_loss_ratio(kinds, "a")
    np.testing.assert_allclose(found, kinds["shuffled"]["a"][-1] * 0.2**0.3, rtol=1e-12)
    kinds["shuffled"]["loss"][-1] = 0.01
    with pytest.raises(ValueError, match=r"loss: found 0.01 of seed 0, expected one that falling losses"):
        study.equal_loss_ratio(kinds, "a")


def test_agreement_is_found_where_it_is_put():
    rho, clear = study.agreement(made_up(np.random.default_rng(0)), ["a", "b", "c"])
    assert rho[0, 1] > 0.9 and clear[1, 0] == clear[0, 1] == 1


def test_signs_are_about_the_interval():
    assert [study.sign((0.0, *ends)) for ends in ((0.1, 0.9), (-0.9, -0.1), (-0.1, 0.1))] == [1, -1, 0]


def test_within_one_kind_it_is_the_plain_correlation():
    kinds = made_up(np.random.default_rng(1), noise=2.0)
    found = study.within_labels({"right": kinds["right"]}, ["a", "b"], n_draws=10)
    assert found.rho[0, 1] == pytest.approx(spearman(*(kinds["right"][name][-1] for name in "ab")))


def test_within_the_labels_a_correlation_can_reverse():
    """Two measures, both larger with shuffled labels, and one against the other at the same labels."""
    kinds = made_up(np.random.default_rng(2))
    for kind, factor in (("right", 1.0), ("shuffled", 100.0)):
        kinds[kind]["b"] = np.stack([np.ones(8), factor**2 / kinds[kind]["a"][-1]])
        kinds[kind]["a"] = factor * kinds[kind]["a"]
    found = study.within_labels(kinds, ["a", "b", "c"], n_draws=2_000)
    assert found.rho[0, 1] == pytest.approx(-1) and found.chance[0, 1] <= 0.002
    assert study.correlation(kinds, "a", "b")[0] > 0.4
    np.testing.assert_array_equal(found.block(["a"], ["c"])[0], found.rho[:1, 2:])
    assert found.block(["a"], ["c"])[1] == pytest.approx(found.chance[0, 2])


def test_chance_keeps_its_level():
    """Measures without relation: about one in twenty is clear at 5 %."""
    rng = np.random.default_rng(3)
    shares = []
    for _ in range(40):
        kinds = {kind: {str(i): rng.normal(size=(1, 10)) for i in range(6)} for kind in ("right", "shuffled")}
        found = study.within_labels(kinds, [str(i) for i in range(6)], n_draws=400)
        shares.append(np.mean(found.chance[np.tril_indices(6, -1)] < 0.05))
    assert np.mean(shares) == pytest.approx(0.05, abs=0.03)


def test_a_measure_that_is_constant_has_no_correlation():
    kinds = {"right": {"a": np.ones((1, 5)), "b": np.arange(5.0)[None]}}
    found = study.within_labels(kinds, ["a", "b"], n_draws=20)
    assert (found.rho[0, 1], found.chance[0, 1]) == (0, 1)


def test_tables(stored):
    for activation, labels in (("relu", study.RELU), ("tanh", study.TANH)):
        found = study.overview(stored.values[activation], labels)
        assert list(found) == list(labels.values()) and {len(row) for row in found.values()} == {4}
        assert not any("nan" in cell for row in found.values() for cell in row)


def test_what_the_chapter_says_of_the_networks(stored):
    accuracy = {kind: [kinds[kind]["accuracy"][-1] for kinds in stored.values.values()] for kind in KINDS}
    assert np.min(accuracy["right"]) == 1 and np.min(accuracy["shuffled"]) > 0.98
    for kinds in stored.values.values():
        assert kinds["shuffled"]["test_accuracy"][-1].mean() == pytest.approx(0.1, abs=0.02)


def test_what_the_chapter_says_of_relu(relu):
    told = verdicts(relu, NAMES)
    assert [list(told[kind].values()).count("up") for kind in KINDS] == [2, 7]
    assert [list(told[kind].values()).count("down") for kind in KINDS] == [8, 2]
    assert {n for n in NAMES if told["right"][n] == "up"} == {"length", "logits"}
    assert {n for n in NAMES if told["shuffled"][n] == "down"} == {"rank", "fisher"}
    for place in ("boundary.ball", "boundary.near"):
        assert (told["right"][place], told["shuffled"][place]) == ("down", "level")
    assert {n for n, way in told["labels"].items() if way != "up"} == {"rank", "unevenness"}
    assert {told[group]["unevenness"] for group in ("right", "shuffled", "labels")} == {"level"}
    assert {n for n, way in told["equal loss"].items() if way != "up"} == {"rank", "fisher"}


def test_what_the_chapter_says_of_tanh(stored):
    told = verdicts(stored.values["tanh"], study.TANH)
    assert told["labels"]["participation"] == "down"
    assert told["right"]["probabilities"] == "up"  # in ReLU networks it falls
    assert [told[kind]["curve"] for kind in KINDS] == ["down", "up"]
    assert told["equal loss"]["fisher"] == "up"


def test_what_the_chapter_says_of_the_rank(stored, relu):
    """Tanh: data and architecture decide it. ReLU: it dips, and its ceiling is near."""
    tanh = stored.values["tanh"]
    assert {float(rank) for table in tanh.values() for rank in table["rank"].ravel()} == {1_368}
    below = study.short_of(relu, "limit")
    assert not study.short_of(tanh, "limit").any() and set(study.short_of(tanh, "ceiling")) == {18}
    assert len(below) == 150 and below.max() < 0.01 * 1_100
    at = [study.verdict(study.interval(study.labels_ratio(relu, "rank", i))) for i in range(1, 8)]
    assert at == ["level", "down", "down", "level", "level", "level", "level"]
    assert study.verdict(study.interval(study.labels_ratio(relu, "test rank"))) == "level"


def test_what_the_chapter_says_of_agreement(relu):
    _, clear = study.agreement(relu, NAMES)
    ten = [i for i, name in enumerate(NAMES) if name not in ("rank", "unevenness")]
    assert np.all(clear[np.ix_(ten, ten)] + np.eye(10) == 1)


def test_what_the_chapter_says_of_pairs_within_the_labels(relu):
    within = study.within_labels(relu, NAMES)
    rho, chance = within.block(study.STEEP, study.COUNTS)
    assert rho.size == 18 and np.all(rho < 0) and chance < 0.01
    i, j = np.tril_indices(len(NAMES), -1)
    assert np.quantile(np.abs(within.draws[:, i, j]).max(axis=1), 0.95) > np.abs(rho).max()  # none by itself, among 66
    for kind in KINDS:
        assert study.correlation(relu, "fisher", "loss", [kind])[0] == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(("activation", "expected"), [("relu", "level"), ("tanh", "up")])
def test_equal_loss_with_more_snapshots(stored, activation, expected):
    """The verdicts on the Fisher–Rao norm stand with stages a tenth apart, where those stored are up to 3.3-fold."""
    pytest.importorskip("sklearn")
    data, seeds = places(SETTINGS["n_images"]).data, SETTINGS["seeds"]
    epochs = [0, 3, *map(int, np.unique(np.geomspace(10, 150, 25).round()))]
    options = activation, SETTINGS["width"], SETTINGS["learning_rate"], epochs[-1], epochs
    _, networks, _ = trained(data, seeds, ["right"] * len(seeds), *options)
    rows = [
        [{"loss": fit(net, data, data.y)["loss"], "fisher": fisher_rao(net, data.x)} for net in nets]
        for nets in networks
    ]
    finer = {"right": table(rows, slice(None)), "shuffled": stored.values[activation]["shuffled"]}
    assert study.verdict(study.interval(study.equal_loss_ratio(finer, "fisher"))) == expected
