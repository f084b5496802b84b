"""The chapter on the heat equation with other parameters."""

FAST = {"depths": [16, 64, 256], "spreads": [1, 4, 16], "very_deep": 4096}
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


def test_it_runs_with_other_parameters(values):
    assert len(values) == 14 and {name.split(".")[1] for name in values} == {"02", "03", "16"}
    assert values["P2.16.same_edges"] is True and values["P2.16.path_sum"] < 1e-12
    assert values["P2.02.conservation"] < 1e-12
    assert values["P2.03.quadrature"] < 1e-10
