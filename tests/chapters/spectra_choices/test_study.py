"""Mean exponents beside errors: the table, the null's orders, and what agreement of choices is worth."""

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import spearmanr

from chapters.shared.correlation import rank_correlation
from chapters.shared.families import family_correlations
from chapters.spectra_choices import study
from chapters.spectra_choices.study import multiverse
from chapters.spectra_resnets.networks import stored_networks
from tests.strategies import seeds


@pytest.fixture(scope="module")
def networks():
    return stored_networks()


def test_the_table(networks):
    table = study.summary(networks, ["resnet20", "layers_removed"])
    assert table["zero layers"].tolist() == [0, 5] and table["layers"].tolist() == [20, 22]
    text = study.as_text(table)
    assert text.loc["resnet20", ["error", "weights"]].tolist() == ["8.27 %", "268,336"]
    assert text.loc["resnet20", "α, slices"] == f"{table.loc['resnet20', 'α, slices']:.2f}"


def test_orders_of_shuffled_means(networks):
    keys = ["resnet20", "resnet32", "dense"]
    means = [np.mean([*networks[key].null_alphas("pooled").values()], axis=0)[3] for key in keys]
    expected = spearmanr(means, [networks[key].error for key in keys]).statistic
    assert study.shuffled_orders(networks, keys, "pooled")[3] == pytest.approx(expected)


def test_networks_without_a_published_error_are_refused(networks):
    keys = ["dense", "channels_regularized", "channels_removed"]
    assert study.as_text(study.summary(networks, keys))["error"].tolist() == ["8.22 %", "–", "8.86 %"]
    with pytest.raises(ValueError, match="errors: found"):
        study.shuffled_orders(networks, keys, "pooled")
    with pytest.raises(ValueError, match="outcome: found"):
        study.sign_agreement({("a",): np.arange(3.0)}, np.array([networks[key].error for key in keys]))


def test_one_combination_agrees_with_itself_in_every_order():
    """A single ρ always has a sign unless it is zero: with three points it never is."""
    points = np.array([1.0, 2.0, 3.0])
    assert study.sign_agreement({("only",): points}, points) == (1.0, 1.0)


@given(seeds)
def test_more_combinations_of_one_kind_change_nothing(seed):
    rng = np.random.default_rng(seed)
    outcome, first, second = rng.normal(size=(3, 5))
    found = study.sign_agreement({("a",): first, ("b",): second}, outcome)
    again = study.sign_agreement({("a",): np.exp(first), ("b",): second**3}, outcome)
    assert found == again
    assert found[1] >= 2 / 120  # the order itself and its reverse, at least


def test_too_many_networks_are_refused():
    with pytest.raises(ValueError, match="outcome: found 9 networks, expected at most 8"):
        study.sign_agreement({("a",): np.arange(9.0)}, np.arange(9.0))


RNG = np.random.default_rng(0)
OUTCOME = RNG.normal(size=12)
METRICS = {
    (layers, scale): (sign * OUTCOME + noise * RNG.normal(size=12))
    for layers, sign in (("mean", 1.0), ("sum", -1.0))
    for scale, noise in (("none", 0.1), ("1/N", 3.0))
}


def test_every_universe_is_its_own_correlation():
    found = multiverse(METRICS, OUTCOME, ["layers", "scale"])
    assert list(found.correlations) == list(METRICS)
    for key, values in METRICS.items():
        assert found.correlations[key] == rank_correlation(values, OUTCOME)
    assert found.shares()["positive"] == np.mean(found.rho > 0)
    assert found.shares()["surely positive"] + found.shares()["surely negative"] >= 0.5  # the two without noise
    medians = found.by_choice()
    assert medians["layers"]["mean"] > 0 > medians["layers"]["sum"] and set(medians) == {"layers", "scale"}
    frame = found.to_frame()
    assert list(frame["rho"]) == sorted(found.rho, reverse=True)
    assert list(frame.columns) == ["layers", "scale", "n", "rho", "low", "high", "p_value"]


def test_averages_within_families():
    names = ["a", "b"] * 6
    found = multiverse(METRICS, OUTCOME, ["layers", "scale"], family=names, rng=np.random.default_rng(0))
    first = next(iter(METRICS))
    expected = family_correlations(METRICS[first], OUTCOME, names, np.random.default_rng(0)).within
    assert found.correlations[first] == expected


def test_networks_without_a_value_are_counted_and_empty_universes_listed():
    some = np.where(np.arange(12) < 4, np.nan, OUTCOME)
    found = multiverse({("some",): some, ("flat",): np.ones(12), ("few",): np.full(12, np.nan)}, OUTCOME, ["metric"])
    assert found.correlations["some",].n == 8 and found.correlations["some",].rho == 1
    assert found.n_missing == {("some",): 4, ("flat",): 0, ("few",): 12}
    assert "12 equal values" in found.left_out["flat",] and "0 network(s)" in found.left_out["few",]


def test_it_refuses():
    with pytest.raises(ValueError, match="expected one level for each of layers, scale"):
        multiverse({("mean",): OUTCOME}, OUTCOME, ["layers", "scale"])
    with pytest.raises(ValueError, match="metrics: found shape"):
        multiverse({("mean",): [1, 2, 3]}, OUTCOME, ["layers"])
    with pytest.raises(ValueError, match="rng: found none"):
        multiverse({("mean",): OUTCOME}, OUTCOME, ["layers"], family=["a"] * 12)
    with pytest.raises(ValueError, match="no universe with a correlation"):
        multiverse({("mean",): np.ones(12)}, OUTCOME, ["layers"])
