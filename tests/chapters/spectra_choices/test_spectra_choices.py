"""Combinations of choices: each is the metric of a report, and agreement by chance."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import spearmanr

from capcore.spectra import DensityOptions, SpectraOptions
from chapters.shared.resnets import stored_networks
from chapters.spectra_choices import study
from tests.strategies import seeds

KEYS = ["resnet20", "layers_removed"]


@pytest.fixture(scope="module")
def networks():
    return stored_networks()


@pytest.fixture(scope="module")
def values(networks):
    return study.universes(networks, KEYS)


def test_every_combination_is_there_once(networks, values):
    """12 mean exponents of slices, 6 each of pooled and unfolded, 2 of operators; α̂ with units and sums."""
    alphas = [key for key in values if key[0] == "α"]
    assert len(alphas) == 12 + 6 + 6 + 2
    assert len(values) == 26 + 54 + 36 + 24 + 8
    assert all(np.isfinite(column).all() for column in values.values())
    trained = study.universes(networks, [key for key in networks if key != "chance_level"])
    columns = [tuple(np.round(column, 9)) for column in trained.values()]
    assert len(set(columns)) == len(columns)  # none repeats another


@pytest.mark.parametrize("tail", study.TAILS)
@pytest.mark.parametrize("matrices", ["slices", "pooled", "unfolded"])
def test_they_are_the_metrics_of_reports(networks, values, matrices, tail):
    units = {"1/N": ("larger side", None), "as stored": ("nothing", None), "tool": ("nothing", "weightwatcher")}
    for name, (divide_by, scale) in units.items():
        if name == "tool" and matrices == "unfolded":
            continue
        density = DensityOptions(matrices, divide_by=divide_by, scale=scale)
        options = replace(study.TAILS[tail], density=density, alternatives=())
        for place, key in enumerate(KEYS):
            report = networks[key].report(options)
            model, by_layer = report.model, report.to_dataframe().groupby("layer")["alpha"].mean()
            weighted = {"layers": None, "spectra": model.mean_alpha_hat, "sum": model.sum_alpha_hat}
            for over, expected in weighted.items():
                result = values.get(("α̂", matrices, name, tail, over, "all layers"))
                if result is not None and expected is not None:
                    assert result[place] == pytest.approx(expected, rel=1e-9)
            mean = values["α", matrices, "–", tail, "layers", "all layers"][place]
            assert mean == pytest.approx(by_layer.mean(), rel=1e-9)


def test_inner_layers_leave_out_the_first_and_the_last(networks, values):
    kinds = {"conv1.weight": "skip", "linear.weight": "skip"}
    options = SpectraOptions(DensityOptions("pooled"), kinds=kinds, alternatives=())
    model = networks["resnet20"].report(options).model
    result = values["α̂", "pooled", "1/N", "Clauset", "sum", "inner layers"][0]
    assert result == pytest.approx(model.sum_alpha_hat, rel=1e-9)


def test_operators_are_the_stored_ones(networks, values):
    rows = networks["resnet20"].operator.values()
    expected = np.mean([row["alpha"] for row in rows])
    assert values["α", "operator", "–", "Clauset", "layers", "all layers"][0] == pytest.approx(expected)
    expected = sum(row["alpha_hat"] for row in rows)
    assert values["α̂", "operator", "as stored", "Clauset", "sum", "all layers"][0] == pytest.approx(expected)
    divided = sum(row["alpha"] * np.log10(row["lambda_max"] / max(row["rows"], row["columns"])) for row in rows)
    assert values["α̂", "operator", "1/N", "Clauset", "sum", "all layers"][0] == pytest.approx(divided)


def test_correlations_are_spearmans():
    rng = np.random.default_rng(0)
    metrics, outcome = {("a",): rng.normal(size=9), ("b",): rng.normal(size=9)}, rng.normal(size=9)
    correlations = study.correlations(metrics, outcome)
    assert correlations == pytest.approx({key: spearmanr(values, outcome).statistic for key, values in metrics.items()})


def test_one_combination_agrees_with_itself_in_every_order():
    """A single ρ always has a sign unless it is zero: with three points it never is."""
    points = np.array([1.0, 2.0, 3.0])
    assert study.sign_agreement({("only",): points}, points) == (1.0, 1.0)


@given(seeds)
def test_more_combinations_of_one_kind_change_nothing(seed):
    rng = np.random.default_rng(seed)
    outcome, first, second = rng.normal(size=(3, 5))
    agreement = study.sign_agreement({("a",): first, ("b",): second}, outcome)
    again = study.sign_agreement({("a",): np.exp(first), ("b",): second**3}, outcome)
    assert agreement == again
    assert agreement[1] >= 2 / 120  # the order itself and its reverse, at least
