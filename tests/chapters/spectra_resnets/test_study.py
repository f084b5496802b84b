"""Exponents of the shipped networks and their nulls, shares over networks, the tool's fits, and permuted answers."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from capcore.checkpoints.folders import stem
from capcore.spectra import DensityOptions, SpectraOptions, fit_power_law
from chapters.spectra_resnets import study
from chapters.spectra_resnets.files import SOURCES
from chapters.spectra_resnets.networks import stored_networks
from chapters.spectra_resnets.study import (
    Exponents,
    network_counts,
    permuted_network,
    range_intervals,
)


@pytest.fixture(scope="module")
def networks():
    return stored_networks()


@pytest.fixture(scope="module")
def found(networks):
    return study.exponents(networks, ["resnet20", "layers_removed"], "slices", np.random.default_rng(0), 2)


def test_exponents_are_those_of_a_report(networks, found):
    for key in ("resnet20", "layers_removed"):
        report = networks[key].report(SpectraOptions(DensityOptions("slices"), alternatives=()))
        part = found.table[found.table["network"] == key]
        assert part["alpha"].tolist() == pytest.approx([row.alpha for row in report.spectra], rel=1e-12)
        assert part["span"].tolist() == pytest.approx([row.lambda_max / row.x_min for row in report.spectra], rel=1e-9)
    assert found.shuffled.shape == (len(found.table), 20) and found.gaussian.shape == (len(found.table), 2)


def test_shares_below_and_above_every_null():
    table = pd.DataFrame({"alpha": [1.0, 3.0, 9.0, 2.5]})
    shuffled = np.array([[2.0, 4.0], [2.0, np.nan], [2.0, 4.0], [2.0, 4.0]])
    assert study.Exponents(table, shuffled, shuffled).outside_null() == (0.25, 0.5)


def test_the_nulls_own_draws_are_outside_by_chance(found):
    """A shuffle against the nineteen others lies below all of them in one of twenty cases."""
    one = study.Exponents(found.table.assign(alpha=found.shuffled[:, 0]), found.shuffled[:, 1:], found.gaussian)
    below, above = one.outside_null()
    assert below == pytest.approx(0.05, abs=0.04) and above == pytest.approx(0.05, abs=0.04)  # 283 slices: 3 errors


def test_gaussian_exponents_do_not_depend_on_the_variance():
    rng = np.random.default_rng(1)
    weights = 7 * rng.normal(size=(3, 12, 20))
    values = np.linalg.svd(weights, compute_uv=False).ravel() ** 2
    drawn = study.gaussian_exponents(12, 20, 1, np.random.default_rng(1), 3)
    assert drawn[0] == pytest.approx(fit_power_law(values).alpha, rel=1e-9)


def test_the_table_of_networks(networks):
    table = study.network_table(networks)
    assert table.loc["chance_level", "top-1 error"] == "90.08 %" and len(table) == 11
    assert table.loc["resnet20", "licence"] == "BSD-2-Clause" and table.loc["dense", "licence"] == "Apache-2.0"


def test_rows_of_both_arrangements_stand_side_by_side(networks):
    slices, pooled = (study.layer_rows(networks["resnet20"], name) for name in ("slices", "pooled"))
    assert [*dict.fromkeys(row.layer for row in slices)] == [row.layer for row in pooled]
    assert slices[0].layer == "conv1.weight" and not slices[0].ok and np.isnan(slices[0].alpha)
    draws = networks["resnet20"].null_alphas("pooled")
    assert all((row.null_low, row.null_high) == (draws[row.name].min(), draws[row.name].max()) for row in pooled)


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


@pytest.mark.parametrize("key", SOURCES)
def test_the_tools_exponents_are_those_that_it_printed(networks, key):
    """Against the reference tool's own output for the original files, which needs no weights here."""
    files = json.loads((Path(__file__).parents[2] / "spectra" / "goldens" / "weightwatcher.json").read_text("utf8"))
    (case,) = [case for name, case in files["checkpoints"].items() if stem(Path(name).name) == stem(SOURCES[key].file)]
    printed = np.array([alpha for alpha in case["pooled"]["alpha"] if alpha != -1])
    found = study.tool_alphas(networks[key])
    np.testing.assert_allclose(np.sort(found), np.sort(printed), rtol=1e-9)


@pytest.fixture(scope="module")
def pair():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: an optional extra")
    return permuted_network(width=24)


def test_it_is_wrong_and_looks_the_same(pair):
    assert pair.intact_accuracy > 0.9 and pair.permuted_accuracy < 0.05
    assert pair.largest_change < 1e-9


def test_a_change_of_any_metric_is_seen(pair):
    other = replace(pair, permuted=replace(pair.permuted, mean_alpha=2 * pair.intact.mean_alpha))
    assert other.largest_change == pytest.approx(1.0)
