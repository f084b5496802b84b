"""The chapter on errors with other parameters."""

from tests.notebooks.conftest import said as text

FAST = {"n_runs": 2, "max_iterations": 50, "n_converged": 2}
VARIANTS = {
    "another process": {"process": "FractionalGaussianNoise", "process_parameters": {"hurst": 0.9}},
    "one channel and a sweep with a list": {"channels": 1, "channel_sweep": [1, [2, 3, 3, 2, 2]]},
    "full capacity": {"channels": 8, "seed": 3},
}


def test_it_runs_with_other_parameters(values):
    assert {name.split(".")[1] for name in values} == {"22", "23", "39", "50"}
    assert 0 <= values["P1.22.distance_inputs"] <= 1


def test_the_stored_runs_are_not_shown_for_another_model(run, recorded):
    default, other = (recorded(run(**FAST, **more)) for more in ({}, {"channels": 3}))
    assert default["P1.22.distance_inputs"] != other["P1.22.distance_inputs"]
    assert default["P1.22.families"] == other["P1.22.families"]


def test_an_attained_target_records_no_error_statistics(drawn, recorded):
    notebook = drawn(process="AR1", **FAST)
    values = recorded(notebook)
    assert "the model has the best coefficients, so that no error is left" in text(notebook)
    assert {name.split(".")[1] for name in values} == {"22", "23", "39", "50"}
    assert "P1.39.short_long_ratio" not in values and "P1.50.difficulty_correlation" not in values
