"""The chapter on frequencies with other parameters, and with parameters that it must refuse."""

FAST = {"channel_list": [1, 2], "longest": 6, "n_draws": 3}
VARIANTS = {
    "another process": {"process": "RationalQuadratic", "process_parameters": {"scale": 1.5}},
    "an attained target": {"process": "AR1"},
    "the shortest window": {"n_layers": 4},
    "one channel": {"channel_list": [1]},
    "a list of channels": {"channel_list": [[1, 2, 2, 2, 2]]},
}


def test_it_runs_with_other_parameters(values):
    assert set(values) == {"P1.45.sum", "P1.45.cleaner", "P1.45.families", "P1.45.stationary"}
    assert values["P1.45.sum"] <= 1e-9


def test_it_refuses_models_with_full_capacity(refused):
    refused("channels: found only models with full capacity", channel_list=[8])
