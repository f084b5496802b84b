"""What a notebook shows of a result: every public result has a table, and no text of a file becomes HTML."""

import dataclasses

import numpy as np
import pytest

import capcore as cc
from capcore.results.notebook import as_table, bars, table
from tests.checks.test_hostile import PACKAGES
from tests.hostile_rows import RETURNED

TASK, ARCH = cc.PowerLaw(), cc.Hierarchical(channels=2, n_layers=3)


def result_classes():
    found = {name: getattr(package, name) for package in PACKAGES for name in package.__all__ if name in RETURNED}
    found |= {"ConstraintSpace": cc.ConstraintSpace}
    return {name: kind for name, kind in found.items() if isinstance(kind, type) and dataclasses.is_dataclass(kind)}


@pytest.mark.parametrize("name", sorted(result_classes()))
def test_every_public_result_has_a_table(name):
    assert "_repr_html_" in dir(result_classes()[name])


def test_tables_say_what_there_is():
    alloc = cc.allocate(ARCH, cc.fit(ARCH, TASK), TASK)
    space = alloc.space._repr_html_()
    assert "<caption>ConstraintSpace</caption>" in space and f"&lt;8 × {alloc.total}&gt;" in space
    layer = alloc.layers["layer 2"]
    assert f"<td>{layer.totals['marginal']}</td>" in layer._repr_html_()
    assert "&lt;8 × 8&gt;" in alloc.details._repr_html_()
    x = np.random.default_rng(0).normal(size=(20, 3))
    network = cc.allocate_network(lambda w, x: x @ w, np.ones(3), x, x @ np.ones(3))
    shown = network._repr_html_()
    assert "<td>3 (Gauss–Newton)</td>" in shown and "<td>yes</td>" in shown and shown.count("<rect") == 3
    assert "<td>3</td>" in network.layers["all parameters"]._repr_html_()
    report = cc.analyse_spectra({"fc": x.T @ x, "big": np.random.default_rng(0).normal(size=(30, 20))})
    assert "mean alpha" in report._repr_html_()
    assert f"{report.spectra[0].alpha:.6g}" in report.spectra[0]._repr_html_()


def test_text_stays_text():
    hostile = "<script>alert(1)</script>"

    @dataclasses.dataclass
    class Record:
        name: str
        mapping: dict

    for shown in (
        table(hostile, {hostile: hostile}),
        bars(np.ones(2), hostile),
        as_table(Record(hostile, {hostile: 1})),
        cc.analyse_spectra({hostile: np.eye(12)}).spectra[0]._repr_html_(),
    ):
        assert "<script" not in shown and "&lt;script" in shown


def test_bars_have_heights_by_value():
    shown = bars(np.array([2.0, 1.0, -1.0, 0.0]), "capacity")
    assert [f"height='{h:.1f}'" in shown for h in (40, 20, 0)] == [True] * 3 and "height='-" not in shown
