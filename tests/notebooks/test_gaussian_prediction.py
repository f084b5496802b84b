"""The notebook of paper 1, section 4 and Appendix B, with other parameters than its own."""

import pytest

from chapters import claims

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
        {"process": "FractionalGaussianNoise", "channels": [1, 2]},
        {"process": "AR1", "process_parameters": {"phi": 0.5}, "channels": [1, 2], "n_layers": 4},
        {"process": "DampedCosine", "channels": [2], "n_layers": 4},
        {"n_layers": 3, "kernel_size": 3},
        {"channels": [1], "seed": 3},
        {"channels": [[2, 3]], "n_layers": 3},
        {"channels": [2, 3], "n_layers": 3},
    ],
    ids=str,
)
def test_other_parameters(run, recorded, parameters):
    check(recorded(run("gaussian_prediction", **QUICK, **parameters)))


def test_the_figures_of_a_single_layer(drawn, recorded):
    check(recorded(drawn("gaussian_prediction", **QUICK, n_layers=1)))


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
        ({"wide_channels": 0}, "channels: found 0"),
        ({"process_parameters": {"exponent": -0.5}}, "exponent: found -0.5, expected a positive number"),
        ({"process_parameters": {"hurst": 0.7}}, "process PowerLaw: found parameter 'hurst', expected 'exponent'"),
        ({"process": "RationalQuadratic", "process_parameters": {"scale": 20}}, "autocovariance: numerically singular"),
        ({"process": "PowrLaw"}, "process: found 'PowrLaw'.*Did you mean 'PowerLaw'"),
        ({"chanels": [4]}, "chanels: not a parameter of this notebook.*Did you mean 'channels'"),
        ({"n_samples": 1}, "n_samples: found 1, expected a whole number of at least 2"),
        ({"seed": -1}, "seed: found -1"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_refused_parameters(refused, parameters, message):
    refused("gaussian_prediction", message, **parameters)
