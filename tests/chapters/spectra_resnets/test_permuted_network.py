"""A network whose answers are moved on by one has the same metrics, and is wrong."""

from dataclasses import replace

import pytest

from chapters.spectra_resnets.permuted_network import permuted_network


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
