"""Piecewise linear networks followed exactly along curves: between breakpoints every unit has a formula in t.

The formulas are carried upwards layer by layer. Where a unit's pre-activation meets a kink of the activation the piece
is cut in two, so that above a layer all its units are on known pieces of the activation. Lengths of the curves' images
in every layer, and how often its units switch, are read off the pieces (slides; Raghu et al., 2017).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ellipeinc

from chapters.shared.complexity.curves import Curves
from chapters.shared.complexity.network import Network

TOLERANCE = 1e-13
"""Two breakpoints closer than this share of the curve's parameter are one."""


class Stage(NamedTuple):
    """What one layer passes on along all curves, piece by piece in the order of the curves.

    Attributes
    ----------
    curve : (k,) array
        The curve that each piece lies on.
    start, end : (k,) array
        The parameters between which it lies.
    coefficients : (k, n_basis, width) array
        The outputs of the layer's units, after the activation, in the curves' basis.
    """

    curve: np.ndarray
    start: np.ndarray
    end: np.ndarray
    coefficients: np.ndarray


class Trace(NamedTuple):
    """A network along curves.

    Attributes
    ----------
    network : Network
    curves : Curves
    stages : tuple of Stage
        ``stages[0]`` are the inputs, ``stages[l]`` hidden layer l, the last one the logits.
    """

    network: Network
    curves: Curves
    stages: tuple[Stage, ...]


def trace_curves(network: Network, curves: Curves) -> Trace:
    """The exact course of a piecewise linear network along curves in its input space.

    >>> net = Network([[[1.0, 1.0]], [[1.0], [1.0]]], [[0.0, -0.5], [0.0]])
    >>> from chapters.shared.complexity import segments
    >>> trace_curves(net, segments([-1.0], [1.0])).stages[-1].start.tolist()
    [0.0, 0.5, 0.75]
    """
    n = len(curves)
    stage = Stage(np.arange(n), np.zeros(n), np.full(n, curves.period), curves.coefficients)
    stages = [stage]
    for layer, (w, b) in enumerate(zip(network.weights, network.biases, strict=True), start=1):
        z = stage.coefficients @ w
        z[:, 0] += b
        stage = Stage(stage.curve, stage.start, stage.end, z)
        if layer < len(network.weights):
            stage = _activate(_cut(stage, curves, network), curves, network)
        stages.append(stage)
    return Trace(network, curves, tuple(stages))


def _cut(stage: Stage, curves: Curves, network: Network) -> Stage:
    """The same formulas on pieces that are cut wherever one of them meets a kink."""
    none = np.empty((len(stage.start), 0))
    roots = np.concatenate([none, *(_roots(stage.coefficients, kink, curves) for kink in network.phi.kinks)], axis=1)
    margin = TOLERANCE * curves.period
    inside = (roots > stage.start[:, None] + margin) & (roots < stage.end[:, None] - margin)
    piece, at = np.nonzero(inside)[0], roots[inside]
    order = np.lexsort((at, piece))  # by piece, which they are already, and along each
    at, piece = at[order], piece[order]
    fresh = np.r_[True, (np.diff(at) > margin) | (np.diff(piece) > 0)][: len(at)]
    source = np.repeat(np.arange(len(roots)), 1 + np.bincount(piece[fresh], minlength=len(roots)))
    first = np.r_[True, source[1:] != source[:-1]]
    start = stage.start[source]
    start[~first] = at[fresh]
    end = np.r_[start[1:], 0.0]
    end[np.r_[first[1:], True]] = stage.end
    return Stage(stage.curve[source], start, end, stage.coefficients[source])


def _roots(coefficients: np.ndarray, level: float, curves: Curves) -> np.ndarray:
    """(k, width or 2·width) parameters in one period at which formulas (k, n_basis, width) have the value ``level``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if curves.shape == "straight":
            return (level - coefficients[:, 0]) / coefficients[:, 1]
        radius = np.hypot(coefficients[:, 1], coefficients[:, 2])
        phase = np.arctan2(coefficients[:, 2], coefficients[:, 1])
        turn = np.arccos((level - coefficients[:, 0]) / radius)  # NaN where the level is never met
    return np.concatenate([phase - turn, phase + turn], axis=1) % (2 * np.pi)


def _activate(stage: Stage, curves: Curves, network: Network) -> Stage:
    """The activation applied to formulas that keep to one of its pieces."""
    middle = curves.basis((stage.start + stage.end) / 2)
    which = network.phi.piece(np.einsum("kb,kbm->km", middle, stage.coefficients))
    slopes, intercepts = np.array(network.phi.pieces).T
    after = stage.coefficients
    after *= slopes[which][:, None, :]  # in place: _cut has made them, and nothing else holds them
    if intercepts.any():
        after[:, 0] += intercepts[which]
    return Stage(stage.curve, stage.start, stage.end, after)


def layer_lengths(course: Trace) -> np.ndarray:
    """(n_layers + 1, n_curves) lengths of the curves' images: inputs, hidden layers after activation, logits.

    Exact: straight pieces are straight in every layer, and pieces of ellipses are pieces of ellipses.

    >>> from chapters.shared.complexity import segments
    >>> layer_lengths(trace_curves(Network([[[3.0]], [[1.0]]], [[0.0], [0.0]]), segments([-1.0], [1.0]))).tolist()
    [[2.0], [3.0], [3.0]]
    """
    return np.array([_lengths(stage, course) for stage in course.stages])


def layer_transitions(course: Trace) -> np.ndarray:
    """(n_hidden_layers, n_curves) how often the units of each hidden layer switch along the curves, exact.

    >>> from chapters.shared.complexity import segments
    >>> layer_transitions(trace_curves(Network([[[3.0]], [[1.0]]], [[0.0], [0.0]]), segments([-1.0], [1.0]))).tolist()
    [[1]]
    """
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
