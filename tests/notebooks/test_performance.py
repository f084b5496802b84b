"""The chapter on performance with other parameters, and with parameters that it must refuse."""

import re

FAST = {"n_layers": 6}
VARIANTS = {
    "the other run": {"threads": 2, "more_threads": 1},
    "one channel": {"channels": 1},
    "the shortest model": {"n_layers": 2},
}


def agreements(notebook):
    """Text of the cell that compares the routes."""
    (cell,) = (cell for cell in notebook.cells if cell.id == "perf-21")
    return cell.outputs[0]["data"]["text/plain"]


def test_all_routes_agree(run, parameters):
    text = agreements(run(**{**FAST, **parameters}))
    assert re.findall(r"(yes|no)$", text, re.MULTILINE) == ["yes"] * 4


def test_it_refuses_runs_that_are_not_stored(refused):
    refused("threads: found 64, expected one of 1, 2", threads=64)
