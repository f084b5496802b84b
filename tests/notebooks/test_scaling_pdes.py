"""The chapter on the heat equation with other parameters."""

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
DRAWN = {**FAST, "kernel": {-2: 0.5, 3: 0.2}, "boundary": "reflecting"}


def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(**{**FAST, **parameters}))
    assert set(values) == CHECKS
    assert values["P2.16.same_edges"] is True and values["P2.16.path_sum"] < 1e-12
    assert values["P2.02.conservation"] < 1e-12
    assert values["P2.03.quadrature"] < 1e-10
