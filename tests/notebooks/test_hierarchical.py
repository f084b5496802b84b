"""The notebook of paper 1, sections 5.1.1 and 5.1.2, with other parameters than its own."""

import nbformat
import pytest

from chapters import claims
from tests.notebooks.conftest import NOTEBOOKS
from tests.notebooks.conftest import said as text

QUICK = {"channels": [1, 2], "large": 16, "max_iterations": 30}
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
        {"process": "FractionalGaussianNoise", "process_parameters": {"hurst": 0.6}, "seed": 3},
        {"process": "DampedCosine", "channels": [1]},
        {"channels": [[2, 3, 3, 2, 2], 1]},
    ],
    ids=str,
)
def test_other_parameters(run, recorded, parameters):
    check(recorded(run("hierarchical", **{**QUICK, **parameters})))


def test_a_singular_target_is_described_as_such(drawn, recorded):
    """AR(1): one channel suffices, and nothing is said of wider stacks that holds at regular optima only."""
    notebook = drawn("hierarchical", **QUICK, process="AR1")
    check(recorded(notebook))
    said = text(notebook)
    assert "Process: AR(1), φ 0.9." in said
    assert "AR(1) 12" in said  # of the 20 units of two channels
    for phrase in ("power law, exponent", "Every channel fills", "four channels a frame"):
        assert phrase not in said


def test_the_text_says_what_was_found():
    said = text(nbformat.read(NOTEBOOKS / "hierarchical.ipynb", as_version=4))
    assert "the same κ at 16 of 16 widths. At 8 channels κ reaches $n$ = 64" in said
    assert "the latest 1, 4, 5, 9, 17, 18, 26 and finally 64 inputs" in said
    assert "the latest 4 inputs hold 4 of 20 units" in said
    assert "the 28 lags of the frame hold 27.3 of 48 units" in said
    assert "AR(1) 22 (32 to 48), damped cosine 48 (48 to 56)" in said


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
        ({"channels": 4}, r"channels: found 4, expected a non-empty list such as \[1, 2, 4\]"),
        ({"channels": [0]}, "channels: found 0"),
        ({"channels": [[2, 3]]}, "the arguments disagree"),
        ({"large": 0}, "channels: found 0"),
        ({"process_parameters": {"exponent": -0.5}}, "exponent: found -0.5, expected a positive number"),
        ({"process_parameters": {"hurst": 0.7}}, "process PowerLaw: found parameter 'hurst', expected 'exponent'"),
        ({"process": "PowrLaw"}, "process: found 'PowrLaw'.*Did you mean 'PowerLaw'"),
        ({"chanels": [4]}, "chanels: not a parameter of this notebook.*Did you mean 'channels'"),
        ({"max_iterations": 0}, "max_iterations: found 0"),
        ({"seed": -1}, "seed: found -1"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_refused_parameters(refused, parameters, message):
    refused("hierarchical", message, **parameters)
