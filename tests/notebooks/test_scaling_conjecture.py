"""The chapter on the scaling conjecture with other parameters."""

from tests.notebooks.conftest import said

VARIANTS = {
    "everything else": {"n_layers": 40, "exponent": 0.75, "constant": 4.9, "width": 8, "seed": 5},
    "two layers": {"n_layers": 2, "width": 1},
}
DRAWN = {"n_layers": 16, "width": 8}


def test_it_runs_with_other_parameters(run, recorded, parameters):
    notebook = run(**parameters)
    values = recorded(notebook)
    assert values["P2.05.grows"] > 10 > values["P2.05.finite_half"]
    assert {name.split(".")[1] for name in values} == {"05", "06", "19"}
    scale = rf"= {parameters.get('constant', 2.0):g} \cdot {parameters['n_layers']}^"
    assert scale in said(notebook)
