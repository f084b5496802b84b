"""Exact leverage scores from Jacobian products, up to rounding: nothing random is left in the answer.

κ + 10 random combinations of the columns of J span its whole column space with probability one (Halko, Martinsson &
Tropp 2011, section 4, at the exact rank). An orthonormal basis U of it, taken through Σ and orthonormalised again, is a
basis of 𝒦: n × κ numbers, κ + 10 forward products, and a rank decision on J alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular, svd
from tqdm import tqdm

from capcore.constraints import rank_tolerance
from capcore.memory import arrays, fits, too_large
from capcore.sketch.operators import ConstraintOperator

OVERSAMPLING = 10
FIRST_SKETCH = 64  # columns tried first where no bound on the rank is known


class Leverage(NamedTuple):
    """Leverage scores of the rows of K̃, and what decided them.

    Attributes
    ----------
    scores : (n,). rank : kept. singular_values : of the sketch. rounding : first-order bound on the error of any sum.
    """

    scores: np.ndarray
    rank: int
    singular_values: np.ndarray
    rounding: float


def leverage_by_range(operator: ConstraintOperator, bound: int | None, rng: np.random.Generator, bar: tqdm) -> Leverage:
    """Leverage scores through a basis of the column space; ``bound`` is an upper bound on the rank, if one is known.

    Without one the sketch grows until its rank stays ten below its number of columns. Raises
    :class:`~capcore.memory.TooLargeError` before a sketch that would not fit into memory.
    """
    n, p = operator.products.n_rows, operator.products.n_params
    most = min(n, p)
    count = (most if bound is None else min(bound, most)) + OVERSAMPLING
    first = count if bound is not None else min(count, FIRST_SKETCH)
    _check_size(n, min(first, p))
    sketch = operator.range_sketch(first, rng, bar)
    while True:
        q, r = qr(sketch, mode="economic", check_finite=False, overwrite_a=bound is not None)
        left, values, _ = svd(r, check_finite=False)
        tolerance = rank_tolerance((n, p), float(values[0]))
        rank = int(np.count_nonzero(values > tolerance))
        columns = sketch.shape[1]
        if columns >= min(count, p) or rank <= columns - OVERSAMPLING:
            break
        del q
        doubled = min(2 * columns, count)
        _check_size(n, min(doubled, p))
        grown = operator.range_sketch(doubled, rng, bar) if doubled >= p else _more(operator, sketch, doubled, rng, bar)
        sketch = grown
    rank = rank if bound is None else min(rank, bound)
    if rank == 0:
        return Leverage(np.zeros(n), 0, values, 0.0)
    del sketch
    basis = np.empty((n, rank), order="F")
    for part in operator.products.blocks(rank):
        basis[:, part] = operator.covariance(q @ left[:, part])
    del q
    basis, r = qr(basis, mode="economic", check_finite=False, overwrite_a=True)
    stretch = svd(r, compute_uv=False)
    if not stretch[-1] > rank_tolerance((n, rank), float(stretch[0])):
        raise ValueError(
            "covariance: numerically singular on the tangent space. Found the smallest relative stretch "
            f"{stretch[-1] / stretch[0]:.1e}. Add white noise with process.with_nugget(variance)."
        )
    # U_j is off by at most tolerance / s_j; Σ, and the division by what it leaves of U, carry that to 𝒦.
    carried = svd(solve_triangular(r, np.diag(1 / values[:rank]), trans="T"), compute_uv=False)
    rounding = 2 * tolerance * float(stretch[0]) * float(carried.sum())
    return Leverage(np.square(basis).sum(axis=1), rank, values, rounding)


def _more(
    operator: ConstraintOperator, sketch: np.ndarray, count: int, rng: np.random.Generator, bar: tqdm
) -> np.ndarray:
    """The sketch with further columns, ``count`` in all."""
    further = operator.range_sketch(count - sketch.shape[1], rng, bar)
    return np.hstack([sketch, further])


def _check_size(n: int, columns: int) -> None:
    n_bytes = arrays(n, columns, copies=3)
    if not fits(n_bytes):
        advice = "Use fewer inputs or channels, or capcore.allocate_large where supports are disjoint."
        raise too_large(f"sketch: found {n:,} inputs of {columns:,} columns", n_bytes, advice)
