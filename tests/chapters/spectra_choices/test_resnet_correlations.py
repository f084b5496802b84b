"""Mean exponents beside errors: the table, the null's orders, and what agreement of choices is worth."""

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import spearmanr

from chapters.spectra_choices import resnet_correlations as study
from chapters.spectra_resnets.stored_spectra import stored_networks
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
