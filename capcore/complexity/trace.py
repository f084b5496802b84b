"""A piecewise linear network followed exactly along curves: between breakpoints every unit has a formula in t.

The formulas are carried upwards layer by layer. Where a unit's pre-activation meets a kink of the activation the piece
is cut in two, so that above a layer all its units are on known pieces of the activation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capcore.complexity.curves import Curves
from capcore.complexity.network import Network, as_network, out_of_range

TOLERANCE = 1e-13
"""Two breakpoints closer than this share of the curve's parameter are one."""


@dataclass(frozen=True, eq=False)
class Stage:
    """What one layer passes on along all curves, piece by piece in the order of the curves.

    Attributes
    ----------
    curve : (k,) the curve that each piece lies on.
    start, end : (k,) the parameters between which it lies.
    layer : (k,) the layer that made the breakpoint at ``start``, the lowest being 1; 0 at the start of a curve.
    coefficients : (k, n_basis, width) the outputs of the layer's units, after the activation, in the curves' basis.
    """

    curve: np.ndarray
    start: np.ndarray
    end: np.ndarray
    layer: np.ndarray
    coefficients: np.ndarray


@dataclass(frozen=True, eq=False)
class Trace:
    """A network along curves; ``stages[0]`` are the inputs, ``stages[l]`` hidden layer l, the last one the logits."""

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
    network : a :class:`~capcore.complexity.network.Network` or what
        :func:`~capcore.complexity.network.as_network` reads, with "relu", "leaky_relu", "hard_tanh" or "identity".
    curves : of :mod:`capcore.complexity.curves`, in the network's input space.

    Raises ``ValueError`` for a smooth activation, curves in another space, and weights whose products leave double
    precision.

    >>> net = Network([[[1.0, 1.0]], [[1.0], [1.0]]], [[0.0, -0.5], [0.0]])
    >>> from capcore.complexity import segments
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
