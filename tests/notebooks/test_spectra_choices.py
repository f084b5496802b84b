"""The chapter on choices with other parameters."""

import pytest

NAME = "spectra_choices"
VARIANTS = {"pooled": {"column": "α, pooled"}, "weighted": {"column": "α̂", "power": 0.5}}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, parameters):
    text = str(run(NAME, **parameters))
    assert f"For {parameters['column']}, ρ is" in text and f"{100 * parameters.get('power', 0.8):.0f} %" in text


def test_the_figures_are_drawn(drawn):
    drawn(NAME)
