"""Matrices of a layer: feature-map slices as in the paper, the unfolded kernel, and what they leave out.

A convolution kernel (out, in, \\*kernel) is no matrix. The paper takes one matrix (out, in) per tap, a slice; the
reference tool pools the eigenvalues of all slices into one density; textbooks unfold the kernel into (out, in·taps).
None of these is the linear map that the layer applies: that is :mod:`capcore.spectra.operator`. Channels in groups make
each of them block-diagonal, whose spectrum is that of its blocks together.
"""

from __future__ import annotations

from itertools import product

import numpy as np

ARRANGEMENTS = ("slices", "pooled", "unfolded", "operator")


def slices(weights: np.ndarray) -> np.ndarray:
    """(taps, groups, out/groups, in/groups) matrices of a layer, one per tap.

    weights : (groups, out/groups, in/groups, \\*kernel). Taps come in C order. A linear layer has one.

    >>> slices(np.zeros((1, 8, 4, 3, 3))).shape
    (9, 1, 8, 4)
    """
    _checked(weights)
    return np.moveaxis(weights.reshape(*weights.shape[:3], -1), -1, 0)


def unfolded(weights: np.ndarray) -> np.ndarray:
    """(groups, out/groups, in/groups·taps) matrices: a row holds all weights of an output channel.

    >>> unfolded(np.zeros((1, 8, 4, 3, 3))).shape
    (1, 8, 36)
    """
    _checked(weights)
    return weights.reshape(*weights.shape[:2], -1)


def taps(kernel: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Positions of the taps, in the order of :func:`slices`.

    >>> taps((1, 2))
    [(0, 0), (0, 1)]
    """
    return list(product(*map(range, kernel)))


def _checked(weights: np.ndarray) -> None:
    if weights.ndim < 3 or not weights.size:
        raise ValueError(
            f"weights: found the shape {weights.shape}, expected (groups, out/groups, in/groups, *kernel)."
        )
