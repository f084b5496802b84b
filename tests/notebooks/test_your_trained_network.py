"""The chapter on one's own trained network with other parameters."""

import re

import pytest

from tests.notebooks.conftest import said


@pytest.mark.parametrize(
    "parameters", [{"width": 4, "n_images": 100, "decay": 3.0, "seed": 2}, {"width": 2, "n_images": 120}], ids=str
)
def test_it_runs_with_other_parameters(run, parameters):
    notebook = run(**parameters)
    size = 64 * parameters["width"] + parameters["width"] + 10 * parameters["width"] + 10
    printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    (total,) = re.findall(rf"(\S+) of {size:,} parameters count; report this number", printed)
    assert 0 < float(total) < size
    decay = parameters.get("decay", 1.0)
    (chosen,) = re.findall(r"Leave-one-out is least at decay (\S+),", said(notebook))
    assert min(abs(float(chosen) / decay / factor - 1) for factor in (0.03, 0.1, 0.3, 1, 3)) < 0.01
