"""The published table and its stored statistics, by another route, and simulated studies."""

import csv
import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from chapters.kit.stored import stored
from chapters.spectra_accuracy import experiment, study
from chapters.spectra_accuracy.experiment import ERROR, read_table

TABLE = Path(__file__).resolve().parents[4] / "shared" / "data" / "published" / "published_osmr_joined.csv"


needs_table = pytest.mark.skipif(not TABLE.is_file(), reason="needs ../shared/data/published, which is absent")


def write(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_table_is_cut_into_data_sets_without_what_has_no_error(tmp_path):
    row = {"modelname": "resnet10", "alpha": "3.0", "lognorm": "-inf", ERROR: "9", "params": "100"}
    row |= {"dataset": "imagenet", "family": "resnet"}
    rows = [row, row | {"dataset": "svhn", "modelname": "vgg11", "lognorm": "1"}, row | {ERROR: "", "params": ""}]
    path = tmp_path / "table.csv"
    groups = read_table(path, write(path, rows))
    assert {name: len(group) for name, group in groups.items()} == {"imagenet": 1, "svhn": 1}
    assert groups["svhn"]["lognorm"].tolist() == [1] and groups["imagenet"]["lognorm"].isna().all()
    with pytest.raises(ValueError, match="table: found a file with SHA-256"):
        read_table(path)


def group(families, **columns):
    return pd.DataFrame({"family": list(families), **columns})


def test_the_best_of_a_small_table_by_hand():
    alpha = [3.0, 2.2, 5.0, 4.0, 2.1, 3.0, 4.0, 6.0]
    error = [30.0, 10.0, 50.0, 40.0, 45.0, 35.0, 25.0, 5.0]
    best = experiment.best_networks(group("aaaabbbb", alpha=alpha, top1_error=error))
    assert best["number"] == {"all": 8, "best tenth": 1, "worst tenth": 1, "best of families": 2}
    assert best["alpha"]["best tenth"][2] == 6.0 and best["alpha"]["worst tenth"][2] == 5.0
    assert best["alpha"]["best of families"][2] == pytest.approx(4.1)
    assert best["nearer"] == {"share": 0.5, "by chance": 0.5, "families": 2}  # α = 2.2 is, α = 6 is not
    assert best["best less worst"] == 1.0
    assert best["distance"]["rho"] == pytest.approx(0.0, abs=1e-12)  # +1 and −1


def test_pairs_of_equal_size_stay_in_their_family():
    table = group("aaabb", alpha=[1.0, 2.0, 3.0, 1.0, 2.0], top1_error=[1.0, 2.0, 1.5, 2.0, 2.0], params=[5.0] * 5)
    assert experiment.equal_size(table, "alpha") == (3, 2)  # the two of b err alike


@needs_table
def test_central_numbers_by_another_route():
    """With pandas and scipy alone: correlations of every family, their weighted mean, the quantiles."""
    values = stored("published_metrics")["values"]
    table = pd.read_csv(TABLE)
    table = table[(table["dataset"] == "imagenet") & table["top1_error"].notna()]
    large = table.groupby("family").filter(lambda rows: len(rows) >= 4)
    for column in ("alpha", "alpha_weighted", "params"):
        own = large.groupby("family").apply(lambda g, c=column: stats.spearmanr(g[c], g["top1_error"]).statistic)
        weights = large.groupby("family").size() - 1
        stored_rows = values["families"]["imagenet"][column]
        assert {name: row["rho"] for name, row in stored_rows.items()} == pytest.approx(own.to_dict(), abs=1e-6)
        mean = values["averages"]["imagenet"][column]["within"]["rho"]
        assert mean == pytest.approx((own * weights).sum() / weights.sum(), abs=1e-6)
    best = large.loc[large.groupby("family")["top1_error"].idxmin(), "alpha"]
    assert values["best"]["alpha"]["best of families"][2] == pytest.approx(best.median(), abs=1e-6)
    tenth = table.nsmallest(18, "top1_error")["alpha"]
    assert values["best"]["alpha"]["best tenth"][2] == pytest.approx(tenth.median(), abs=1e-6)


@needs_table
def test_no_row_of_the_table_is_stored():
    """No list is as long as a data set, and no key is a network's name."""
    names = set(pd.read_csv(TABLE)["modelname"])

    def visit(value):
        if isinstance(value, dict):
            assert not names & set(value)
            for one in value.values():
                visit(one)
        elif isinstance(value, list):
            assert len(value) <= 24
            for one in value:
                visit(one)

    visit(stored("published_metrics")["values"])


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


def test_shares_and_differences_are_those_of_the_families(values):
    for column in ("alpha", "alpha_weighted"):
        rows = study.families(values, column)
        assert study.positive_share(values, column) == np.mean([row.rho > 0 for row in rows])
    rho = {column: study.averages(values, [column])[0].rho for column in ("alpha_weighted", "params", "lognorm")}
    less = study.differences(values)
    for column in ("params", "lognorm"):
        assert less[column].rho == pytest.approx(rho["alpha_weighted"] - abs(rho[column]), abs=1e-5)
        assert less[column].low < less[column].rho < less[column].high


def test_a_metric_that_knows_only_size_has_little_left_at_fixed_size():
    families = [4, 6, 8, 12, 20]
    nothing, much = (study.size_studies(families, knows, 60, np.random.default_rng(0)) for knows in (0.0, 3.0))
    nothing, much = nothing.mean(), much.mean()
    assert min(nothing["metric"], much["metric"]) > 0.6  # which is why the plain average cannot tell
    assert nothing["size"] < -0.9 and abs(nothing["partial"]) < 0.2 < 0.4 < much["partial"]
