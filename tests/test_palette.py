"""The colours of the figures are told apart with each of the three colour deficiencies, or without colour at all."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from capcore.plotting import CYCLE, LAYERS, LINES, MARKERS, SIZES, channel_colours, layer_colours
from capcore.processes import FAMILIES
from chapters.shared.process_names import PROCESSES
from scripts.write_palette import palette

# What is left of linear red, green and blue where one kind of cone is missing: G. M. Machado, M. M. Oliveira and
# L. A. F. Fernandes, A physiologically-based model for simulation of color vision deficiency, 2009, severity 1.0.
SEEN = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "grey": [[0.2126, 0.7152, 0.0722]] * 3,
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
APART = 15.0  # of colours in no order; a difference of 2.3 in CIELAB can just be noticed side by side
STEP = 6.0  # of neighbours in an order
SETS = {"series": CYCLE, "processes": [look["color"] for look in PROCESSES.values()]}
ORDERED = {"layers": layer_colours(8), "channels": list(channel_colours([1, 2, 4, 8]).values()), "sizes": SIZES.split()}


def lab(colour, vision):
    """The colour in CIELAB, as somebody with this vision sees it."""
    rgb = np.asarray(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(SEEN[vision] @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def nearest(colours, vision):
    """The least difference between two of the colours."""
    return min(np.linalg.norm(lab(one, vision) - lab(other, vision)) for one, other in combinations(colours, 2))


def steps(colours, vision):
    """From each colour to the next: differences, and by how much it gets darker."""
    seen = np.array([lab(colour, vision) for colour in colours])
    return np.linalg.norm(np.diff(seen, axis=0), axis=1), -np.diff(seen[:, 0])


def test_black_and_white_are_a_hundred_apart_and_grey_has_no_colour():
    for vision in SEEN:
        np.testing.assert_allclose(lab("white", vision) - lab("black", vision), [100, 0, 0], atol=0.1)
    np.testing.assert_allclose(lab("#d55e00", "grey")[1:], 0, atol=0.1)


@pytest.mark.parametrize("vision", [vision for vision in SEEN if vision != "grey"])
@pytest.mark.parametrize("name", SETS)
def test_colours_in_no_order_are_far_apart(name, vision):
    assert nearest(SETS[name], vision) >= APART


@pytest.mark.parametrize("vision", SEEN)
@pytest.mark.parametrize("name", ORDERED)
def test_ordered_colours_get_darker_in_steps_that_are_seen(name, vision):
    differences, darker = steps(ORDERED[name], vision)
    assert differences.min() >= STEP and darker.min() >= 5


def test_a_bad_palette_is_found():
    red_and_green = ["#b03030", "#4f6f2a"]
    assert nearest(red_and_green, "normal") > 3 * APART and nearest(red_and_green, "deuteranopia") < APART
    assert steps(["#ffffcc", "#ff6666", "#66cc66"], "grey")[1].min() < 0


def test_without_colour_processes_differ_by_line_and_mark_and_series_by_mark():
    lines, marks = ([look[cue] for look in PROCESSES.values()] for cue in ("linestyle", "marker"))
    assert list(PROCESSES) == list(FAMILIES) and len(set(marks)) == len({*map(str, lines)}) == len(PROCESSES)
    assert len(set(MARKERS)) >= len(CYCLE) and len(set(LINES)) == len(LINES)


def test_layers_and_channels_are_never_confused():
    for one in LAYERS.split()[:6]:
        assert min(np.linalg.norm(lab(one, "normal") - lab(other, "normal")) for other in SIZES.split()) > 2 * APART


def test_the_same_number_of_channels_has_the_same_colour_in_every_figure():
    assert channel_colours([1, 2, 4, 8])[4] == channel_colours([3, 4])[4] == channel_colours(range(1, 9))[4]


def test_the_explorers_have_the_figures_colours():
    written = Path(__file__).resolve().parents[1] / "book" / "_static" / "palette.css"
    assert written.read_text("utf8") == palette(), "run python scripts/write_palette.py"
