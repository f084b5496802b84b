"""Lengths of curves and of their images in every layer, and what random weights make of them on average.

For independent normal weights the expected gain of length by a ReLU layer, and the expected number of breakpoints that
it adds, have exact laws at any finite width. Both are derived here; the first for He weights is at most one, as
Hanin, Jeong & Rolnick (2022) prove by other means.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ellipeinc, gammaln
from scipy.stats import binom

from capcore.complexity.trace import Stage, Trace
from capcore.validation import finite_number, positive_integer


def layer_lengths(course: Trace) -> np.ndarray:
    """(n_layers + 1, n_curves) lengths of the curves' images: inputs, hidden layers after activation, logits.

    Exact: straight pieces are straight in every layer, and pieces of ellipses are pieces of ellipses.
    """
    return np.array([_lengths(stage, course) for stage in course.stages])


def layer_transitions(course: Trace) -> np.ndarray:
    """(n_hidden_layers, n_curves) how often the units of each hidden layer switch along the curves, exact."""
    n = len(course.curves)
    pieces = np.array([np.bincount(stage.curve, minlength=n) for stage in course.stages[:-1]])
    return np.diff(pieces, axis=0)


def _lengths(stage: Stage, course: Trace) -> np.ndarray:
    curves, duration = course.curves, stage.end - stage.start
    if curves.shape == "straight":
        pieces = np.linalg.norm(stage.coefficients[:, 1], axis=1) * duration
    else:
        pieces = _arc_lengths(stage.coefficients[:, 1], stage.coefficients[:, 2], stage.start, stage.end)
    return np.bincount(stage.curve, pieces, minlength=len(curves))


def _arc_lengths(cosine: np.ndarray, sine: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(k,) lengths of the arcs cosine·cos t + sine·sin t: incomplete elliptic integrals of the second kind."""
    squares = np.sum(cosine**2, axis=1), np.sum(sine**2, axis=1)
    mean, gap, mixed = sum(squares) / 2, (squares[1] - squares[0]) / 2, np.sum(cosine * sine, axis=1)
    swing = np.hypot(gap, mixed)  # the squared speed is mean + swing·cos 2(t − turn)
    turn = np.arctan2(-mixed, gap) / 2
    largest = mean + swing
    modulus = np.clip(np.divide(2 * swing, largest, out=np.zeros_like(swing), where=largest > 0), 0, 1)
    return np.sqrt(largest) * (ellipeinc(end - turn, modulus) - ellipeinc(start - turn, modulus))


def expected_length_gain(width: int, weight_scale: float = 2**0.5, fan_in: int | None = None) -> float:
    """The expected factor by which a random ReLU layer lengthens any curve, exact at any width.

    (σ/√n) E[√2 Γ((K+1)/2)/Γ(K/2)] over K of the binomial law of ``width`` fair coins, with weights of standard
    deviation σ/√n and n = ``fan_in`` (by default ``width``). At one point of the curve the active units are such a
    coin each, whatever their slopes, as a sign flip of a unit's weights and bias exchanges the two; and a sum of K
    squared normal slopes has a chi law. At most σ √(width/(2n)). Biases with a symmetric law do not matter.

    >>> round(expected_length_gain(1), 4), round(expected_length_gain(1000), 4)
    (0.5642, 0.9994)
    """
    m, n = positive_integer(width, "width"), positive_integer(width if fan_in is None else fan_in, "fan_in")
    _scale(weight_scale, "weight_scale")
    active = np.arange(1, m + 1)
    mean_chi = 2**0.5 * np.exp(gammaln((active + 1) / 2) - gammaln(active / 2))
    return float(weight_scale / n**0.5 * (binom.pmf(active, m, 0.5) @ mean_chi))


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
