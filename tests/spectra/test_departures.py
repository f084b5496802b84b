"""What distinguishes shuffled weights from noise: the mean, large entries, heavy tails, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra.departures import HEAVY, MARGIN, MOST, departures
from tests.strategies import seeds

SHAPE = (60, 80)
ROOT = (60 * 80) ** 0.25  # the detection threshold in units of σ


def noise(seed=0, shape=SHAPE):
    return np.random.default_rng(seed).normal(size=shape)


@given(seeds, st.integers(-300, 300), st.sampled_from(["C", "F", "views"]))
def test_noise_of_any_scale_has_none(seed, exponent, order):
    """In 4,800 normal entries none is beyond 0.9·8.3 = 7.5 σ, and the kurtosis is 0 ± 0.07."""
    weights = noise(seed) * 2.0**exponent
    weights = weights[::-1, ::-1] if order == "views" else np.asarray(weights, order=order)
    found = departures(weights, SHAPE)
    assert found.n_blocked == 0 and found.are_few and abs(found.kurtosis) < 0.5
    assert found.sd == pytest.approx(weights.std(), rel=1e-9)


@pytest.mark.parametrize("size", [MARGIN + 0.1, 1.0, 3.0, 1e3, 1e8])
def test_large_entries_are_found_whatever_their_size(size):
    weights = noise()
    weights[3, 4], weights[10, 2] = size * ROOT, -size * ROOT
    found = departures(weights, SHAPE)
    assert found.are_few and len(found.large) == 2
    np.testing.assert_allclose(np.sort(found.large) / (size * ROOT), [-1, 1], atol=0.05)  # σ is known to 1 %
    assert found.sd == pytest.approx(noise().std(), rel=1e-3)  # the large ones do not count


def test_entries_well_below_the_threshold_are_noise():
    weights = noise()
    weights[3, 4] = (MARGIN - 0.1) * ROOT
    assert departures(weights, SHAPE).n_blocked == 0


@pytest.mark.parametrize(("share", "n"), [(MARGIN - 0.1, 0), (MARGIN + 0.1, 1), (50.0, 1)])
def test_a_mean_counts_from_the_same_margin_on(share, n):
    """Its size is mean·√(rows·columns), so it reaches the threshold at 1/(rows·columns)^¼."""
    weights = noise() - noise().mean() + share / ROOT
    found = departures(weights, SHAPE)
    assert found.n_blocked == n and found.are_few
    assert found.mean == pytest.approx(share / ROOT * n, rel=0.05)


def test_more_entries_are_taken_if_the_kurtosis_of_the_others_needs_it():
    """45 of 0.7 thresholds (σ includes them) add 0.24 each to the kurtosis, whose limit is 2·60^⅓ = 7.8."""
    weights = noise()
    weights.ravel()[:45] = 0.85 * ROOT
    found = departures(weights, SHAPE)
    limit = HEAVY * 60 ** (1 / 3)
    assert found.are_few and 0 < len(found.large) <= MOST and limit - 0.6 < found.kurtosis <= limit
    again = departures(np.where(np.arange(4800).reshape(SHAPE) < 5, weights, noise()), SHAPE)  # five of them
    assert again.are_few and len(again.large) == 0


@pytest.mark.parametrize("share", [0.3, 0.01])
def test_heavy_tails_are_not_noise(share):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=SHAPE) * np.where(rng.random(SHAPE) < share, 20.0, 1.0) * (rng.random(SHAPE) < share)
    found = departures(weights, SHAPE)
    assert not found.are_few


def test_too_many_large_entries_are_not_few():
    weights = noise()
    weights.ravel()[: MOST + 1] = 5 * ROOT
    assert not departures(weights, SHAPE).are_few
    pooled = np.concatenate([weights[None], np.stack([noise(i) for i in range(3)])])  # of four matrices
    assert departures(pooled, SHAPE).are_few


@pytest.mark.parametrize("value", [0.0, 1.0, -3e-200])
def test_constant_weights_are_not_noise(value):
    assert not departures(np.full(SHAPE, value), SHAPE).are_few
