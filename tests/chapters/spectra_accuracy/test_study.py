"""What the accuracy chapter reads from the stored statistics, and simulated samples whose relation is known."""

import numpy as np
import pytest

from chapters.spectra_accuracy import study
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


def test_the_copula_interval_keeps_its_level_where_the_others_do_not():
    found = study.coverage([4, 10], 0.8, 60, np.random.default_rng(0), n_resamples=100)
    assert set(found) == set(study.INTERVALS)
    assert min(found["copula"]) > 0.9  # 95 % by design, 60 samples
    assert found["bca"][0] < found["copula"][0]
    assert all(0 <= share <= 1 for shares in found.values() for share in shares)


def test_power_rises_with_networks_and_correlation():
    found = study.power_curves([4, 8, 20], [0.9, 0.4], np.random.default_rng(0), 500)
    assert found[0.9][0] == 0 and list(found[0.9]) == sorted(found[0.9])
    assert (found[0.9] >= found[0.4]).all()


def test_a_metric_that_knows_only_size_has_little_left_at_fixed_size():
    families = [4, 6, 8, 12, 20]
    nothing, much = (study.size_studies(families, knows, 60, np.random.default_rng(0)) for knows in (0.0, 3.0))
    assert nothing.metric.mean() > 0.6 and much.metric.mean() > 0.6  # which is why the plain average cannot tell
    assert nothing.size.mean() < -0.9
    assert abs(nothing.partial.mean()) < 0.2 < 0.4 < much.partial.mean()


def test_it_refuses():
    with pytest.raises(ValueError, match="correlation: found 1"):
        study.coverage([4], 1.0, 30, np.random.default_rng(0))
    with pytest.raises(ValueError, match="n_studies: found 0"):
        study.size_studies([4], 0.0, 0, np.random.default_rng(0))
