"""Exact leverages of a few examples, by conjugate gradients, against the dense route."""

import numpy as np
import pytest

import capcore as cc
from benchmarks import leverages

pytest.importorskip("jax")
pytestmark = pytest.mark.ci


def test_leverages_by_conjugate_gradients_are_those_of_the_dense_route():
    x, y, w = leverages.trained(60, (12, 30, 20, 3), epochs=4, batch=20)
    options = {"loss": "cross-entropy", "weight_decay": 0.6, "subspaces": {}}
    dense = cc.allocate_network(leverages.apply, w, x, y, method="dense", **options)
    sketch = cc.allocate_network(leverages.apply, w, x, y, method="sketch", probes=2, tolerance=0.1, **options)
    chosen = np.array([3, 59, 20])
    found, above, steps = leverages.exact_leverages(sketch, chosen)
    expected = dense.per_example[chosen]
    rounding = 1e-9 * expected
    assert steps > 0
    assert np.all(found >= expected - rounding) and np.all(found - expected <= above + rounding)
    assert np.all(above <= leverages.TOLERANCE * expected * (1 + leverages.TOLERANCE))


def test_the_command_says_what_does_not_hold(monkeypatch, capsys):
    arguments = ["--widths", "12", "30", "20", "3", "--examples", "60", "--chosen", "6"]
    assert leverages.main(arguments) == 0
    assert "rank correlation 1.0000" in capsys.readouterr().out
    monkeypatch.setitem(leverages.LIMITS, "gib", 0.01)
    assert leverages.main(arguments) == 1
    assert "** gib: expected 0.01 **" in capsys.readouterr().out
