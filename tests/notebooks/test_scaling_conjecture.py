"""The chapter on the scaling conjecture with other parameters."""

import pytest

NAME = "scaling_conjecture"
VARIANTS = {
    "everything else": {"n_layers": 40, "exponent": 0.75, "constant": 4.9, "width": 8, "seed": 5},
    "two layers": {"n_layers": 2, "width": 1},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, recorded, parameters):
    notebook = run(NAME, **parameters)
    values = recorded(notebook)
    assert values["P2.05.grows"] > 10 > values["P2.05.finite_half"]
    assert {name.split(".")[1] for name in values} == {"05", "06", "19"}
    text = [
        output.data.get("text/markdown", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "data" in output
    ]
    scale = rf"= {parameters.get('constant', 2.0):g} \cdot {parameters['n_layers']}^"
    assert any(scale in each for each in text)


def test_its_figures_are_drawn(drawn):
    drawn(NAME, n_layers=16, width=8)
