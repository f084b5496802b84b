"""The chapter on side inputs with other parameters."""

FAST = {"draws": 3, "units": 4, "layers": 8, "samples": 50, "bias_layers": 16}
VARIANTS = {
    "few of everything": {},
    "the smallest of everything": {"units": 2, "layers": 2, "draws": 3, "bias_layers": 2, "samples": 2, "seed": 5},
}
DRAWN = FAST


def test_it_runs_with_other_parameters(values):
    assert len(values) == 19 and {name.split(".")[1] for name in values} == {"10", "11"}
    assert values["P2.11.constant_dimension"] <= 1 + 1e-10
