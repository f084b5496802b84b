"""The chapter on accuracy with other parameters."""

import pytest

FAST = {"n_studies": 20}
VARIANTS = {"another seed": {"seed": 1}, "a metric that knows more": {"knows": 3.0}}
DRAWN = FAST


def test_it_runs_with_other_parameters(values):
    """What is recorded comes from the stored statistics, whatever is simulated."""
    assert len(values) == 13 and {name.split(".")[1] for name in values} == {"03", "10", "11"}
    assert values["P3.03.alpha_hat_families"] == 1.0
    assert values["P3.03.alpha_families"] == pytest.approx(7 / 13, abs=1e-3)
    assert values["P3.11.low"] < 0 < values["P3.11.high"], "the interval of α over all networks leaves the sign open"
