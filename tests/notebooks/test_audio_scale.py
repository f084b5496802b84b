"""The chapter on audio length with other parameters."""

from tests.notebooks.conftest import said as text

FAST = {"n_layers": 8, "widths": [1, 2], "channels": 2}
VARIANTS = {
    "another process": {"process": "FractionalGaussianNoise", "process_parameters": {"hurst": 0.6}},
    "the shortest field": {"n_layers": 7},
    "one channel": {"channels": 1, "widths": [1]},
    "a longer field": {"n_layers": 12},
    "another rate": {"sample_rate": 44_100},
}


def test_it_runs_with_other_parameters(values):
    assert len(values) == 6 and {name.split(".")[1] for name in values} == {"51", "52"}
    assert values["P1.51.recent"] > 1


def test_an_attained_target_gives_no_numbers(drawn):
    said = text(drawn(**FAST, process="AR1"))
    assert "Process: AR(1), φ 0.9." in said
    assert "At this optimum the target needs fewer channels" in said
    assert "units an octave" not in said and "gets about the same capacity" not in said
