"""The chapter on trajectories with other parameters."""

FAST = {"n_networks": 6, "n_layers": 3}
VARIANTS = {
    "wide": {"width": 64},
    "narrow": {"width": 8, "n_networks": 30},
    "two layers": {"n_layers": 2, "width": 8, "seed": 1},
}
DRAWN = {**FAST, "width": 6}


def test_it_runs_with_other_parameters(values):
    assert len(values) == 9 and {name.split(".")[1] for name in values} == {"04"}
    assert values["S4.04.stretching"] == 0
    assert values["S4.04.published"] < 1 < values["S4.04.as_printed"]
    assert values["S4.04.law"] < 6  # few networks
