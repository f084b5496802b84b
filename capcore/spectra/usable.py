"""Which eigenvalues of a spectrum a tail can be fitted to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from capcore.validation import finite_array, finite_number


class Usable(NamedTuple):
    """Logarithms (n,), ascending, of the eigenvalues that are used, and how many were not."""

    logs: np.ndarray
    values: np.ndarray
    n_zero: int
    n_above: int


def usable(eigenvalues: object, threshold: float | None = None, x_max: float | None = None) -> Usable:
    """The positive eigenvalues up to ``x_max``, ascending, with their logarithms.

    Parameters
    ----------
    eigenvalues : (M,), in any order, non-negative.
    threshold : eigenvalues up to this are taken as zero and dropped. None takes M · 2.2e-16 · λ_max, below which an
        eigenvalue of a Gram matrix in double precision is rounding; negative values within it are rounding too.
        Zero keeps every positive number, for data that are not eigenvalues.
    x_max : eigenvalues above it are left out.

    Raises ``ValueError`` for anything else that is negative, and for values that are not finite.

    >>> usable([4.0, 1.0, 0.0, 1e-17]).values.tolist()
    [1.0, 4.0]
    """
    values = np.sort(finite_array(eigenvalues, "eigenvalues", 1))
    rounding = len(values) * np.finfo(float).eps * max(values[-1], 0.0)
    if values[0] < -rounding:
        raise ValueError(
            f"eigenvalues: found {values[0]:.6g}, expected none below zero. Pass the squared singular values of W, "
            "or the eigenvalues of WᵀW: those are non-negative."
        )
    floor = rounding if threshold is None else finite_number(threshold, "threshold")
    if floor < 0:
        raise ValueError(f"threshold: found {floor!r}, expected zero or a positive number.")
    first = int(np.searchsorted(values, max(floor, 0.0), side="right"))
    last = len(values) if x_max is None else int(np.searchsorted(values, x_max, side="right"))
    kept = values[first : max(first, last)]
    return Usable(np.log(kept), kept, first, len(values) - max(first, last))
