"""The figures draw what they are given, and return their axis."""

import numpy as np
import pandas as pd
import pytest

from chapters.trained_capacity import figures as draw


def test_costs(ax):
    cells = [{"missed": [0.1, 0.5], "cost": [0.2, 0.4]}, {"missed": [0.3], "cost": [0.3]}]
    assert draw.plot_costs({"a": cells[:1], "b": cells}, ax) is ax
    line, first, second = ax.get_lines()
    assert np.array_equal(*line.get_data()) and first.get_xydata().tolist() == [[0.1, 0.2], [0.5, 0.4]]
    assert len(second.get_xydata()) == 3 and second.get_label() == "b"


def test_ranks(ax):
    table = pd.DataFrame({"one": [0.5, 0.9], "other": [-0.2, 0.4]}, index=["a", "b"])
    assert draw.plot_ranks(table, ax) is ax
    assert [label.get_text() for label in ax.get_yticklabels()] == ["one", "other"]
    (mean,) = (each for each in ax.get_lines() if each.get_label() == "mean")
    assert mean.get_xdata() == pytest.approx([0.7, 0.1]) and ax.get_xlim()[0] < -0.2
