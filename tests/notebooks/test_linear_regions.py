"""The chapter on linear regions with other parameters."""

FAST = {"n_networks": 4, "n_segments": 60, "n_lines": 10}
VARIANTS = {
    "narrow": {"width": 8},
    "one hidden layer": {"n_layers": 1, "width": 12},
    "large biases": {"bias_scale": 3.0, "width": 16, "seed": 1},
}
DRAWN = {**FAST, "width": 6}


def test_it_runs_with_other_parameters(values):
    claims = [name.split(".")[1] for name in values]
    assert [claims.count(claim) for claim in ("01", "02", "03")] == [6, 10, 9]
    assert (values["S4.01.mismatches"], values["S4.01.zaslavsky"], values["S4.01.chords"]) == (0, 211, 0)
    assert values["S4.02.scale_free"] == 0 and values["S4.02.long_length"] < 0.5
    laws = (
        "S4.02.first_layer",
        "S4.02.every_layer",
        "S4.02.prefactor",
        "S4.03.polygons",
        "S4.03.law_2",
        "S4.03.law_16",
    )
    assert max(values[name] for name in laws) < 12  # Student's law with 3 degrees of freedom has long tails
