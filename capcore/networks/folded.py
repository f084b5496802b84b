"""Capacities of a large network from its Jacobian with the parameters folded into a few thousand columns.

Each parameter gets a random sign, and columns of JD^(−½) that lie m apart are added, D being the weight decay. The
result JD^(−½)Ω (N·K, m) costs one pass back for each output of each example, and inner products of its rows are those
of JD^(−½), on average. A ridge problem that is folded in this way has the responses of the whole one with a larger
ridge. The columns of Ω are orthogonal, and for such sketches a ridge s of the m columns stands for a ridge of
s·(1 − total/p)/(1 − total/m) of the p parameters (LeJeune et al., 2024). So the responses at the weight decay itself, a
ridge of 1, are those of the columns with s = (1 − total/m)/(1 − total/p).

Random signs for targets leave each leverage an error of a tenth or more, and halving it takes four times as many
solves. Folding needs no solve, and its errors are shares of what is measured, however small. For a trained network of a
million parameters ``python -m benchmarks.leverages`` compares some with exact ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cholesky, eigvalsh, solve_triangular
from scipy.optimize import brentq

from capcore.checks.arguments import plain_seed, positive_integer
from capcore.checks.memory import arrays, fits, too_large
from capcore.networks.capacities import Capacities, measure
from capcore.networks.problem import NetworkProblem, put_into_metric
from capcore.networks.response import CholeskyResponse

if TYPE_CHECKING:
    from capcore.networks.results import NetworkAllocation

ROOM = 4.0
"""Columns for each unit of capacity by default; a fold of half as many, which tells the error, needs two."""
LEAST = 1024
"""Columns by default, at least."""
NORMAL = 1.96
"""Half-width of a 95 % interval, in standard errors."""
BLOCK = 2**22
"""Numbers of the folded rows that are worked on at a time."""


def sharpened(
    found: NetworkAllocation, columns: Any = None, rng: Any = None, progress: bool = False
) -> NetworkAllocation:
    """A sketch with all capacities estimated anew, as ``found.sharpened()`` gives it; a dense result as it is.

    Parameters
    ----------
    found : NetworkAllocation
        By Gauss–Newton, and with a weight decay of every parameter.
    columns : int, optional
        Columns m into which the parameters are folded, at least four times the total; by default so many, and at least
        1,024. Memory is that of one array (N·K, m), in the precision of the derivatives, and of three (m, m).
    rng : numpy.random.Generator or int, default 0
        Of the signs.
    progress : bool
        Show a progress bar.

    Returns
    -------
    NetworkAllocation
        Its error bars come from a fold of half as many columns: all capacities count as uncertain by the same share as
        leverages, that by which the two folds differ in them. This is cautious: the fold that is kept is the better.

    Raises
    ------
    ValueError
        If there are too few columns for the total.
    AttributeError
        For a sketch with the full Hessian, and where a parameter has no weight decay, or a function stands for it.
    TooLargeError
        If arrays would not fit into memory.

    Examples
    --------
    >>> import capcore as cc
    >>> x, y = np.eye(6)[:, :4] + 0.5, np.arange(6.0)
    >>> found = cc.allocate_network(lambda w, x: x @ w, np.ones(4), x, y, weight_decay=1.0, method="sketch")
    >>> dense = cc.allocate_network(lambda w, x: x @ w, np.ones(4), x, y, weight_decay=1.0)
    >>> np.allclose(found.sharpened().per_example, dense.per_example)  # four parameters need no folding
    True
    """
    if found.method == "dense":
        return found
    problem, model = found.problem, found._response
    decay, p, shape = problem.decay, problem.derivatives.n_params, problem.targets.shape
    if model.errors.any():
        raise AttributeError(
            "sharpened: found a sketch of the whole Hessian, expected the Gauss–Newton form. Use "
            "allocate_network(…, curvature='gauss-newton')."
        )
    if decay is None or not decay.all():
        raise AttributeError(
            "sharpened: found parameters without weight decay, or a function in its place, expected a decay of each: "
            "parameters are folded in its units. Give them a small one, or use allocate_network(…, method='dense')."
        )
    plain_seed(rng)
    rng = np.random.default_rng(0 if rng is None else rng)
    least = int(np.ceil(ROOM * found.total))
    m = max(LEAST, least) if columns is None else positive_integer(columns, "columns")
    if m < min(least, p):
        raise ValueError(f"columns: found {m:,}, expected at least {min(least, p):,}, four times the total.")
    m = min(m + m % 2, p)
    dtype = problem.derivatives.dtype
    n_bytes = arrays(problem.targets.size, m) * dtype.itemsize / 8 + arrays(m, m, copies=3)
    if not fits(n_bytes):
        raise too_large(f"sharpened: found {problem.targets.size:,} outputs, {m:,} columns", n_bytes, "Use fewer.")
    rows = folded_rows(problem, model, m, rng, progress)
    gram = (rows.T @ rows).astype(float, copy=False)
    share = 0.0
    if m < p:
        signs = rng.choice([-1.0, 1.0], size=m // 2).astype(dtype)
        coarse = coarse_leverages(rows, gram, signs, p).reshape(shape).sum(axis=1)
    response = FoldedResponse.of_rows(rows, gram, p)
    fine = measure(response, shape, found._subspaces)
    if m < p:
        share = NORMAL * float(np.sqrt(np.square(coarse / fine.per_example - 1).mean()))
    largest = np.linalg.eigvalsh(response.blocks(shape))[:, -1]
    errors = Capacities(
        share * fine.total,
        share * fine.per_output,
        share * fine.per_example,
        {name: share * values for name, values in fine.per_subspace.items()},
    )
    return replace(
        found,
        **vars(fine),
        gauss_newton_total=fine.total,
        largest_leverage=float(largest.max()),
        error=errors.total,
        errors=errors,
        _options={**found._options, "largest": int(largest.argmax())},
    )


def folded_rows(problem: NetworkProblem, model: Any, columns: int, rng: Any, progress: bool = False) -> np.ndarray:
    """RᵀJD^(−½)Ω (N·K, m), with the metric of a sketched model."""
    factors = rng.choice([-1.0, 1.0], size=problem.derivatives.n_params) / np.sqrt(np.asarray(problem.decay, float))
    rows = problem.derivatives.folded(factors, columns, progress)
    return put_into_metric(rows, model.roots.astype(rows.dtype), model.means.astype(rows.dtype))


class FoldedResponse(CholeskyResponse):
    """The response of folded rows at a ridge of 1 of all parameters, in their memory."""

    @classmethod
    def of_rows(cls, rows: np.ndarray, gram: np.ndarray, n_params: int) -> FoldedResponse:
        """From rows (N·K, m) and the product of their transpose with them; overwrites both."""
        root = root_of(gram, n_params)
        solver = root.astype(rows.dtype)
        for part in blocks(rows):
            rows[part] = solve_triangular(solver, rows[part].T, lower=True, check_finite=False).T
        return cls(rows, root, float("nan"))

    def along(self, columns: np.ndarray) -> np.ndarray:
        """(m,) zᵀSz of columns (N·K, m)."""
        found = np.zeros((columns.shape[1], self.factor.shape[1]))
        for part in blocks(self.factor):  # in double precision, of which the whole factor would not fit
            found += columns[part].T @ self.factor[part]
        return np.square(found).sum(axis=1)


def coarse_leverages(rows: np.ndarray, gram: np.ndarray, signs: np.ndarray, n_params: int) -> np.ndarray:
    """(N·K,) leverages of rows (N·K, m) folded once more, with signs (m/2,), from their product (m, m)."""
    half = len(signs)
    gram = gram[:half] + signs[:, None] * gram[half:]
    solver = root_of(gram[:, :half] + gram[:, half:] * signs, n_params).astype(rows.dtype)
    found = np.empty(len(rows))
    for part in blocks(rows):
        folded = rows[part, :half] + rows[part, half:] * signs
        found[part] = np.square(solve_triangular(solver, folded.T, lower=True, check_finite=False)).sum(axis=0)
    return found


def root_of(gram: np.ndarray, n_params: int) -> np.ndarray:
    """The Cholesky root (m, m) of a product of folded rows, with the ridge that stands for one of 1; overwrites it."""
    gram[np.diag_indices_from(gram)] += ridge_of(np.maximum(eigvalsh(gram, check_finite=False), 0.0), n_params)
    return cholesky(gram, lower=True, overwrite_a=True, check_finite=False)


def blocks(rows: np.ndarray) -> Iterator[slice]:
    """Slices of the first axis that hold :data:`BLOCK` numbers each."""
    step = max(1, BLOCK // rows[0].size)
    return (slice(i, i + step) for i in range(0, len(rows), step))


def ridge_of(values: np.ndarray, n_params: int) -> float:
    """s with s = (1 − total(s)/m)/(1 − total(s)/p), for the total Σ μ/(μ + s) of m eigenvalues (m,).

    >>> values = np.array([1.0, 0.0, 0.0, 0.0])
    >>> round(ridge_of(values, 10**9), 6), ridge_of(values, 4)
    (0.866025, 1.0)
    """

    def excess(s: float) -> float:
        total = float((values / (values + s)).sum())
        return s * (1 - total / n_params) - (1 - total / len(values))

    return float(brentq(excess, float(np.finfo(float).eps), 1.0)) if len(values) < n_params else 1.0
