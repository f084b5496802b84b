"""The chapter on performance with other parameters, and with parameters that it must refuse."""

import re

import pytest

NAME = "performance"
FAST = {"n_layers": 6}
VARIANTS = {
    "the other run": {"threads": 2, "more_threads": 1},
    "one channel": {"channels": 1},
    "the shortest model": {"n_layers": 2},
    "another start": {"seed": 3},
}


def agreements(notebook):
    """Text of the cell that compares the routes."""
    (cell,) = (cell for cell in notebook.cells if cell.id == "perf-21")
    return cell.outputs[0]["data"]["text/plain"]


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_all_routes_agree(run, parameters):
    text = agreements(run(NAME, **{**FAST, **parameters}))
    assert re.findall(r"(yes|no)$", text, re.MULTILINE) == ["yes"] * 4


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("threads: found 64, expected one of 1, 2", {"threads": 64}),
        ("threads: found 0", {"more_threads": 0}),
        ("n_layers: found 1, expected a whole number of at least 2", {"n_layers": 1}),
        ("channels: found 0", {"channels": 0}),
        ("seed: found -1", {"seed": -1}),
        ("thread: not a parameter.*Did you mean 'threads'", {"thread": 1}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
