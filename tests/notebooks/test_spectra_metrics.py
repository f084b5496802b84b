"""The chapter on the metrics of paper 3 with other parameters."""

FAST = {"size": 60, "n_draws": 3, "channels": 10}
DRAWN = FAST


def test_it_runs_with_other_parameters(run, recorded):
    executed = run(**FAST, factor=0.5, small=2.0, seed=1)
    values = recorded(executed)
    assert "with α up to 2, none is within 14 % of it" in str(executed)
    assert len(values) == 14 and {name.split(".")[1] for name in values} == {"04", "05"}
    assert values["P3.04.negative"] == 4 and values["P3.04.alpha_norm"] == 0
    assert values["P3.05.resnets"] == 0
