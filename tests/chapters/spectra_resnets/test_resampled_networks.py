"""Intervals of shares, with networks resampled: counts, and what must hold of them."""

import numpy as np
import pandas as pd
import pytest

from chapters.spectra_resnets.resampled_networks import network_counts, range_intervals
from chapters.spectra_resnets.resnet_exponents import Exponents


def made(shares, n=40):
    """Networks of which so large a share of n exponents lies in the range; half of the shuffled ones do."""
    names = np.repeat([f"net{i}" for i in range(len(shares))], n)
    alpha = np.concatenate([np.where(np.arange(n) < share * n, 3.0, 1.5) for share in shares])
    shuffled = np.tile([3.0, 9.0], (len(alpha), 1))
    return Exponents(pd.DataFrame({"network": names, "alpha": alpha}), shuffled, shuffled[:, :1])


def test_counts_leave_out_what_has_no_fit():
    found = made([0.5, 1.0], n=4)
    found.shuffled[0, 0] = np.nan
    assert network_counts(found).tolist() == [[2, 4, 3, 7], [4, 4, 4, 8]]


def test_networks_that_agree_leave_no_interval():
    table = range_intervals(made([0.75] * 4), np.random.default_rng(0), 200)
    assert table.loc["trained"].tolist() == [0.75] * 3
    assert table.loc["difference"].tolist() == [0.25] * 3


def test_two_networks_are_drawn_as_wholes():
    """Of two networks at 0 and 1 a resample has 0, 1/2 or 1, whatever the number of their spectra."""
    table = range_intervals(made([0.0, 1.0]), np.random.default_rng(0), 400)
    assert table.loc["trained"].tolist() == [0.5, 0.0, 1.0]


def test_the_interval_is_that_of_a_mean_over_networks():
    """Networks of equal size: the share is a mean of theirs, its interval near ±1.96 s/√n (20 networks: to 10 %)."""
    shares = np.arange(20) / 20
    table = range_intervals(made(shares), np.random.default_rng(1), 20_000)
    half = 1.96 * shares.std() / np.sqrt(20)
    assert table.loc["trained", "high"] - table.loc["trained", "low"] == pytest.approx(2 * half, rel=0.1)


def test_one_network_is_refused():
    with pytest.raises(ValueError, match="found: 1 network, expected at least 2"):
        range_intervals(made([0.5]), np.random.default_rng(0))
