"""The chapter on capacity and expressivity with other parameters."""

FAST = {"channels": 1}
VARIANTS = {"one channel": {}, "few examples": {"n_examples": 64, "channels": 2, "seed": 3}}
DRAWN = FAST


def test_it_runs_with_other_parameters(values):
    assert {name.split(".")[1] for name in values} == {"01", "02"}
    assert values["N2.01.invariant_orbits"] == 0 and values["N2.02.linear_totals"] == 0
