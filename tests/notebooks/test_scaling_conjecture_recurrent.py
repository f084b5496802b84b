"""The chapter on recurrent networks with other parameters."""

FAST = {"n_steps": 32, "n_units": 12, "lengths": [8, 32], "compared": [8, 32], "exponents": [], "n_draws": 6}
VARIANTS = {
    "another leak": {"alpha": 3.0, "n_steps": 100},
    "more scales": {"exponents": [0.1, 0.6], "lengths": [4, 8, 16, 32]},
    "few units": {"n_units": 4, "seed": 3},
}
DRAWN = FAST


def test_it_runs_with_other_parameters(values):
    assert {name.split(".")[1] for name in values} == {"15"} and len(values) == 15
    assert values["P2.15.forgetting"] < 1e-13 and values["P2.15.probe_law"] < 1e-12
    assert values["P2.15.orthogonal"] < 1e-12
    assert values["P2.15.shared"] > 2 > values["P2.15.shared_inverse"]
