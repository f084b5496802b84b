"""The chapter on the counterexample of paper 3 with other parameters."""

import pytest

DRAWN = {"n_resamples": 99}


def test_it_runs_with_other_parameters(run, recorded):
    executed = run(n_resamples=99, seed=3)
    values = recorded(executed)
    assert "in 8 of 16 by the stricter" in str(executed) and "give the same averages for this pair" in str(executed)
    assert len(values) == 21 and {name.split(".")[1] for name in values} == {"07a", "07b", "07c", "07d"}
    assert values["P3.07b.expectation"] == pytest.approx(-0.3)
    assert values["P3.07a.raised"] == 8 and values["P3.07d.as_computed"] == pytest.approx(0.268, abs=0.001)
