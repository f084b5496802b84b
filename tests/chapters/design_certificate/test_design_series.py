"""Three series: there, long enough, and what is stored of them is what the package says."""

import pytest

from chapters.design_certificate import design_series as experiment
from chapters.design_certificate import study
from chapters.kit.stored import stored

CONTENT = stored("design_series")["values"]


def test_three_series():
    assert [len(values) for values in experiment.series().values()] == [1047, 12000, 800]


def test_a_quick_run_has_what_the_page_reads():
    found = experiment.run(experiment.SETTINGS | experiment.QUICK)
    assert list(found) == list(CONTENT)
    for name, values in found.items():
        row = study.row(name, values)
        assert row["recommended"] == values["best"]["words"] and row["halves agree"] in ("yes", "no")
        assert float(row["stack of least loss: loss"]) == pytest.approx(values["stack"]["loss"], abs=6e-4)


def test_no_series_asks_for_a_stack():
    assert {values["family"] for values in CONTENT.values()} == {"near and pools", "autoregressive"}
    assert [values["agree"] for values in CONTENT.values()].count(False) == 1
