"""Reports: nothing is lost on the way to JSON and back, into a table, or into comma-separated values."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from capcore.commands.rendering import render
from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra
from tests.strategies import refused


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    network = {"conv": rng.normal(size=(14, 18, 2, 2)), "fc": rng.normal(size=(12, 30)), "head": np.ones((3, 14))}
    network |= {"identity": np.eye(12), "bias": np.zeros(14)}
    choices = {"null": "gaussian", "n_null": 3, "n_resamples": 5, "n_simulations": 5, "seed": 7, "permute": True}
    return analyse_spectra(network, SpectraOptions(DensityOptions("slices"), **choices))


def test_json_is_strict(report):
    written = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert [row["alpha"] for row in written["spectra"] if row["alpha"]] == [r.alpha for r in report.spectra if r.ok]


def test_choices_that_are_numbers_of_numpy_are_written_too():
    given = SpectraOptions(n_resamples=np.int64(3), tail_share=np.float32(0.5), null="gaussian", n_null=np.uint8(2))
    assert json.loads(json.dumps(asdict(given)))["n_resamples"] == 3
    assert [type(each) for each in (given.n_resamples, given.tail_share, given.n_null)] == [int, float, int]


def test_a_failed_fit_is_null_in_json_and_nan_in_python(report):
    (written,) = (row for row in report.to_dict()["spectra"] if row["name"] == "identity")
    assert written["alpha"] is None and written["status"] == "failed" and "distinct" in written["reason"]


def test_the_table_has_every_layer_and_its_provenance(report):
    table = report.to_dataframe()
    assert [*table["name"]] == [*(f"conv[{i}, {j}]" for i in (0, 1) for j in (0, 1)), "fc", "identity", "head"]
    assert [*table["status"]] == ["ok"] * 5 + ["failed", "skipped"]
    assert "3 eigenvalue(s)" in table["reason"].iloc[-1]
    assert table["alpha"].isna().sum() == 2
    assert table["alpha"].mean() == pytest.approx(report.model.mean_alpha)  # pandas leaves out what is missing
    assert table.attrs == report.provenance()
    assert table.attrs["source"]["sha256"] == report.source.sha256
    assert table.attrs["options"]["density"]["divide_by"] == "larger side"
    assert {*table.attrs["versions"]} == {"capcore", "numpy", "scipy"}


test_options_that_make_no_sense_are_refused = refused(
    lambda options: SpectraOptions(**options),
    ({"tail_share": 0.0}, "tail_share"),
    ({"n_resamples": -1}, "n_resamples"),
    ({"alternatives": ("normal",)}, "alternatives"),
    ({"null": "shuffel"}, "Did you mean 'shuffled'"),
    ({"null": "shuffled", "density": DensityOptions(null="gaussian")}, "one of the two"),
    ({"layout": "diagonal"}, "layout"),
    ({"n_null": 0}, "n_null"),
    ({"min_tail": 1}, "min_tail"),
    ({"seed": -1}, "seed"),
)


@pytest.mark.parametrize(
    ("alpha", "low", "high", "p", "expected"),
    [
        (1.5, 1.2, 1.9, 0.02, "over-trained (< 2)"),
        (7.0, 6.2, 9.0, 0.05, "under-trained (> 6)"),
        (3.0, 2.5, 3.5, 0.02, ""),
        (1.5, 1.6, 1.9, 0.02, "unstable tail"),
        (7.0, 2.1, 6.5, 0.59, "unstable tail"),
        (3.0, 3.1, 4.0, np.nan, "unstable tail"),
        (7.0, np.nan, np.nan, 0.02, "under-trained (> 6)"),
        (7.0, 6.2, 9.0, 0.59, ""),  # shuffled weights have such exponents as well
        (1.5, 1.2, 1.9, 0.06, ""),
        (7.0, 6.2, 9.0, np.nan, ""),  # not compared with any
    ],
)
def test_warnings_say_nothing_that_the_row_contradicts(report, alpha, low, high, p, expected):
    row = replace(report.spectra[0], status="ok", alpha=alpha, alpha_low=low, alpha_high=high, null_p_value=p, n_null=9)
    text = render([replace(report, spectra=(row,))], "table")
    words = ("over-trained", "under-trained", "unstable tail")
    assert [word for word in words if word in text] == [word for word in words if expected.startswith(word)]
    assert expected in text


@pytest.mark.parametrize(
    ("n", "n_layers", "expected"), [(100, 19, "0.75"), (39, 20, "1"), (20, 19, "0"), (199, 40, "2")]
)
def test_chance_by_the_p_values_that_the_draws_can_give(report, n, n_layers, expected):
    """With n draws these are the multiples of 2/(n + 1)."""
    row = replace(report.spectra[0], status="ok", alpha=3.0, null_p_value=0.5, n_null=n)
    text = render([replace(report, spectra=(row,) * n_layers)], "table")
    p = 2 * np.arange(1, n) / (n + 1)  # each as likely as any other
    assert f"0 of {n_layers} spectra, where chance gives about {expected}\n" in text
    assert float(expected) == pytest.approx(n_layers * np.sum(p <= 0.05 + 1e-9) * 2 / (n + 1), abs=0.005)
