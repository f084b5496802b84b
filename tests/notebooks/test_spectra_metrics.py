"""The chapter on the metrics of paper 3 with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "spectra_metrics"
FAST = {"size": 60, "n_draws": 3, "channels": 10}


def test_it_runs_with_other_parameters(run, recorded):
    executed = run(NAME, **FAST, factor=0.5, small=2.0, seed=1)
    values = recorded(executed)
    assert "with α up to 2, none is within 14 % of it" in str(executed)
    assert len(values) == 14 and {name.split(".")[1] for name in values} == {"04", "05"}
    assert values["P3.04.negative"] == 4 and values["P3.04.alpha_norm"] == 0
    assert values["P3.05.resnets"] == 0


def test_the_figures_are_drawn(drawn):
    drawn(NAME, **FAST)


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("channels: found 9, expected a whole number of at least 10", {"channels": 9}),
        ("size: found 5, expected a whole number of at least 20", {"size": 5}),
        ("n_draws: found 1, expected a whole number of at least 2", {"n_draws": 1}),
        ("factor: found 1.0, expected a positive number other than 1", {"factor": 1.0}),
        ("small: found 1.2, expected more than 1.5", {"small": 1.2}),
        ("n_draw: not a parameter.*Did you mean 'n_draws'", {"n_draw": 5}),
        ("seed: found -1", {"seed": -1}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
