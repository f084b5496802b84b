"""Capacity of a model whose Jacobian is available only through its products.

The leverage scores are exact up to rounding: nothing in the result is random.

κ + 10 random combinations of the columns of J span its whole column space with probability one (Halko, Martinsson &
Tropp 2011, section 4, at the exact rank). An orthonormal basis U of it, multiplied by Σ and orthonormalised again, is a
basis of 𝒦. This takes n × κ numbers, κ + 10 forward products, and a rank decision on J alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular, svd
from tqdm import tqdm

from capcore.architectures.base import Architecture
from capcore.architectures.columns import rank_tolerance
from capcore.capacity.allocation import ITS_OWN, CapacityWarning
from capcore.checks.arguments import warn
from capcore.checks.memory import arrays, fits, too_large
from capcore.large.allocation import ByOctave
from capcore.large.fft import covariance_product
from capcore.large.jacobian_products import ConstraintOperator, JacobianProducts
from capcore.processes import Process
from capcore.processes.problem import Problem


@dataclass(frozen=True, eq=False)
class CapacityEstimate(ByOctave):
    """Capacity of a model at given parameters, by input and by octave of lag.

    Attributes
    ----------
    total : int
        κ, the numerical dimension of the constraint space; ``per_input`` sums to it, up to ``error``.
    generic_total : int or None
        Exact generic capacity, None if it is not known.
    per_input : (n_inputs,) array
        Capacity of each position, lag 0 first.
    error : float
        First-order bound on the rounding error of the capacity of any group of inputs.
    singular_values : array
        Singular values of the sketch, descending; those above the tolerance were kept.
    """

    total: int
    generic_total: int | None
    per_input: np.ndarray = field(repr=False)
    error: float
    singular_values: np.ndarray = field(repr=False)


OVERSAMPLING = 10
FIRST_SKETCH = 64  # columns tried first if no bound on the rank is known


class Leverage(NamedTuple):
    """Leverage scores of the rows of K̃, with the rank decision behind them.

    Attributes
    ----------
    scores : (n,) array
        Scores of the rows.
    rank : int
        Number of directions kept.
    singular_values : array
        Singular values of the sketch.
    rounding : float
        First-order bound on the error of any sum.
    """

    scores: np.ndarray
    rank: int
    singular_values: np.ndarray
    rounding: float


def leverage_by_range(operator: ConstraintOperator, bound: int | None, rng: np.random.Generator, bar: tqdm) -> Leverage:
    """Leverage scores through a basis of the column space; ``bound`` is an upper bound on the rank, if one is known.

    Without a bound the sketch grows until its rank is at least ten below its number of columns. Raises
    :class:`~capcore.checks.memory.TooLargeError` before it makes a sketch that would not fit into memory.
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
        further = operator.range_sketch(doubled if doubled >= p else doubled - columns, rng, bar)
        sketch = further if doubled >= p else np.hstack([sketch, further])
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
    # U_j is off by at most tolerance / s_j; Σ and the normalisation that follows carry this error to 𝒦.
    carried = svd(solve_triangular(r, np.diag(1 / values[:rank]), trans="T"), compute_uv=False)
    rounding = 2 * tolerance * float(stretch[0]) * float(carried.sum())
    return Leverage(np.square(basis).sum(axis=1), rank, values, rounding)


def _check_size(n: int, columns: int) -> None:
    n_bytes = arrays(n, columns, copies=3)
    if not fits(n_bytes):
        advice = "Use fewer inputs or channels, or method='streamed' where supports are disjoint."
        raise too_large(f"sketch: found {n:,} inputs of {columns:,} columns", n_bytes, advice)


def estimate_capacity(
    model: Architecture | JacobianProducts,
    params: object,
    process: Process | Problem,
    *,
    rng: np.random.Generator | int | None = None,
    progress: bool = False,
) -> CapacityEstimate:
    """Capacity per input and per octave of lags, exact up to rounding, from products with J, Jᵀ and Σ.

    Layers of any scale are rescaled first.

    Parameters
    ----------
    model : Architecture or JacobianProducts
        The model, or the products with its Jacobian.
    params : (n_params,) array_like
        Its parameters; None if ``model`` is products.
    process : Process or Problem
        The process whose covariance Σ is used, or the prediction problem that it defines.
    rng : numpy.random.Generator or int, default 0
        For the sketch.
    progress : bool
        Show a progress bar.

    Warns
    -----
    CapacityWarning
        If the numerical rank is below the generic one.

    Raises
    ------
    TooLargeError
        If 3 n κ numbers would not fit into memory.
    ValueError
        If an argument cannot be used or a product is not finite.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import PowerLaw
    >>> arch = Hierarchical(channels=2, dilations=[1, 2, 4, 1, 2, 4])
    >>> estimate = estimate_capacity(arch, arch.init(np.random.default_rng(0)), PowerLaw())
    >>> estimate.total, estimate.per_octave.round(6).sum()
    (15, np.float64(15.0))
    """
    rng = np.random.default_rng(0 if rng is None else rng)
    if isinstance(model, Architecture):
        model, params = model.at_even_scale(params)
    products = JacobianProducts.of(model, params)
    covariance = covariance_product(process, products.n_inputs, products.input_dim)
    operator = ConstraintOperator.balanced(products, covariance, rng)
    bound = products.generic_total
    with tqdm(desc="capacity", unit="product", disable=not progress) as bar:
        leverage = leverage_by_range(operator, bound, rng, bar)
    if bound is not None and leverage.rank < min(bound, products.n_rows, products.n_params):
        warn(
            f"numerical capacity {leverage.rank} is below the exact generic capacity {bound}: the parameters are "
            f"singular or nearly so. {ITS_OWN} Look at singular_values.",
            CapacityWarning,
        )
    per_input = leverage.scores.reshape(products.n_inputs, products.input_dim).sum(axis=1)
    per_input = np.minimum(per_input, products.input_dim)
    return CapacityEstimate(leverage.rank, bound, per_input, leverage.rounding, leverage.singular_values)
