"""What random biases and weights make of the boundaries between regions on average: their density, and breakpoints.

The expectation over random biases is the sum over units of E‖∇z‖ρ(z), with ρ the density of the unit's bias: the
slides' T·M, with T spelled out. For independent normal weights the expected number of breakpoints that a ReLU layer
adds to a curve is an angle, exact at any finite width.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from capcore.complexity.network import Network, as_network
from capcore.complexity.trace import Trace
from capcore.validation import finite_number


def expected_boundary_density(network: object, inputs: object, bias_scale: float) -> np.ndarray:
    """(n, n_hidden) what every unit's boundary has per volume at inputs (n, d), expected over its own normal bias.

    ‖∇z‖ρ(z₀ − kink), summed over kinks: z₀ is the pre-activation without its own bias and ρ the normal density of
    standard deviation ``bias_scale``. The mean over networks with such biases, summed over units, is the expected
    boundary per volume there; divided by their number it is the slides' T.

    Raises ``ValueError`` for a smooth activation and a bias scale that is not positive: without biases the boundaries
    are cones, and their density depends on the place.

    >>> one = Network([[[3.0], [4.0]], [[1.0]]], [[7.0], [0.0]])
    >>> expected_boundary_density(one, [[0.0, 0.0]], 1.0).round(4).tolist()
    [[1.9947]]
    """
    net = as_network(network)
    if not net.phi.piecewise_linear:
        raise ValueError(f"activation: found {net.activation!r}, expected a piecewise linear one, such as relu.")
    if finite_number(bias_scale, "bias_scale") <= 0:
        raise ValueError(
            f"bias_scale: found {bias_scale:g}, expected more than 0. Without biases boundaries are cones."
        )
    levels = net.pre_activations(inputs)[:-1]
    found = []
    for layer, z in enumerate(levels):
        below = Network(net.weights[: layer + 1], net.biases[: layer + 1], net.activation, net.slope)
        steepness = np.linalg.norm(below.jacobian(inputs), axis=2)
        own = z - net.biases[layer]
        density = sum((norm.pdf(kink - own, scale=bias_scale) for kink in net.phi.kinks), np.zeros_like(z))
        found.append(steepness * density)
    return np.concatenate(found, axis=1)


def spherical_lengths(course: Trace, weight_scale: float, bias_scale: float) -> np.ndarray:
    """(n_hidden_layers, n_curves) angles through which the augmented inputs (σ_w h/√n, σ_b) of the layers turn.

    A unit with normal weights of standard deviation σ_w/√n and a normal bias of σ_b switches where its normal vector is
    orthogonal to that path, so that a layer of ``width`` ReLU units adds width · angle/π breakpoints on average.

    Raises ``ValueError`` for ellipses: their images are not straight, and their angles not elementary.
    """
    if course.curves.shape != "straight":
        raise ValueError("curves: found an ellipse, expected segments or a polyline. Replace it by a fine polyline.")
    exponent = np.frexp(max(_scale(weight_scale, "weight_scale"), _scale(bias_scale, "bias_scale")))[1]
    weight_scale, bias_scale = np.ldexp([weight_scale, bias_scale], -exponent)  # angles depend on their ratio alone
    found = []
    for stage in course.stages[: len(course.network.weights) - 1]:
        h = stage.coefficients
        scale = weight_scale / h.shape[2] ** 0.5
        ends = [scale * (h[:, 0] + t[:, None] * h[:, 1]) for t in (stage.start, stage.end)]
        ends = [np.column_stack([end, np.full(len(end), bias_scale)]) for end in ends]
        norms = [np.linalg.norm(end, axis=1, keepdims=True) for end in ends]
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second = (np.nan_to_num(end / size) for end, size in zip(ends, norms, strict=True))
        angle = 2 * np.arctan2(np.linalg.norm(second - first, axis=1), np.linalg.norm(second + first, axis=1))
        angle[(norms[0] * norms[1])[:, 0] == 0] = 0.0  # a layer that is silent turns nowhere
        found.append(np.bincount(stage.curve, angle, minlength=len(course.curves)))
    return np.array(found)


def _scale(value: float, name: str) -> float:
    if finite_number(value, name) < 0:
        raise ValueError(f"{name}: found {value:g}, expected at least 0, a standard deviation.")
    return float(value)
