"""The chapter on features with other parameters, and with parameters that it must refuse."""

import pytest

FAST = {"n_samples": 5_000, "n_layers": 3}
VARIANTS = {
    "two features": {"count": 2, "target": "square"},
    "another process": {"process": "RationalQuadratic", "process_parameters": {"scale": 1.2}},
    "an attained target": {"process": "AR1"},
    "a target with a jump": {"target": "sign", "bases": ["Monomials"], "count": 4},
    "one channel, one basis": {"channels": 1, "bases": ["PiecewiseLinear"]},
    "many channels": {"channels": 8, "seed": 3, "period": 6.0, "picture_process": "AR1"},
}


def test_it_runs_with_other_parameters(values, parameters):
    assert {name.split(".")[1] for name in values} == {"34", "35"}
    assert values["P1.34.offset"] <= 1e-6
    # At a singular optimum the tangent space is too small, and the model follows moves outside its constraint space.
    assert (
        (values["P1.34.response"] > 0.05) if parameters.get("process") == "AR1" else (values["P1.34.response"] <= 1e-3)
    )
    assert values["P1.35.sum"] <= 1e-9 and values["P1.35.bound"] <= 1e-9
    assert values["P1.35.orthonormal"] <= 1e-6


def test_one_feature_has_one_basis(run, recorded):
    """y in other units at every input is the same model with the same angles."""
    values = recorded(run(**FAST, count=1, target="value"))
    assert max(values["P1.34.offset"], values["P1.35.basis"], values["P1.35.orthonormal"]) <= 1e-6


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("features: collinear.*Use fewer features", {"bases": ["Monomials"], "count": 40}),
        ("features: collinear", {"period": 1e7}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(message, **parameters)
