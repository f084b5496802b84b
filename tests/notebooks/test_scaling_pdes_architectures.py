"""The chapter on dilation, channels and dimensions with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "scaling_pdes_architectures"
FAST = {"deepest": 128, "channels": [2, 3]}
VARIANTS = {
    "more jumps": {"rate": 4.0},
    "hardly any jumps": {"rate": 0.1},
    "deeper and steeper": {"layers": 300, "largest": 100.0},
    "other draws": {"seed": 3, "deepest": 32},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(NAME, **{**FAST, **parameters}))
    assert {name[:5] for name in values} == {"P2.12", "P2.13", "P2.14", "P2.18"} and len(values) == 23
    assert values["P2.13.uniform_gap"] < 1e-13
    assert values["P2.12.printed_variance"] == pytest.approx(2.164, abs=1e-3)


def test_its_figures_are_drawn(drawn):
    drawn(NAME, **FAST)


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("rate: found 5, expected more than 0 and at most 4", {"rate": 5}),
        ("rate: found 0", {"rate": 0}),
        ("rate: found 'high'", {"rate": "high"}),
        ("deepest: found 20, expected at least 32", {"deepest": 20}),
        ("layers: found 7", {"layers": 7}),
        ("layers: found 1000, expected at most 500", {"layers": 1000}),
        ("largest: found 1, expected more than 1", {"largest": 1.0}),
        ("channels: found 1", {"channels": [1]}),
        ("seed: found -1", {"seed": -1}),
        ("layer: not a parameter.*Did you mean 'layers'", {"layer": 20}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
