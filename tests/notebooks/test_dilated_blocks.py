"""The chapter on dilated blocks with other parameters."""

FAST = {"widths": [1, 2], "n_dilations": 3, "channels": 2, "max_iterations": 8}
VARIANTS = {
    "another process": {"process": "RationalQuadratic", "process_parameters": {"scale": 1.5}},
    "an attained target": {"process": "AR1"},
    "one channel": {"channels": 1},
    "one block": {"n_blocks": 1},
    "two blocks of four": {"n_blocks": 2, "n_dilations": 4, "n_starts": 2},
}


def test_it_runs_with_other_parameters(values, parameters):
    assert {name.split(".")[1] for name in values} == {"40"}
    assert values["P1.40.one_channel"] == 0
    assert 0 <= values["P1.40.short_range"] <= 1
    if parameters.get("n_blocks") == 1 or parameters.get("channels") == 1:
        assert values["P1.40.gap"] == 0
