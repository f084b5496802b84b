"""The chapter that sweeps, with other models recomputed."""

import pytest

from tests.notebooks.conftest import said


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"process": "AR1", "channels": 1, "n_layers": 3, "seed": 4}, "stored sweep"),
        ({"seed": 7}, "none of them is among the stored ones"),
    ],
    ids=str,
)
def test_other_parameters(run, parameters, message):
    assert message in said(run("five_families", **parameters))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"process": "Wiener"}, "process: found 'Wiener'"),
        ({"n_layers": 1}, "n_layers: found 1"),
        ({"channels": 0}, "channels: found 0"),
        ({"seed": -1}, "seed: found -1"),
        ({"layers": 4}, "layers: not a parameter of this notebook"),
    ],
    ids=str,
)
def test_refused_parameters(refused, parameters, message):
    refused("five_families", message, **parameters)
