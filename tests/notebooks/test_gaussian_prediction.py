"""The notebook of paper 1, section 4 and Appendix B, with other parameters than its own."""

import pytest

from tests.notebooks.conftest import check

QUICK = {"n_samples": 2_000}
IDS = ("P1.09", "P1.10", "P1.36", "P1.37", "P1.47", "P1.49")
# Algebra and rounding, whatever the models: the rest depends on the process, on sampling or on the list of models.
ALWAYS = (
    "P1.09.gradient_gap",
    "P1.36.residual",
    "P1.36.variance_gap",
    "P1.36.round_trip",
    "P1.37.algebra_gap",
    "P1.37.worst_z",
    "P1.47.parabola_crossings",
    "P1.47.parabola_critical",
    "P1.49.boundary",
    "P1.49.source_residual",
)


@pytest.mark.parametrize(
    "parameters",
    [
        {"process": "FractionalGaussianNoise", "channel_list": [1, 2]},
        {"process": "AR1", "process_parameters": {"phi": 0.5}, "channel_list": [1, 2], "n_layers": 4},
        {"process": "DampedCosine", "channel_list": [2], "n_layers": 4},
        {"n_layers": 3, "kernel_size": 3},
        {"channel_list": [1], "seed": 3},
        {"channel_list": [[2, 3]], "n_layers": 3},
        {"channel_list": [2, 3], "n_layers": 3},
    ],
    ids=str,
)
def test_other_parameters(run, recorded, parameters):
    check(recorded(run(**QUICK, **parameters)), IDS, ALWAYS)


def test_the_figures_of_a_single_layer(drawn, recorded):
    check(recorded(drawn(**QUICK, n_layers=1)), IDS, ALWAYS)


def test_it_refuses_a_singular_covariance(refused):
    refused("autocovariance: numerically singular", process="RationalQuadratic", process_parameters={"scale": 20})
