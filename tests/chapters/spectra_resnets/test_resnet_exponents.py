"""Exponents of the shipped networks and their nulls, tables of them, and rows for a figure."""

import numpy as np
import pandas as pd
import pytest

from capcore.spectra import SpectraOptions, fit_power_law
from chapters.spectra_resnets import resnet_exponents as study
from chapters.spectra_resnets.stored_spectra import stored_networks


@pytest.fixture(scope="module")
def networks():
    return stored_networks()


@pytest.fixture(scope="module")
def found(networks):
    return study.exponents(networks, ["resnet20", "layers_removed"], "slices", np.random.default_rng(0), 2)


def test_exponents_are_those_of_a_report(networks, found):
    for key in ("resnet20", "layers_removed"):
        report = networks[key].report(SpectraOptions(alternatives=()))
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


def test_tables(networks, found):
    table = study.network_table(networks)
    assert table.loc["chance_level", "top-1 error"] == "90.08 %" and len(table) == 11
    shapes = study.range_table(found)
    assert shapes["spectra"].sum() == len(found.table)
    assert [*study.range_table(found, fewest=50).index] == ["16 × 16", "32 × 32", "64 × 64"]
    assert table.loc["resnet20", "licence"] == "BSD-2-Clause" and table.loc["dense", "licence"] == "Apache-2.0"


def test_rows_of_both_arrangements_stand_side_by_side(networks):
    slices, pooled = (study.layer_rows(networks["resnet20"], name, 0, 0) for name in ("slices", "pooled"))
    assert [*dict.fromkeys(row.layer for row in slices)] == [row.layer for row in pooled]
    assert slices[0].layer == "conv1.weight" and not slices[0].ok and np.isnan(slices[0].alpha)
    draws = networks["resnet20"].null_alphas("pooled")
    assert all((row.null_low, row.null_high) == (draws[row.name].min(), draws[row.name].max()) for row in pooled)
