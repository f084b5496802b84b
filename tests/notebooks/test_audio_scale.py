"""The chapter on audio length with other parameters."""

import nbformat

from tests.notebooks.conftest import NOTEBOOKS
from tests.notebooks.conftest import said as text

FAST = {"n_layers": 8, "widths": [1, 2], "channels": 2, "octaves": 9}
VARIANTS = {
    "another process": {"process": "FractionalGaussianNoise", "process_parameters": {"hurst": 0.6}},
    "the shortest field": {"n_layers": 7, "octaves": 7},
    "one channel": {"channels": 1, "widths": [1]},
    "a longer field": {"n_layers": 12, "octaves": 40},
    "another rate": {"sample_rate": 44_100},
}


def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(**{**FAST, **parameters}))
    assert set(values) == {
        "P1.51.recent",
        "P1.51.families",
        "P1.52.paper_length",
        "P1.52.far_half",
        "P1.52.families",
        "P1.52.stopped_early",
    }
    assert values["P1.51.recent"] > 1


def test_an_attained_target_gives_no_numbers(drawn):
    said = text(drawn(**FAST, process="AR1"))
    assert "Process: AR(1), φ 0.9." in said
    assert "At this optimum the target needs fewer channels" in said
    assert "units an octave" not in said and "gets about the same capacity" not in said


