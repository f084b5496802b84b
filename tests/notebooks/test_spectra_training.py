"""The chapter on trained networks with other parameters."""

import pytest

FAST = {"n_resamples": 100}
DRAWN = FAST


@pytest.mark.parametrize("parameters", [{}, {"seed": 5, "n_resamples": 200}], ids=["few resamples", "another seed"])
def test_it_runs_with_other_parameters(values):
    assert len(values) == 13 and {name.split(".")[1] for name in values} == {"08"}
    assert values["P3.08.norm_instead"] == 1 and values["P3.08.with_decay"] > 0.3
    assert values["P3.08.alpha_norm_instead"] == 0 and values["P3.08.alpha_with_decay"] < -0.3
