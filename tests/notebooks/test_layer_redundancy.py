"""The chapter on redundancy with other parameters."""

import pytest

FAST = {
    "channel_list": [2],
    "n_layers": 4,
    "guided": [2, 4, 2],
    "shown_channels": [1, 2],
    "n_subsets": 12,
    "n_values": 20,
}
FASTER = {**FAST, "n_draws": 2, "n_starts": 2, "uniform": 3}
VARIANTS = {
    "another process": {"process": "DampedCosine"},
    "an attained target": {"process": "AR1"},
    "one exponential": {"process": "RationalQuadratic", "process_parameters": {"scale": 1.0}},
    "nothing redundant": {"channel_list": [1], "shown_channels": [1]},
    "two layers": {"n_layers": 2, "guided": [2], "seed": 4},
}


def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(**{**FASTER, **parameters}))
    assert {name.split(".")[1] for name in values} == {"41", "42", "43"}
    assert values["P1.41.mismatches"] == 0
    assert values["P1.42.smallest"] == pytest.approx(1 / 3)
