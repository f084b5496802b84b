"""What the accuracy chapter reads from the stored statistics, and simulated samples whose relation is known."""

import numpy as np
import pytest
from scipy import stats

from chapters.kit.stored import stored
from chapters.spectra_accuracy import study


@pytest.fixture(scope="module")
def values():
    return stored("published_metrics")["values"]


@pytest.mark.parametrize("column", ["alpha", "alpha_weighted", "params"])
@pytest.mark.parametrize("dataset", list(study.DATASETS))
def test_the_average_is_a_weighted_regression_on_a_constant(values, column, dataset):
    """With the sandwich estimate of its error (White 1980, with the factor k/(k − 1))."""
    rows = study.families(values, column, dataset)
    first = study.averages(values, [column], dataset=dataset)[0]
    rho, weight = np.array([row.rho for row in rows]), np.array([row.n - 1.0 for row in rows])
    mean = (weight @ rho) / weight.sum()
    assert mean == pytest.approx(first.rho, abs=1e-5) and first.n == sum(row.n for row in rows)
    error = np.sqrt((weight**2 @ (rho - mean) ** 2) * len(rows) / (len(rows) - 1)) / weight.sum()
    half = stats.t.ppf(0.975, len(rows) - 1) * error
    assert (max(-1, mean - half), min(1, mean + half)) == pytest.approx((first.low, first.high), abs=1e-4)


def test_an_interval_is_one_word_and_no_zero_has_a_sign():
    assert str(study.Estimate("a", 0.634, -0.0004, 1.0, 9)) == "0.63 [0.00,\N{NO-BREAK SPACE}1.00]"
    assert str(study.Estimate("a", -0.634, -1.0, -0.2, 9)).startswith("−0.63 [−1.00,")


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


def test_a_metric_that_knows_only_size_has_little_left_at_fixed_size():
    families = [4, 6, 8, 12, 20]
    nothing, much = (study.size_studies(families, knows, 60, np.random.default_rng(0)) for knows in (0.0, 3.0))
    assert nothing.metric.mean() > 0.6 and much.metric.mean() > 0.6  # which is why the plain average cannot tell
    assert nothing.size.mean() < -0.9
    assert abs(nothing.partial.mean()) < 0.2 < 0.4 < much.partial.mean()


def test_it_refuses():
    with pytest.raises(ValueError, match="n_studies: found 0"):
        study.size_studies([4], 0.0, 0, np.random.default_rng(0))
