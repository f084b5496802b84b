"""The page on the bound of a design with other parameters."""

from tests.notebooks.conftest import said

FAST = {"n_inputs": 32, "max_params": 24}
VARIANTS = {
    "another process": {"process": "FractionalGaussianNoise", "process_parameters": {"hurst": 0.9}},
    "an attained target": {"process": "AR1"},
    "few inputs": {"n_inputs": 16, "max_params": 16},
}
DRAWN = FAST


def test_it_runs_with_other_parameters(run, recorded, parameters):
    found = run(**{**FAST, **parameters})
    values = recorded(found)
    assert {name.split(".")[1] for name in values} == {"44"}
    assert values["P1.44.parameters"] == -8 and values["P1.44.families"] == 5
    assert "Of 10,652 stacks fitted in searches, none went below the fitted bound (entries lowered: 0)" in said(found)
