"""A network from the side of its examples: as many coordinates as outputs on the data, for any number of parameters.

Where parameters θ have the decay Λ, the coordinates Λ^½θ have a decay of 1. Only their directions in the rows of JΛ^-½
move outputs, and any root L of the (N·K, N·K) matrix G = JΛ⁻¹Jᵀ = LLᵀ has these directions as columns, up to a rotation
that changes no response. So the network f + Lδ, and one direction more for what of Λ^½θ does not move outputs, has the
capacities, leaves one out, and ends at the optimum of f + Jδ. A layer of parameters has its own part of G, in which the
others do not move, and G is the sum over layers. Parameters without decay keep their columns of J.

No matrix here has p rows and columns, and of J no more is formed than its factors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lapack, solve_triangular, svd

from capcore.checks.memory import arrays, usable
from capcore.networks.factors import jacobian
from capcore.networks.linearised import Linearised
from capcore.networks.problem import NetworkProblem

BLOCK = 2**27
"""Numbers of the factors of J of a block of examples, and of the part of G of two blocks, at most."""


def room() -> int:
    """Numbers of a block here: with copies and another block, half of the usable memory."""
    return int(min(BLOCK, usable() / 64))


def dual_bytes(problem: NetworkProblem) -> float:
    """Bytes that G and what follows take, the columns without decay, and the factors of one example, or of a block."""
    derivatives, (n, k) = problem.derivatives, problem.targets.shape
    one, free = k * derivatives.width(derivatives.params), np.count_nonzero(problem.decay == 0)
    return arrays(n * k, n * k, copies=6) + arrays(max(room(), one), copies=4) + arrays(n * k, free, copies=5)


def gram(
    problem: NetworkProblem, parts: Sequence[slice] = (slice(None),)
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """(N·K, N·K) JΛ⁻¹Jᵀ of the parameters with decay in each of some slices, J of those without, and J of θ with decay.

    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> problem = NetworkProblem.of(lambda w, x: x @ w, np.ones(2), x, np.ones(2), "squared", np.array([2.0, 0.0]))
    >>> (matrix,), columns, moved = gram(problem)
    >>> matrix.tolist(), columns.tolist(), moved.tolist()
    ([[0.5, 1.5], [1.5, 4.5]], [[2.0], [4.0]], [1.0, 3.0])
    """
    derivatives, (n, k), w = problem.derivatives, problem.targets.shape, problem.derivatives.params
    free, moved, columns = problem.decay == 0, np.zeros((n, k)), []
    scales = np.divide(1.0, problem.decay, out=np.zeros(w.size), where=~free)
    matrices = [np.zeros((n, k, n, k)) for _ in parts]
    step = max(1, min(room() // max(1, k * derivatives.width(w)), int(room() ** 0.5) // k))
    blocks = [slice(i, i + step) for i in range(0, n, step)]
    for i, block in enumerate(blocks):
        own = derivatives.factors(w, block)
        columns.append(jacobian(own, free))
        for one in own:
            moved[block] += np.einsum("nb,nkb->nk", one.read @ np.where(free, 0.0, w)[one.places], one.wrote)
        for before in blocks[: i + 1]:
            for one, other in zip(own, own if before == block else derivatives.factors(w, before), strict=True):
                for part, matrix in zip(parts, matrices, strict=True):
                    start, stop, _ = part.indices(w.size)
                    inside = (start <= one.places) & (one.places < stop)
                    if inside.any():
                        products = one.product(other, inside * scales[one.places])
                        matrix[block, :, before] += products
                        if before != block:
                            matrix[before, :, block] += products.transpose(2, 3, 0, 1)
    return [matrix.reshape(n * k, n * k) for matrix in matrices], np.concatenate(columns), moved.ravel()


def reduced(matrix: np.ndarray, columns: np.ndarray, moved: np.ndarray, length: float = 0.0) -> Linearised:
    """The network in the coordinates of a Cholesky root of JΛ⁻¹Jᵀ, and of the parameters without decay.

    Parameters
    ----------
    matrix : (N·K, N·K) array
        JΛ⁻¹Jᵀ, which is overwritten.
    columns : (N·K, p₀) array
        J of the parameters without decay.
    moved : (N·K,) array
        J of θ with decay.
    length : float
        θᵀΛθ.

    Examples
    --------
    >>> reduced(np.diag([4.0, 0.0]), np.zeros((2, 0)), np.array([6.0, 0.0]), 10.0).params.tolist()
    [3.0, 1.0]
    """
    lower, order, rank, _ = lapack.dpstrf(matrix.T, lower=1, overwrite_a=1)  # in the order that LAPACK takes, in place
    order = np.asarray(order) - 1
    if len(columns) < columns.shape[1]:
        columns = columns @ svd(columns, full_matrices=False)[2].T
    root = np.zeros((len(matrix), rank + 1 + columns.shape[1]))
    root[order, :rank] = np.tril(np.asarray(lower)[:, :rank])
    root[:, rank + 1 :] = columns
    params, decay = np.zeros(root.shape[1]), np.zeros(root.shape[1])
    params[:rank] = solve_triangular(lower[:rank, :rank], moved[order[:rank]], lower=True)
    params[rank] = max(length - float(params @ params), 0.0) ** 0.5
    decay[: rank + 1] = 1.0
    return Linearised(root, decay, params)
