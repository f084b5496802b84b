"""The report of the three axes."""

import numpy as np

from chapters.capacity_vs_expressivity.memorisation import MemorisationCurve, TargetFit
from chapters.capacity_vs_expressivity.model_axes import ModelAxes, axes_table


def test_it_shows_medians_and_what_is_missing():
    curve = MemorisationCurve([8, 16], [[1.0, 1.0], [0.5, 0.5]])
    fits = {"order": TargetFit(np.ones(3), np.array([0.5, 0.6, 0.9]))}
    full = ModelAxes("a", 1234, curve, fits, np.array([7, 8, 9]), np.array([0.0, 0.25, 0.5]))
    bare = ModelAxes("b", 5, MemorisationCurve([8], [[1.0]]))
    table = axes_table([full, bare])
    assert list(table["a"].values()) == ["1,234", "8", "0.60", "8", "0.25"]
    assert list(table["b"].values()) == ["5", "≥ 8", "–", "–", "–"]
    assert list(table["a"]) == list(table["b"])
    said = repr(full)
    assert said.startswith("ModelAxes(a: parameters 1,234, random labels memorised 8, order, test 0.60, ")
    assert "κ (rank of Jacobian) 8" in said
