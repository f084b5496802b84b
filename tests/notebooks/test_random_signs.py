"""The chapter on squared gradients with other parameters."""

from tests.notebooks.conftest import said

FAST = {"n_draws": 1_000, "n_networks": 2}
VARIANTS = {
    "wider layers": {"width": 24},
    "three layers": {"n_layers": 3, "seed": 1},
    "one channel": {"channels": 1, "width": 8},
    "a slow sine": {"frequency": 0.5},
}
DRAWN = {**FAST, "width": 6}


def test_it_runs_with_other_parameters(values, parameters):
    assert len(values) == 12 and {name.split(".")[1] for name in values} == {"01"}
    assert all(0 <= value <= 1 for value in values.values())
    assert (values["P2.01.sine"] < 1e-3) == (parameters.get("frequency") == 0.5)


def test_a_slow_sine_is_said_to_be_slow(run):
    text = said(run(**FAST, frequency=1.0))
    assert text.count("the sine is too slow") == 1 and "come out as the law says" not in text
