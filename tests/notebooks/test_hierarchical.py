"""The notebook of paper 1, sections 5.1.1 and 5.1.2, with other parameters than its own."""

import nbformat
import pytest

from chapters import claims
from scripts.export_landing_figure import TARGET, landing_figure

QUICK = {"channels": [1, 2], "large": 16, "max_iterations": 30, "n_starts": 1}
IDS = (*(f"P1.{number}" for number in range(12, 22)), "P1.38")
ALWAYS = (  # algebra, whatever the process and the models
    "P1.12.coefficient_gap",
    "P1.12.printed_index",
    "P1.12.receptive_field",
    "P1.12.receptive_field_mixed",
    "P1.13.capacity",
    "P1.13.parameters",
    "P1.13.mismatches",
    "P1.14.drops",
    "P1.15.loss_at_8",
    "P1.16.benchmark_gap",
)


@pytest.mark.parametrize(
    "parameters",
    [
        {"process": "FractionalGaussianNoise", "process_parameters": {"hurst": 0.6}},
        {"process": "AR1", "n_layers": 4},
        {"n_layers": 3, "kernel_size": 3},
        {"channels": [1], "n_layers": 4, "seed": 3},
        {"channels": [2, 3], "n_layers": 3},
        {"channels": [[2, 3], 1], "n_layers": 3},
    ],
    ids=str,
)
def test_other_parameters(run, recorded, parameters):
    check(recorded(run("hierarchical", **{**QUICK, **parameters})))


def test_the_figures_of_a_single_layer(drawn, recorded):
    check(recorded(drawn("hierarchical", **QUICK, n_layers=1)))


def check(values):
    """All checks are recorded, and those of algebra hold, whatever the parameters."""
    registry = claims.load()
    assert set(values) == {f"{id}.{check.name}" for id in IDS for check in registry[id].checks}
    for key in ALWAYS:
        id, name = key.rsplit(".", 1)
        assert registry[id].check(name).test.holds(values[key]), f"{key}: found {values[key]}"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_layers": 0}, "n_layers: found 0, expected a whole number of at least 1"),
        ({"kernel_size": 0}, "kernel_size: found 0"),
        ({"channels": 4}, r"channels: found 4, expected a non-empty list such as \[1, 2, 4\]"),
        ({"channels": [0]}, "channels: found 0"),
        ({"channels": [[2, 3]]}, "the arguments disagree"),
        ({"large": 0}, "channels: found 0"),
        ({"process_parameters": {"exponent": -0.5}}, "exponent: found -0.5, expected a positive number"),
        ({"process_parameters": {"hurst": 0.7}}, "process PowerLaw: found parameter 'hurst', expected 'exponent'"),
        ({"process": "PowrLaw"}, "process: found 'PowrLaw'.*Did you mean 'PowerLaw'"),
        ({"chanels": [4]}, "chanels: not a parameter of this notebook.*Did you mean 'channels'"),
        ({"max_iterations": 0}, "max_iterations: found 0"),
        ({"n_starts": 0}, "n_starts: found 0"),
        ({"seed": -1}, "seed: found -1"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_refused_parameters(refused, parameters, message):
    refused("hierarchical", message, **parameters)


def test_the_landing_picture_is_the_notebooks():
    assert TARGET.read_bytes() == landing_figure(), "run python scripts/export_landing_figure.py"


def test_a_notebook_without_the_landing_figure_is_refused(tmp_path):
    path = tmp_path / "empty.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), path)
    with pytest.raises(LookupError, match="found no executed figure 'fig-landing'"):
        landing_figure(path)
