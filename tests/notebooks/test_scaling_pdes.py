"""The chapter on the heat equation with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "scaling_pdes"
FAST = {"depths": [16, 64, 256], "spreads": [1, 4, 16], "very_deep": 4096}
CHECKS = {
    "P2.16.same_edges",
    "P2.16.path_sum",
    "P2.02.coefficient",
    "P2.02.depth_alone",
    "P2.02.order_layers",
    "P2.02.order_spread",
    "P2.02.conservation",
    "P2.02.unit_columns",
    "P2.02.drift",
    "P2.02.with_drift",
    "P2.02.drift_order",
    "P2.03.quadrature",
    "P2.03.layers",
    "P2.03.edge_images",
}
VARIANTS = {
    "a causal kernel": {"kernel": {0: 3.0, 1: 1.0, 4: 0.25}},
    "offsets as text": {"kernel": {"-1": 0.5, "1": 0.5}},
    "reflection": {"boundary": "reflecting"},
    "renormalised edges": {"boundary": "renormalised"},
    "the smallest drawing": {"n_positions": 1, "drawn_layers": 2, "target": [1, 1]},
    "a wide drawing": {"n_positions": 9, "drawn_layers": 4, "target": [4, 9]},
    "few settings": {"depths": [40, 50], "spreads": [0.5, 3], "very_deep": 50},
}


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(NAME, **{**FAST, **parameters}))
    assert set(values) == CHECKS
    assert values["P2.16.same_edges"] is True and values["P2.16.path_sum"] < 1e-12
    assert values["P2.02.conservation"] < 1e-12
    assert values["P2.03.quadrature"] < 1e-10


def test_figures_of_another_kernel(drawn):
    drawn(NAME, **{**FAST, "kernel": {-2: 0.5, 3: 0.2}, "boundary": "reflecting"})


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        (r"kernel\[1\]: found -1", {"kernel": {1: -1.0}}),
        ("kernel: found {}", {"kernel": {}}),
        ("a positive rate at an offset other than 0", {"kernel": {0: 1.0}}),
        ("depths: found 0, expected a whole number", {"depths": [0, 8]}),
        ("depths: found 1 of .* above the total rate of jumps, 2", {"depths": [8]}),
        ("total rate of jumps, 128", {"depths": [8, 16]}),
        ("total rate of jumps, 8", {"depths": [4, 8], "spreads": [1, 1.5]}),
        ("spreads: found .*, expected at least two", {"spreads": [4]}),
        ("very_deep: found 0", {"very_deep": 0}),
        ("boundary: found 'periodic'", {"boundary": "periodic"}),
        ("Did you mean 'absorbing'", {"boundary": "absorbin"}),
        ("n_positions: found 0", {"n_positions": 0}),
        ("depth: found 1", {"drawn_layers": 1}),
        ("target: found layer 7", {"target": [7, 1]}),
        ("depth: not a parameter.*Did you mean 'depths'", {"depth": [8]}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
