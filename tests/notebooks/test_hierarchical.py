"""The notebook of paper 1, sections 5.1.1 and 5.1.2, with other parameters than its own."""

import pytest

from tests.notebooks.conftest import check
from tests.notebooks.conftest import said as text

QUICK = {"channel_list": [1, 2], "large": 16, "max_iterations": 30}
IDS = (*(f"P1.{number}" for number in range(12, 22)), "P1.38", "P1.53")
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
        {"process": "DampedCosine", "channel_list": [1]},
        {"channel_list": [[2, 3, 3, 2, 2], 1]},
    ],
    ids=str,
)
def test_other_parameters(run, recorded, parameters):
    check(recorded(run(**{**QUICK, **parameters})), IDS, ALWAYS)


def test_a_singular_target_is_described_as_such(drawn, recorded):
    """AR(1): one channel suffices, and nothing is said of wider stacks that holds at regular optima only."""
    notebook = drawn(**QUICK, process="AR1")
    check(recorded(notebook), IDS, ALWAYS)
    said = text(notebook)
    assert "Process: AR(1), φ 0.9." in said
    assert "AR(1) 12" in said  # of the 20 units of two channels
    for phrase in ("power law, exponent", "Every added channel", "four channels a frame"):
        assert phrase not in said
