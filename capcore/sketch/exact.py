"""Exact leverage scores from Jacobian products, up to rounding: nothing random is left in the answer.

*Range.* κ + 10 random combinations of the columns of J span its whole column space with probability one (Halko,
Martinsson & Tropp 2011, section 4, at the exact rank). An orthonormal basis U of it, taken through Σ and
orthonormalised again, is a basis of 𝒦: n × κ numbers, κ + 10 forward products, and a rank decision on J alone.

*Whitened.* Where n × κ numbers do not fit: the singular vectors V and values s of a row sketch K̃ᵀΩ give B = K̃ V s⁻¹
with a condition number of about ten whatever that of K̃ (the preconditioner of Meng, Saunders & Mahoney 2014, LSRN), so
that BᵀB = LLᵀ is safe, and the squared entries of the columns of B L⁻ᵀ are added up as they come. 4.5 κ products.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular, svd
from tqdm import tqdm

from capcore.constraints import rank_tolerance
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

    Without one the sketch grows until its rank stays ten below its number of columns.
    """
    n, p = operator.products.n_rows, operator.products.n_params
    most = min(n, p)
    count = (most if bound is None else min(bound, most)) + OVERSAMPLING
    first = count if bound is not None else min(count, FIRST_SKETCH)
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


def leverage_by_whitening(
    operator: ConstraintOperator, bound: int | None, rng: np.random.Generator, bar: tqdm
) -> Leverage:
    """Leverage scores without an n × κ array; arguments as for :func:`leverage_by_range`.

    Raises ``FloatingPointError`` where K̃ is so close to singular that rounding undoes the whitening: the range method
    then tells more.
    """
    products = operator.products
    n, p = products.n_rows, products.n_params
    most = min(n, p) if bound is None else min(bound, n, p)
    count = most + most // 2 + OVERSAMPLING
    vectors, values, _ = svd(operator.row_sketch(count, rng, bar), full_matrices=False, check_finite=False)
    tolerance = rank_tolerance((n, p), float(values[0]))
    rank = min(int(np.count_nonzero(values > tolerance)), most)
    if rank == 0:
        return Leverage(np.zeros(n), 0, values, 0.0)
    whitener = vectors[:, :rank] / values[:rank]
    del vectors
    gram = np.empty((rank, rank))
    for part in products.blocks(rank):
        gram[:, part] = whitener.T @ operator.backward(operator.forward(whitener[:, part]))
        bar.update(2 * (part.stop - part.start))
    try:
        factor = cholesky((gram + gram.T) / 2, lower=True)
    except LinAlgError:
        raise FloatingPointError(
            "whitening: the sketched directions are lost in rounding (smallest relative singular value "
            f"{values[rank - 1] / values[0]:.1e}). Use method='range'."
        ) from None
    frame = solve_triangular(factor, whitener.T, lower=True, overwrite_b=True).T
    scores = np.zeros(n)
    for part in products.blocks(rank):
        scores += np.square(operator.forward(frame[:, part])).sum(axis=1)
        bar.update(part.stop - part.start)
    lengths = np.linalg.norm(frame, axis=0)
    rounding = 2 * tolerance * float(lengths.sum())  # every column of B carries an error of tolerance × its length in p
    return Leverage(scores, rank, values, rounding)
