"""The chapter on several components with other parameters."""

from chapters.claims.registry import load
from tests.notebooks.conftest import said

SMALL = {"dims": [1, 2], "channel_list": [1, 2], "base_channels": [1], "n_layers": 3}
VARIANTS = {
    "two and three components": {"dims": [2, 3]},
    "another family": {"process": "RationalQuadratic", "low": 0.5, "high": 1.0},
    "an attained target": {"process": "AR1"},
    "kernel size 3": {"kernel_size": 3, "n_layers": 2},
    "identical components": {"low": 0.5, "high": 0.5, "seed": 3},
}


def test_it_runs_with_other_parameters(run, recorded, parameters):
    values = recorded(run(**{**SMALL, **parameters}))
    registry = load()
    assert set(values) == {f"P1.{i}.{check.name}" for i in (31, 32, 33) for check in registry[f"P1.{i}"].checks}
    excess = registry["P1.31"].check("excess")
    assert excess.test.holds(values["P1.31.excess"]), values["P1.31.excess"]


def test_what_it_says_names_the_numbers_of_the_run(run):
    text = said(run(**{**SMALL, "dims": [2, 3], "process": "AR1"}))
    assert "AR(1)" in text and "power law" not in text
    assert "$d = 2$" in text and "$d = 3$" in text and "16" not in text
