"""Correlations under every combination of choices."""

import numpy as np
import pytest

from chapters.shared.correlation import rank_correlation
from chapters.shared.family_correlation import family_correlations
from chapters.shared.universes import multiverse

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
