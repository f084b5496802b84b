"""The idea in ten minutes with other parameters."""

VARIANTS = {
    "everything else": {"correlation": -0.5, "channels": 4, "process": "RationalQuadratic"},
    "full capacity": {"channels": 8},
    "a low-rank target": {"process": "AR1"},
}


def test_it_runs_with_other_parameters(run, parameters):
    assert run(**parameters)
