"""The chapter on events and trained networks with other parameters."""

import re

from tests.notebooks.conftest import said

VARIANTS = {
    "one channel, another start": {"channels": 1, "seed": 3, "steps": 200},
    "a large event": {"size": 1.0, "steps": 200},
}


def test_it_runs_with_other_parameters(run, parameters):
    notebook = run(**parameters)
    assert "The missed share" in said(notebook)
    (cell,) = (cell for cell in notebook.cells if cell.id == "refit")
    printed = "".join(output.text for output in cell.outputs)
    shares = [float(each) for each in re.findall(r"[\d.]+$", printed, re.MULTILINE)]
    assert len(shares) == 2 and all(0 <= share < 2 for share in shares)
