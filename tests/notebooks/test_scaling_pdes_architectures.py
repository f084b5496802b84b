"""The chapter on dilation, channels and dimensions with other parameters."""

import pytest

FAST = {"deepest": 128, "channel_list": [2, 3]}
VARIANTS = {
    "more jumps": {"rate": 4.0},
    "hardly any jumps": {"rate": 0.1},
    "deeper and steeper": {"layers": 300, "largest": 100.0},
}
DRAWN = FAST


def test_it_runs_with_other_parameters(values):
    assert {name[:5] for name in values} == {"P2.12", "P2.13", "P2.14", "P2.18"} and len(values) == 23
    assert values["P2.13.uniform_gap"] < 1e-13
    assert values["P2.12.printed_variance"] == pytest.approx(2.164, abs=1e-3)
