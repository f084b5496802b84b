"""The chapter on the bridge to paper 1 with other parameters."""

FAST = {"n_draws": 60, "n_rotations": 2, "widths": [1, 2]}
VARIANTS = {
    "another process": {"process": "FractionalGaussianNoise", "process_parameters": {"hurst": 0.6}},
    "an attained target": {"process": "AR1"},
    "kernel size 3": {"n_layers": 3, "kernel_size": 3},
    "two channels": {"channels": 2, "n_layers": 5},
    "one channel": {"channels": 1, "widths": []},
}
DRAWN = {**FAST, "n_layers": 4}


def test_it_runs_with_other_parameters(values):
    assert len(values) == 10 and {name.split(".")[1] for name in values} == {"17"}
    assert values["P2.17.chain_identity"] < 1e-6
    assert values["P2.17.one_channel"] < 1e-8 and values["P2.17.residual"] < 1e-8
