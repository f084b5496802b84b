"""Figures on a dark page: legible, in the explorers' colours, and with maps as they are on a light one."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

from book._ext.dark_figures import PAGE, on_dark, themed
from capcore.plotting import use_style
from chapters.kit.pictures import svg
from tests.listings import ROOT

CARD = f"{PAGE:02x}" * 3


def luminance(colour):
    parts = np.array([int(colour[i : i + 2], 16) for i in (0, 2, 4)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture
def figure():
    with plt.style.context("default"):
        use_style()
        yield plt.figure()
    plt.close("all")


def test_colours_are_those_of_the_explorers():
    light, dark = (ROOT / "book/_static/palette.css").read_text("utf8").split("html[data-theme")
    for one, other in zip(re.findall("#(.{6});", light), re.findall("#(.{6});", dark), strict=True):
        ours, theirs = (bytes.fromhex(colour) for colour in (on_dark(one), other))
        assert one == "000000" or np.allclose(list(ours), list(theirs), atol=1), one  # theirs is rounded once


def test_text_is_legible_and_white_is_the_page():
    assert on_dark("ffffff") == CARD
    assert contrast(on_dark("1a1a1a"), CARD) > 7 and contrast(on_dark("4d4d4d"), CARD) > 7  # labels, ticks
    assert contrast(on_dark("dedede"), CARD) < 2, "a grid stays faint"


def test_other_colours_keep_their_order_from_light_to_dark():
    ramp = ["f7c2a2", "f47d57", "d82748", "7f1e5a", "2d1738"]
    seen = [luminance(on_dark(colour)) for colour in ramp]
    assert seen == sorted(seen, reverse=True)


def test_an_svg_has_both_colours_and_no_other(figure):
    ax = figure.subplots()
    ax.plot([0, 1], [0, 1])
    ax.bar([0, 1], [1, 1], hatch="//", color="C1")
    drawn = themed(svg(figure))
    assert re.search(r"dark\)\{:root\{[^}]*--0072b2:#59a3cd", drawn)
    used = set(re.findall(r"(?:fill|stroke): (?:var\(--)?#?([0-9a-f]{6})", drawn))
    assert used and all(f"--{colour}:#" in drawn for colour in used)
    assert not re.search(r"(fill|stroke)(: |=.)#", drawn) and "--d55e00:#e49659" in drawn


def test_what_lies_on_a_map_keeps_its_colours(figure):
    ax = figure.subplots()
    ax.imshow(np.eye(3))
    ax.plot(1, 1, "o", color="white")
    ax.text(0, 0, "0.5", color="white")
    ax.text(0, -1.2, "outside")
    shown = svg(figure)
    assert len(re.findall('id="as-drawn-', shown)) == 2
    assert '[id^="as-drawn"]{' in themed(shown)


def test_what_a_colour_bar_explains_keeps_its_colours(figure):
    left, right = figure.subplots(1, 2)
    left.scatter([0, 1], [0, 1], c=[0.0, 1.0])
    right.scatter([0, 1], [0, 1], color="C1")
    assert len(re.findall('id="as-drawn-', svg(figure))) == 1
