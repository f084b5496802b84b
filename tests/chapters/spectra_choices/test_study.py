"""Mean exponents beside errors, correlations by choice, and what agreement of choices is worth."""

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import spearmanr

from chapters.spectra_choices import study
from chapters.spectra_resnets.networks import stored_networks
from tests.strategies import seeds


@pytest.fixture(scope="module")
def networks():
    return stored_networks()


def test_the_table(networks):
    table = study.summary(networks, ["resnet20", "channels_regularized"])
    assert table["layers"].tolist() == [20, 22] and table["weights"].tolist() == [268_336, 270_896]
    assert table["error"].tolist() == pytest.approx([8.27, np.nan], nan_ok=True)


def test_correlations_are_spearmans():
    rng = np.random.default_rng(0)
    metrics, outcome = {("a",): rng.normal(size=9), ("b",): rng.normal(size=9)}, rng.normal(size=9)
    found = study.correlations(metrics, outcome)
    assert found == pytest.approx({key: spearmanr(values, outcome).statistic for key, values in metrics.items()})


def test_outcomes_that_are_missing_are_refused():
    with pytest.raises(ValueError, match="outcome: found"):
        study.sign_agreement({("a",): np.arange(3.0)}, np.array([1.0, np.nan, 2.0]))


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
