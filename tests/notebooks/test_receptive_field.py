"""The chapter on receptive fields with other parameters."""

import pytest

FAST = {"deepest": 128, "network_depth": 32, "draws": 4, "wide": 12}
VARIANTS = {
    "larger squared weights": {"jump": 0.5, "network_jump": 0.25},
    "more jumps": {"rate": 4.0, "deepest": 32},
    "one channel": {"channels": 1},
    "other draws": {"seed": 7, "draws": 2},
}
DRAWN = FAST


def test_it_runs_with_other_parameters(values):
    assert len(values) == 12
    assert values["P2.04.fixed_exponent"] == pytest.approx(0.5)
    assert values["P2.04.scaled_exponent"] == pytest.approx(0, abs=1e-9)
