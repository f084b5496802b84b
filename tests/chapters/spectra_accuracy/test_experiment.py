"""The published table: reading it, and that the stored statistics are those of the file where it is at hand."""

import csv
import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from chapters.kit.stored import stored
from chapters.spectra_accuracy import experiment as study
from chapters.spectra_accuracy.experiment import median_interval
from chapters.spectra_accuracy.table import ERROR, METRICS, Networks, named_depth, read_table

TABLE = Path(__file__).resolve().parents[4] / "shared" / "data" / "published" / "published_osmr_joined.csv"
needs_table = pytest.mark.skipif(not TABLE.is_file(), reason="needs ../shared/data/published, which is absent")


@pytest.mark.parametrize(
    ("name", "depth"),
    [
        ("resnet18_wd2", 18),
        ("preresnetbc38b", 38),
        ("resnetd152b", 152),
        ("bn_vgg19b", 19),
        ("vgg11", 11),
        ("drnd105", 105),
        ("dla102x2", 102),
        ("wrn20_10_1bit_svhn", 20),
        ("shakeshakeresnet26_2x32d_cifar10", 26),
        ("diapreresnet164bn_svhn", 164),
        ("densenet201", 201),
        ("efficientnet_b7b", None),
        ("mobilenetv2_w1", None),
        ("squeezeresnet_v1_0", None),
    ],
)
def test_depth_is_read_from_names_that_tell_it(name, depth):
    assert named_depth(name) == depth


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
    found, left_out = read_table(path, write(path, rows))
    assert {name: len(group) for name, group in found.items()} == {"imagenet": 1, "svhn": 1}
    assert left_out == {"without error": 1, "without value": 2}
    assert found["svhn"].columns["depth"] == [11] and np.isnan(found["imagenet"].columns["lognorm"]).all()
    with pytest.raises(ValueError, match="table: found a file with SHA-256"):
        read_table(path)


def group(families, **columns):
    return Networks(
        tuple(map(str, range(len(families)))), tuple(families), {k: np.array(v) for k, v in columns.items()}
    )


def test_the_best_of_a_small_table_by_hand():
    alpha = [3.0, 2.2, 5.0, 4.0, 2.1, 3.0, 4.0, 6.0]
    error = [30.0, 10.0, 50.0, 40.0, 45.0, 35.0, 25.0, 5.0]
    found = study.best_networks(group("aaaabbbb", alpha=alpha, top1_error=error))
    assert found["number"] == {"all": 8, "best tenth": 1, "worst tenth": 1, "best of families": 2}
    assert found["alpha"]["best tenth"][2] == 6.0 and found["alpha"]["worst tenth"][2] == 5.0
    assert found["alpha"]["best of families"][2] == pytest.approx(4.1)
    assert found["nearer"] == {"share": 0.5, "by chance": 0.5, "families": 2}  # α = 2.2 is, α = 6 is not
    assert found["best less worst"] == 1.0
    assert found["near"]["best of families"] == 0.5
    assert found["distance"]["rho"] == pytest.approx(0.0, abs=1e-12)  # +1 and −1


def test_pairs_of_equal_size_stay_in_their_family():
    table = group("aaabb", alpha=[1.0, 2.0, 3.0, 1.0, 2.0], top1_error=[1.0, 2.0, 1.5, 2.0, 2.0], params=[5.0] * 5)
    assert study.equal_size(table, "alpha") == (3, 2)  # the two of b err alike


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


def test_no_row_of_the_table_is_stored():
    """No list is as long as a data set, and no key is a network's name."""

    def visit(value):
        if isinstance(value, dict):
            for name, one in value.items():
                assert named_depth(str(name)) is None, name
                visit(one)
        elif isinstance(value, list):
            assert len(value) <= 24
            for one in value:
                visit(one)

    values = stored("published_metrics")["values"]
    visit(values)
    assert set(values["equal_size"]) == set(METRICS)


def test_it_holds_the_median_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    ends = np.array([median_interval(rng.normal(3.0, 1.0, 18), n_resamples=500) for _ in range(200)])
    assert 0.88 <= np.mean((ends[:, 0] <= 3.0) & (ends[:, 1] >= 3.0)) <= 0.99


def test_a_difference_against_resampling_by_hand():
    rng = np.random.default_rng(1)
    one, other = rng.normal(1.0, 1.0, 18), rng.normal(0.0, 1.0, 15)
    draws = [np.median(rng.choice(one, 18)) - np.median(rng.choice(other, 15)) for _ in range(4_000)]
    assert median_interval(one, other) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.05)


def test_a_shift_of_one_group_shifts_the_interval():
    one, other = np.arange(9.0), np.arange(7.0) ** 2
    assert median_interval(one + 5, other) == pytest.approx(np.array(median_interval(one, other)) + 5)


@pytest.mark.parametrize("groups", [([1.0],), ([1.0, 2.0], [3.0])])
def test_it_refuses_a_group_of_one(groups):
    with pytest.raises(ValueError, match="number of values: found 1, expected a whole number of at least 2"):
        median_interval(*map(np.array, groups))
