"""The chapter on squared gradients with other parameters."""

import pytest

NAME = "random_signs"
FAST = {"n_draws": 1_000, "n_networks": 2}
VARIANTS = {
    "wider layers": {"width": 24},
    "three layers": {"n_layers": 3, "seed": 1},
    "one channel": {"channels": 1, "width": 8},
    "a slow sine": {"frequency": 0.5},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(NAME, **{**FAST, **parameters}))
    assert len(values) == 12 and {name.split(".")[1] for name in values} == {"01"}
    assert all(0 <= value <= 1 for value in values.values())
    assert (values["P2.01.sine"] < 1e-3) == (parameters.get("frequency") == 0.5)


def test_a_slow_sine_is_said_to_be_slow(run):
    said = [
        output["data"]["text/markdown"]
        for cell in run(NAME, **FAST, frequency=1.0).cells
        for output in cell.get("outputs", [])
        if "text/markdown" in output.get("data", {})
    ]
    assert sum("the sine is too slow" in text for text in said) == 1
    assert not any("come out as the law says" in text for text in said)


def test_the_figures_are_drawn(drawn):
    drawn(NAME, **FAST, width=6)
