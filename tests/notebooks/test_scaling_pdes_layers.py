"""The chapter on connections, side inputs and biases with other parameters."""

import pytest

FAST = {"depths": [16, 64, 128], "spreads": [1, 4, 16], "very_deep": 4096}
VARIANTS = {
    "little spread": {"diffusion": 0.5},
    "much spread": {"diffusion": 16},
    "a small leak": {"leak": 0.05},
    "a large leak": {"leak": 7.5},
    "layers alike": {"strengths": [1]},
    "one part without capacity": {"strengths": [0, 1, 0.5]},
    "shallow": {"depths": [10, 12], "leak": 1},
}
DRAWN = {**FAST, "diffusion": 2, "leak": 0.5}


def test_it_runs_with_other_parameters(values):
    assert {name.split(".")[1] for name in values} == {"07", "08", "09"} and len(values) == 19
    assert values["P2.09.conservation"] < 1e-12
    assert values["P2.07.integral"] < 1e-9 and values["P2.08.integral"] < 1e-9
    assert values["P2.07.initial_slip"] == pytest.approx(1)
