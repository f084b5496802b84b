"""The chapter on choices with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "spectra_choices"
FAST = {"n_shuffles": 99}
VARIANTS = {"pooled": {"column": "α, pooled"}, "weighted": {"column": "α̂", "power": 0.5, "seed": 2}}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, parameters):
    executed = run(NAME, **{**FAST, **parameters})
    assert not any(output.output_type == "error" for cell in executed.cells for output in cell.get("outputs", []))


def test_the_figures_are_drawn(drawn):
    drawn(NAME, **FAST)


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("column: found 'alpha', expected one of", {"column": "alpha"}),
        ("power: found 2", {"power": 2.0}),
        ("n_shuffles: found 9, expected a whole number of at least 99", {"n_shuffles": 9}),
        ("n_shuffle: not a parameter.*Did you mean 'n_shuffles'", {"n_shuffle": 99}),
        ("seed: found -1", {"seed": -1}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
