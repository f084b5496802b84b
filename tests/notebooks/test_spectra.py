"""The chapter on spectra with other parameters."""

FAST = {"width": 128, "epochs": 3, "n_draws": 20, "n_resamples": 20, "n_seeds": 2}
VARIANTS = {
    "few epochs": {},
    "another seed": {"seed": 3, "epochs": 1, "n_seeds": 1},
    "a strong decay": {"decay": 3.0, "fast_rate": 3e-2},
}
DRAWN = FAST


def test_it_runs_with_other_parameters(values):
    assert len(values) == 9 and {name.split(".")[1] for name in values} == {"06"}
    assert values["P3.06.number"] == [9, 1, 1] and values["P3.06.bounds"] is True
    assert values["P3.06.linear"] < 1e-12 and values["P3.06.other_map"] > 2
