"""Capacity of a model whose Jacobian is available only through its products.

The leverage scores are exact up to rounding: nothing in the result is random.

κ + 10 random combinations of the columns of J span its whole column space with probability one (Halko, Martinsson &
Tropp 2011, section 4, at the exact rank). An orthonormal basis U of it, multiplied by Σ and orthonormalised again, is a
basis of 𝒦. This takes n × κ numbers, κ + 10 forward products, and a rank decision on J alone.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cholesky, qr, solve_triangular, svd

from capcore.architectures.base import Architecture
from capcore.architectures.columns import rank_tolerance
from capcore.capacity.allocation import missed_share, warn_if_singular
from capcore.checks.arguments import Seed, finite_array
from capcore.checks.memory import arrays, check_memory
from capcore.checks.progress import tqdm
from capcore.large.fft import covariance_product, input_variances
from capcore.large.jacobian_products import jacobian_products
from capcore.processes import Process
from capcore.processes.base import ADVICE
from capcore.processes.problem import Problem

OVERSAMPLING = 10
PROBES = 8  # random Jᵀz, from which the lengths of the columns of J are known to some tens of per cent
COLUMNS = 16  # of a block of products
EXACT_ENTRIES = 2**22  # largest Jacobian whose exact generic rank is computed without being asked for


@dataclass(frozen=True, eq=False)
class CapacityEstimate:
    """Capacity of a model at given parameters, by input.

    Attributes
    ----------
    total : int
        κ, the numerical dimension of the constraint space; ``per_input`` sums to it, up to ``error``.
    generic_total : int or None
        Exact generic capacity, None if it is not known.
    per_input : (n_inputs,) array
        Capacity of each position, lag 0 first.
    missed : (n_inputs,) array
        Share of a small event that stays, as of a :class:`~capcore.capacity.allocation.CapacityAllocation`.
    error : float
        First-order bound on the rounding error of the capacity of any group of inputs.
    singular_values : array
        Singular values of the sketch, descending; those above the tolerance were kept.
    """

    total: int
    generic_total: int | None
    per_input: np.ndarray = field(repr=False)
    missed: np.ndarray = field(repr=False)
    error: float
    singular_values: np.ndarray = field(repr=False)


def estimate_capacity(
    model: Architecture,
    params: object,
    task: Process | Problem,
    *,
    rng: Seed = None,
    progress: bool = False,
) -> CapacityEstimate:
    """Capacity per input, exact up to rounding, from products with J, Jᵀ and Σ.

    Layers of any scale are rescaled first, and columns of J to about unit length: neither changes the column space.

    Parameters
    ----------
    model : Architecture
        The model.
    params : (n_params,) array_like
        Its parameters.
    task : Process or Problem
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
    >>> estimate.total, estimate.per_input.sum().round(6)
    (15, np.float64(15.0))
    """
    rng = np.random.default_rng(0 if rng is None else rng)
    model, values = model.at_even_scale(params)
    covariance = covariance_product(task, model.n_inputs, model.input_dim)
    n, p, bound = model.n_inputs * model.input_dim, model.n_params, _exact_total(model)
    most = min(n, p) if bound is None else bound
    count = min(most + OVERSAMPLING, p)
    advice = "Use fewer inputs or channels, or method='streamed' where supports are disjoint."
    check_memory(arrays(n, count, copies=3), f"sketch: found {n:,} inputs of {count:,} columns", advice)
    forward, backward = jacobian_products(model, values)
    lengths = np.linalg.norm(backward(rng.normal(size=(n, PROBES))), axis=1)
    scales = 1 / np.where(lengths > 0, lengths, 1.0)
    sketch = np.empty((n, count), order="F")
    for part in tqdm(_blocks(count), desc="capacity", unit="block", disable=not progress):
        width = part.stop - part.start
        omega = np.eye(p, width, -part.start) if count == p else rng.normal(size=(p, width))
        sketch[:, part] = forward(scales[:, None] * omega)
    q, r = qr(finite_array(sketch, "jacobian", 2), mode="economic", check_finite=False, overwrite_a=True)
    left, singular_values, _ = svd(r, check_finite=False)
    tolerance = rank_tolerance((n, p), float(singular_values[0]))
    rank = min(int(np.count_nonzero(singular_values > tolerance)), most)
    if bound is not None:
        warn_if_singular(rank, bound)
    if rank == 0:
        nothing = np.zeros(model.n_inputs)
        return CapacityEstimate(0, bound, nothing, nothing + 1, 0.0, singular_values)
    basis = np.empty((n, rank), order="F")
    for part in _blocks(rank):
        basis[:, part] = covariance(q @ left[:, part])
    gram = left[:, :rank].T @ (q.T @ basis)  # of the tangents, in the metric of Σ
    basis, r = qr(basis, mode="economic", check_finite=False, overwrite_a=True)
    stretch = svd(r, compute_uv=False)
    if not stretch[-1] > rank_tolerance((n, rank), float(stretch[0])):
        least = stretch[-1] / stretch[0]
        raise ValueError(f"covariance: numerically singular on the tangent space. Found {least:.1e} of it. {ADVICE}")
    # U_j is off by at most tolerance / s_j; Σ and the normalisation that follows carry this error to 𝒦.
    carried = svd(solve_triangular(r, np.diag(1 / singular_values[:rank]), trans="T"), compute_uv=False)
    error = 2 * tolerance * float(stretch[0]) * float(carried.sum())
    per_input = np.square(basis).reshape(model.n_inputs, -1).sum(axis=1)
    whitened = solve_triangular(cholesky((gram + gram.T) / 2), r.T, trans="T").T
    followed = sum(np.square(basis @ whitened[:, part]).sum(axis=1) for part in _blocks(rank))
    missed = missed_share(np.asarray(followed), input_variances(task, model.n_inputs), model.input_dim)
    return CapacityEstimate(rank, bound, np.minimum(per_input, model.input_dim), missed, error, singular_values)


def _exact_total(model: Architecture) -> int | None:
    """Generic rank if it can be computed exactly and fast, otherwise None: a floating-point rank is not a bound."""
    small = model.n_inputs * model.input_dim * model.n_params <= EXACT_ENTRIES
    fast = getattr(model, "has_disjoint_supports", False) or (small and model.is_polynomial())
    return model.generic_capacity() if fast else None


def _blocks(count: int) -> list[slice]:
    """Slices that cut ``count`` columns into blocks."""
    return [slice(start, min(start + COLUMNS, count)) for start in range(0, count, COLUMNS)]
