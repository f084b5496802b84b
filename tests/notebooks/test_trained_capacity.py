"""The chapter on where trained networks spend capacity with other parameters."""

import re

import pytest

from tests.notebooks.conftest import said


@pytest.mark.parametrize(
    "parameters",
    [{"source": "damped cosine", "warped": False, "units": "gated", "n_examples": 200, "seed": 3}, {"n_examples": 200}],
    ids=str,
)
def test_it_runs_with_other_parameters(run, parameters):
    notebook = run(**parameters)
    assert "some optimum" in said(notebook)
    (live,) = (cell for cell in notebook.cells if cell.id == "live")
    printed = "".join(output.text for output in live.outputs)
    profiles = re.findall(r"^\w+ ([\d.]+)\n\[([\d.\s]+)\]$", printed, re.MULTILINE)
    assert len(profiles) == 2 and printed.endswith("of optima: True\n")
    for total, capacities in profiles:
        assert sum(map(float, capacities.split())) <= float(total) + 0.2  # one input at a time is no more than all
