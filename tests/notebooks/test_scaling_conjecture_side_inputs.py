"""The chapter on side inputs with other parameters."""

FAST = {
    "draws": 3,
    "units": 4,
    "layers": 8,
    "samples": 50,
    "bias_layers": 16,
}
VARIANTS = {
    "few of everything": {},
    "the smallest of everything": {
        "units": 2, "layers": 2, "draws": 3, "bias_layers": 2, "samples": 2, "seed": 5,
    },
}  # fmt: skip
CHECKS = {
    "P2.10": [
        "share_law", "vanishes", "ignored", "learns", "trained_gap", "capacity_law", "power_law", "trains_undivided",
        "trains_quarter", "trains_small", "same_inputs", "same_space",
    ],
    "P2.11": [
        "share_law", "vanishes", "trained_gap", "constant_dimension", "capacity_kept", "trains_undivided",
        "trains_from_zero",
    ],
}  # fmt: skip
DRAWN = FAST


def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(**{**FAST, **parameters}))
    assert set(values) == {f"{claim}.{name}" for claim, names in CHECKS.items() for name in names}
    assert values["P2.11.constant_dimension"] <= 1 + 1e-10
