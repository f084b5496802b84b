"""Piecewise linear networks followed exactly along curves: between breakpoints every unit has a formula in t.

The formulas are carried upwards layer by layer. Where a unit's pre-activation meets a kink of the activation the piece
is cut in two, so that above a layer all its units are on known pieces of the activation. Lengths of the curves' images
in every layer, and how often its units switch, are read off the pieces (slides; Raghu et al., 2017).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ellipeinc

from chapters.shared.complexity.curves import Curves
from chapters.shared.complexity.network import Network, as_network, out_of_range

TOLERANCE = 1e-13
"""Two breakpoints closer than this share of the curve's parameter are one."""


@dataclass(frozen=True, eq=False)
class Stage:
    """What one layer passes on along all curves, piece by piece in the order of the curves.

    Attributes
    ----------
    curve : (k,) array
        The curve that each piece lies on.
    start, end : (k,) array
        The parameters between which it lies.
    layer : (k,) array
        The layer that made the breakpoint at ``start``, the lowest being 1; 0 at the start of a curve.
    coefficients : (k, n_basis, width) array
        The outputs of the layer's units, after the activation, in the curves' basis.
    """

    curve: np.ndarray
    start: np.ndarray
    end: np.ndarray
    layer: np.ndarray
    coefficients: np.ndarray


@dataclass(frozen=True, eq=False)
class Trace:
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

    def midpoint_patterns(self) -> np.ndarray:
        """(k, n_hidden) the pieces of the activation that all units are on, in the middle of every last piece."""
        top = self.stages[-1]
        inputs = self.curves.points(top.curve, (top.start + top.end) / 2)
        hidden = self.network.pre_activations(inputs)[:-1]
        pieces = [self.network.phi.piece(z) for z in hidden]
        return np.concatenate(pieces, axis=1).astype(np.int8) if pieces else np.zeros((len(inputs), 0), np.int8)


def trace_curves(network: object, curves: Curves) -> Trace:
    """The exact course of a piecewise linear network along curves.

    Parameters
    ----------
    network : Network
        With "relu", "leaky_relu", "hard_tanh" or "identity", or what ``as_network``
        takes.
    curves : Curves
        In the network's input space, such as from :func:`~chapters.shared.complexity.curves.segments`.

    Raises
    ------
    ValueError
        For a smooth activation, curves in another space, and weights whose products leave double precision.

    Examples
    --------
    >>> net = Network([[[1.0, 1.0]], [[1.0], [1.0]]], [[0.0, -0.5], [0.0]])
    >>> from chapters.shared.complexity import segments
    >>> trace_curves(net, segments([-1.0], [1.0])).stages[-1].start.tolist()
    [0.0, 0.5, 0.75]
    """
    net = as_network(network)
    if not net.phi.piecewise_linear:
        raise ValueError(
            f"activation: found {net.activation!r}, expected a piecewise linear one (relu, leaky_relu, hard_tanh). "
            "A smooth network has no linear regions; approximate its activation by pieces first."
        )
    n = len(curves)
    net.check_inputs(curves.coefficients[:, 0])
    if out_of_range(net, curves.coefficients):
        raise ValueError(out_of_range(net, curves.coefficients))
    stage = Stage(np.arange(n), np.zeros(n), np.full(n, curves.period), np.zeros(n, int), curves.coefficients)
    stages = [stage]
    for layer, (w, b) in enumerate(zip(net.weights, net.biases, strict=True), start=1):
        z = stage.coefficients @ w
        z[:, 0] += b
        last = layer == len(net.weights)
        stage = Stage(stage.curve, stage.start, stage.end, stage.layer, z)
        stage = stage if last else _activate(_cut(stage, curves, net, layer), curves, net)
        stages.append(stage)
    return Trace(net, curves, tuple(stages))


def _cut(stage: Stage, curves: Curves, network: Network, layer: int) -> Stage:
    """The same formulas on pieces that are cut wherever one of them meets a kink."""
    roots = np.concatenate(
        [_roots(stage.coefficients, kink, curves) for kink in network.phi.kinks] or [_none(stage)], 1
    )
    margin = TOLERANCE * curves.period
    inside = (roots > stage.start[:, None] + margin) & (roots < stage.end[:, None] - margin)
    piece = np.nonzero(inside)[0]
    found = roots[inside]
    order = np.lexsort((found, piece))  # by piece, which they are already, and along each
    found, piece = found[order], piece[order]
    fresh = np.r_[True, (np.diff(found) > margin) | (np.diff(piece) > 0)][: len(found)]
    source = np.repeat(np.arange(len(roots)), 1 + np.bincount(piece[fresh], minlength=len(roots)))
    first = np.r_[True, source[1:] != source[:-1]]
    start, made_by = stage.start[source], stage.layer[source]
    start[~first], made_by[~first] = found[fresh], layer
    end = np.r_[start[1:], 0.0]
    end[np.r_[first[1:], True]] = stage.end
    return Stage(stage.curve[source], start, end, made_by, stage.coefficients[source])


def _none(stage: Stage) -> np.ndarray:
    return np.empty((len(stage.start), 0))


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
    return Stage(stage.curve, stage.start, stage.end, stage.layer, after)


def layer_lengths(course: Trace) -> np.ndarray:
    """(n_layers + 1, n_curves) lengths of the curves' images: inputs, hidden layers after activation, logits.

    Exact: straight pieces are straight in every layer, and pieces of ellipses are pieces of ellipses.

    Parameters
    ----------
    course : Trace
        From :func:`trace_curves`.

    Examples
    --------
    >>> from chapters.shared.complexity import segments
    >>> layer_lengths(trace_curves([([[3.0]], [0.0]), ([[1.0]], [0.0])], segments([-1.0], [1.0]))).tolist()
    [[2.0], [3.0], [3.0]]
    """
    return np.array([_lengths(stage, course) for stage in course.stages])


def layer_transitions(course: Trace) -> np.ndarray:
    """(n_hidden_layers, n_curves) how often the units of each hidden layer switch along the curves, exact.

    Parameters
    ----------
    course : Trace
        From :func:`trace_curves`.

    Examples
    --------
    >>> from chapters.shared.complexity import segments
    >>> layer_transitions(trace_curves([([[3.0]], [0.0]), ([[1.0]], [0.0])], segments([-1.0], [1.0]))).tolist()
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
