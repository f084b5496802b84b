"""The chapter on effective model complexity with other parameters."""

FAST = {"n_seeds": 2, "n_draws": 20, "n_train": 60}
VARIANTS = {
    "more images": {"n_train": 120},
    "all labels wrong": {"wrong": 1.0},
    "right labels only, another seed": {"wrong": 0.0, "seed": 5},
}
DRAWN = FAST


def test_it_runs_with_other_parameters(values):
    assert len(values) == 16 and all(name.startswith("S4.07.") for name in values)
    assert values["S4.07.least_squares"] == values["S4.07.random_features"] == values["S4.07.title"] == 0
    assert values["S4.07.cover"] == [10, 20, 40, 80]
    assert 0.9 <= values["S4.07.peak"] <= 1.1 and values["S4.07.zero_one"] < 1
