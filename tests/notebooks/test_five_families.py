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
    assert message in said(run(**parameters))
