"""The style of all figures: its colours, and that it leaves plain tick labels to be drawn as text."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from capcore.plotting import CYCLE, channel_colours, use_style


def luminance(colour):
    return np.dot(to_rgb(colour), [0.2126, 0.7152, 0.0722])


def test_without_matplotlib_one_sentence_names_the_extra():
    program = "import sys; sys.modules['matplotlib'] = None; import capcore.plotting"
    said = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True).stderr.splitlines()[-1]
    assert said.endswith("found no matplotlib, expected it for the figures. Install it: pip install matplotlib.")


@pytest.mark.parametrize("count", [1, 2, 9])
def test_an_ordered_quantity_runs_from_light_to_dark(count):
    colours = channel_colours(list(range(count)))
    assert list(colours) == list(range(count))
    assert np.all(np.diff([luminance(colour) for colour in colours.values()]) < 0)


def test_the_style_is_applied():
    with plt.style.context("default"):
        use_style()
        assert plt.rcParams["axes.prop_cycle"].by_key()["color"] == list(CYCLE)
        assert plt.rcParams["axes.formatter.use_mathtext"] is False
