"""The chapter on spectra with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "spectra"
FAST = {"width": 128, "epochs": 3, "n_draws": 20, "n_resamples": 20, "n_seeds": 2}
VARIANTS = {
    "few epochs": {},
    "another seed": {"seed": 3, "epochs": 1, "n_seeds": 1},
    "a strong decay": {"decay": 3.0, "fast_rate": 3e-2},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(NAME, **{**FAST, **parameters}))
    assert len(values) == 9 and {name.split(".")[1] for name in values} == {"06"}
    assert values["P3.06.number"] == [9, 1, 1] and values["P3.06.bounds"] is True
    assert values["P3.06.linear"] < 1e-12 and values["P3.06.other_map"] > 2


def test_the_figures_are_drawn(drawn):
    drawn(NAME, **FAST)


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("width: found 64, expected a whole number of at least 128", {"width": 64}),
        ("epochs: found 0", {"epochs": 0}),
        ("decay: found -1", {"decay": -1.0}),
        ("rate: found 0", {"fast_rate": 0.0}),
        ("n_draws: found 5, expected a whole number of at least 20", {"n_draws": 5}),
        ("n_seeds: found 0", {"n_seeds": 0}),
        ("seed: found -1", {"seed": -1}),
        ("widht: not a parameter.*Did you mean 'width'", {"widht": 5}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
