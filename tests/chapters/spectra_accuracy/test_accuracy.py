"""What the accuracy chapter reads from the stored statistics."""

import numpy as np
import pytest

from chapters.spectra_accuracy import accuracy as study
from chapters.stored import stored


@pytest.fixture(scope="module")
def values():
    return stored("published_metrics")["values"]


@pytest.mark.parametrize("column", ["alpha", "alpha_weighted", "params"])
@pytest.mark.parametrize("dataset", list(study.DATASETS))
def test_the_second_route_gives_the_stored_average(values, column, dataset):
    again = study.average_again(study.families(values, column, dataset))
    first = study.averages(values, [column], dataset=dataset)[0]
    assert again.rho == pytest.approx(first.rho, abs=1e-5) and again.n == first.n
    if len(values["families"][dataset][column]) > 1:
        ends = (max(-1, again.low), min(1, again.high))
        assert ends == pytest.approx((first.low, first.high), abs=1e-4)  # stored with six digits


def test_shares_and_differences_are_those_of_the_families(values):
    for column in ("alpha", "alpha_weighted"):
        rows = study.families(values, column)
        assert study.positive_share(values, column) == np.mean([row.rho > 0 for row in rows])
    rho = {column: study.averages(values, [column])[0].rho for column in ("alpha_weighted", "params", "lognorm")}
    less = study.differences(values)
    for column in ("params", "lognorm"):
        assert less[column].rho == pytest.approx(rho["alpha_weighted"] - abs(rho[column]), abs=1e-5)
        assert less[column].low < less[column].rho < less[column].high


def test_families_are_ordered_by_size(values):
    sizes = [row.n for row in study.families(values, "alpha")]
    assert sizes == sorted(sizes, reverse=True) and sum(sizes) == values["in_families"]["imagenet"]


def test_holm_is_never_below_the_plain_value(values):
    plain = study.p_values(values)
    adjusted = study.holm(plain)
    assert all(plain[name] <= adjusted[name] <= 1 for name in plain)
    assert min(adjusted.values()) == pytest.approx(len(plain) * min(plain.values()))
