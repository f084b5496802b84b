"""The first page and the last: their code runs as printed, and the words of the first need no chapter."""

import json
import re

from capcore import Hierarchical
from chapters.kit.explorer import MIME
from tests.listings import ROOT


def live(name):
    """What the explorer of a figure was given."""
    cells = json.loads((ROOT / "notebooks" / "idea.ipynb").read_text("utf8"))["cells"]
    outputs = [output for cell in cells if cell["id"] == name for output in cell["outputs"]]
    return next(output["data"][MIME] for output in outputs if MIME in output.get("data", {}))


def test_the_first_page_plants_an_event():
    (name,) = re.findall(r"notebook-figure\} (\S+)", (ROOT / "book/index.md").read_text("utf8"))
    assert live(name) == {"kind": "missed-events", "stored": "missed_events"}


def test_the_idea_opens_with_a_model_at_rest_and_one_target_to_drag():
    found = live("fig-move")
    assert found["kind"] == "moved-target" and found["controls"] == ["first", "second"]
    assert found["data"]["correlation"] == 0 and found["data"]["models"][0]["powers"] == [[0, 2], [0, 1]]


def test_channels_at_either_end_are_wasted():
    """What the last page says of the gaps near input and output."""
    for gap, most in enumerate((2, 4, 8, 4, 2)):
        widths = [8] * 5
        widths[gap] = most
        assert Hierarchical(widths, 6).generic_capacity() == 64
        widths[gap] = most - 1
        assert Hierarchical(widths, 6).generic_capacity() < 64
