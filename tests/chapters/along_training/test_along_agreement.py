"""Which measures go together: the rule written down before, and rank correlations within the labels."""

from pathlib import Path

import numpy as np
import pytest

from chapters.along_training import along_agreement as together
from chapters.along_training import along_prose as prose
from chapters.along_training import along_summaries as summaries
from chapters.along_training.stored_along import Stored
from chapters.shared.rank_correlation import spearman

PATH = Path(__file__).resolve().parents[3] / "notebooks" / "results" / "along_training.json"
NAMES = list(summaries.RELU)


@pytest.fixture(scope="module")
def relu():
    return Stored(PATH).values["relu"]


@pytest.fixture(scope="module")
def within(relu):
    return together.within_labels(relu, NAMES)


def made_up(rng, noise=0.05):
    """Tables of two snapshots and eight seeds: "a" and "b" follow each other, "c" goes its own way."""
    kinds = {}
    for kind, factor in (("right", 1.0), ("shuffled", 2.0)):
        a = np.exp(rng.normal(size=8))
        tables = {"a": a, "b": a * np.exp(noise * rng.normal(size=8)), "c": np.exp(rng.normal(size=8))}
        kinds[kind] = {name: np.stack([np.ones(8), factor * values]) for name, values in tables.items()}
        kinds[kind]["loss"] = np.stack([np.full(8, 2.0), np.full(8, 0.1 * factor)])
    return kinds


def test_agreement_is_found_where_it_is_put():
    rho, clear, beyond = together.agreement(made_up(np.random.default_rng(0)), ["a", "b", "c"])
    assert rho[0, 1] > 0.9 and clear[1, 0] == beyond[1, 0] == 1
    assert beyond[2, 0] == beyond[2, 1] == 0


def test_signs_are_about_the_interval():
    assert [together.sign((0.0, *ends)) for ends in ((0.1, 0.9), (-0.9, -0.1), (-0.1, 0.1))] == [1, -1, 0]


def test_within_one_kind_it_is_the_plain_correlation():
    kinds = made_up(np.random.default_rng(1), noise=2.0)
    found = together.within_labels({"right": kinds["right"]}, ["a", "b"], n_draws=10)
    assert found.pair("a", "b")[0] == pytest.approx(spearman(*(kinds["right"][name][-1] for name in "ab")))


def test_within_the_labels_a_correlation_can_reverse():
    """Two measures, both larger with shuffled labels, and one against the other at the same labels."""
    kinds = made_up(np.random.default_rng(2))
    for kind, factor in (("right", 1.0), ("shuffled", 100.0)):
        kinds[kind]["b"] = np.stack([np.ones(8), factor**2 / kinds[kind]["a"][-1]])
        kinds[kind]["a"] = factor * kinds[kind]["a"]
    found = together.within_labels(kinds, ["a", "b", "c"], n_draws=2_000)
    assert found.pair("a", "b") == (pytest.approx(-1), pytest.approx(0, abs=0.002))
    assert together.correlation(kinds, "a", "b")[0] > 0.4
    assert 0.5 < found.largest < 1
    np.testing.assert_array_equal(found.block(["a"], ["c"])[0], found.rho[:1, 2:])
    assert found.block(["a"], ["c"])[1] == pytest.approx(found.pair("a", "c")[1])


def test_chance_keeps_its_level():
    """Measures without relation: about one in twenty is clear at 5 %."""
    rng = np.random.default_rng(3)
    shares = []
    for _ in range(40):
        kinds = {kind: {str(i): rng.normal(size=(1, 10)) for i in range(6)} for kind in ("right", "shuffled")}
        found = together.within_labels(kinds, [str(i) for i in range(6)], n_draws=400)
        shares.append(np.mean(found.chance[np.tril_indices(6, -1)] < 0.05))
    assert np.mean(shares) == pytest.approx(0.05, abs=0.03)


def test_a_measure_that_is_constant_has_no_correlation():
    kinds = {"right": {"a": np.ones((1, 5)), "b": np.arange(5.0)[None]}}
    assert together.within_labels(kinds, ["a", "b"], n_draws=20).pair("a", "b") == (0, 1)


def test_what_the_chapter_says_of_agreement(relu):
    _, clear, beyond = together.agreement(relu, NAMES)
    ten = [i for i, name in enumerate(NAMES) if name not in ("rank", "unevenness")]
    assert np.all(clear[np.ix_(ten, ten)] + np.eye(10) == 1)
    alone = [NAMES.index(name) for name in ("length", "logits", "probabilities", "fisher")]
    assert not beyond[alone].any()
    text = prose.agreement_prose(NAMES, clear, beyond, 10)
    assert int(text["along_within_regions"]) >= 8 and text["along_n_pairs"] == "66"


def test_what_the_chapter_says_of_pairs_within_the_labels(relu, within):
    counts = ("participation", "boundary.ball", "boundary.near", "pieces", "patterns", "transitions")
    rho, chance = within.block(prose.STEEP, counts)
    assert np.all(rho < 0) and chance < 0.02
    assert all(together.correlation(relu, a, b)[0] > 0.5 for a in prose.STEEP for b in counts)
    assert within.largest > np.abs(rho).max()  # none by itself, among 66
    assert within.pair("logits", "length")[0] > 0.5 and within.pair("logits", "length")[1] < 0.01
    text = prose.within_prose(within, together.agreement(relu, NAMES)[0], relu)
    assert text["along_fisher_loss"] == "+1.00" and text["along_within_negative"] == "18 of 18"
