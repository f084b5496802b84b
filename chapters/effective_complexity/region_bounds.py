"""How many linear regions a network of piecewise linear units can have: the formula of Hu et al., and tighter ones.

One layer cuts its input space by families of parallel hyperplanes: a unit of k pieces by k − 1 of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from capcore.validation import positive_integer


def curve_complexity(pieces: Sequence[np.ndarray], n_inputs: int) -> float:
    """d Σ_i log(Σ_j k_ij − m_i + 1), in nats: the logarithm of an upper bound on the number of linear regions.

    Slides, Hu et al. (2020). On a line (d = 1) and with one layer it is the number itself, if every knot is crossed.

    Parameters
    ----------
    pieces : for every hidden layer i the (m_i,) numbers k_ij of pieces of its units' activations.
    n_inputs : d.

    >>> round(curve_complexity([np.array([3, 3])], 2), 3)  # 25; two pairs of parallel lines make 9 regions
    3.219
    """
    counts = _checked(pieces)
    d = positive_integer(n_inputs, "n_inputs")
    return d * math.fsum(math.log(sum(layer) - len(layer) + 1) for layer in counts)


def one_layer_regions(pieces: np.ndarray, n_inputs: int) -> int:
    """Regions of R^d that one layer of units with (m,) ``pieces`` makes in general position, exactly.

    Σ_{s ≤ d} e_s(k_1 − 1, …, k_m − 1), e_s the elementary symmetric polynomials: every set of at most d hyperplanes of
    different units meets once. With two pieces each it is Zaslavsky's 1 + m + C(m, 2) in the plane.

    >>> one_layer_regions(np.array([2, 2, 2]), 2), one_layer_regions(np.array([3, 3]), 2)
    (7, 9)
    """
    (counts,) = _checked([pieces])
    return _symmetric_sum(counts, positive_integer(n_inputs, "n_inputs"))


def tighter_complexity(pieces: Sequence[np.ndarray], n_inputs: int) -> float:
    """The logarithm, in nats, of a smaller upper bound: Σ_i log of the regions of layer i read at its rank.

    Inside a region of the layers below, layer i sees an affine image of dimension at most min(d, m_1, …, m_{i−1}), and
    cuts it into no more regions than :func:`one_layer_regions` counts. Parameters as :func:`curve_complexity`.

    >>> round(tighter_complexity([np.array([3, 3])], 2), 3)
    2.197
    """
    rank, total = positive_integer(n_inputs, "n_inputs"), 0.0
    for layer in _checked(pieces):
        total += math.log(_symmetric_sum(layer, rank))
        rank = min(rank, len(layer))
    return total


def _symmetric_sum(pieces: list[int], d: int) -> int:
    """Σ_{s ≤ d} e_s(k_1 − 1, …), from the product of the polynomials 1 + (k_j − 1) x; whole numbers of any size."""
    coefficients = [1] + [0] * min(d, len(pieces))
    for k in pieces:
        for s in range(len(coefficients) - 1, 0, -1):
            coefficients[s] += (k - 1) * coefficients[s - 1]
    return sum(coefficients)


def _checked(pieces: Sequence[np.ndarray]) -> list[list[int]]:
    found = []
    for i, layer in enumerate(pieces):
        counts = np.asarray(layer)
        if counts.ndim != 1 or not counts.size or counts.dtype.kind not in "iu" or counts.min() < 1:
            raise ValueError(f"pieces[{i}]: found {layer!r}, expected whole numbers of at least 1, one for every unit.")
        found.append([int(k) for k in counts])
    return found
