"""The response of a network from the side of its examples, exact for any number of parameters.

S = RᵀJH⁻¹JᵀR with H = JᵀWJ + Λ, where Λ is the weight decay of each parameter, is also G(G + I)⁻¹ with the (N·K, N·K)
matrix G = RᵀJΛ⁻¹JᵀR (Woodbury's identity). A layer of parameters has the part of G in which the others do not move, and
G is the sum over layers. No matrix here has p rows and columns, and of J no more is formed than its factors.

Parameters without decay, with columns B of RᵀJ, are the limit of less and less decay. I − S, which is C = (G + I)⁻¹ of
the others, then loses what it has along B: C − CB(BᵀCB)⁺BᵀC, a Schur complement. With C = LLᵀ and LᵀB = UDVᵀ this is
C − EEᵀ, E = LU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh, lapack, solve_triangular, svd

from capcore.architectures.columns import rank_tolerance
from capcore.checks.memory import arrays, check_memory
from capcore.networks.factors import Factor, jacobian
from capcore.networks.linearised import Optimum, optimum
from capcore.networks.losses import from_metric, to_metric
from capcore.networks.problem import NetworkProblem

BLOCK = 2**26
"""Numbers of the factors of J of a block of examples, and of the part of G of two blocks."""


def dual_bytes(problem: NetworkProblem) -> float:
    """Bytes that G, its inverse and the columns without decay take, and the factors of one example, or of a block."""
    derivatives, size, k = problem.derivatives, *(problem.targets.size, problem.targets.shape[1])
    one = k * derivatives.width(derivatives.params)
    free = int((problem.decay == 0).sum())
    return arrays(size, size, copies=2) + arrays(max(BLOCK, one), copies=4) + arrays(size, free, copies=4)


def dual_operations(problem: NetworkProblem) -> float:
    """Floating-point operations of the dual method, without those that J takes."""
    size, w = problem.targets.size, problem.derivatives.params
    return float(size) ** 3 + 2.0 * size**2 * problem.derivatives.width(w, problem.decay)


def gram(
    problem: NetworkProblem, roots: np.ndarray, means: np.ndarray, parts: Sequence[slice] = (slice(None),)
) -> tuple[list[np.ndarray], np.ndarray]:
    """(N·K, N·K) RᵀJΛ⁻¹JᵀR of the parameters with decay in each of some slices, and RᵀJ of those without.

    The metric is W = diag(roots²) − means meansᵀ.

    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> problem = NetworkProblem.of(lambda w, x: x @ w, np.ones(2), x, np.ones(2), "squared", np.array([2.0, 0.0]))
    >>> (matrix,), columns = gram(problem, np.ones((2, 1)), np.zeros((2, 1)))
    >>> matrix.tolist(), columns.tolist()
    ([[0.5, 1.5], [1.5, 4.5]], [[2.0], [4.0]])
    """
    derivatives, (n, k), w = problem.derivatives, roots.shape, problem.derivatives.params

    def factors(block: slice) -> list[Factor]:
        return [factor.in_metric(roots[block], means[block]) for factor in derivatives.factors(w, block)]

    matrices, columns, free = [np.zeros((n, k, n, k)) for _ in parts], [], problem.decay == 0
    step = max(1, min(BLOCK // max(1, k * derivatives.width(w)), int(BLOCK**0.5) // k))
    blocks = [slice(i, i + step) for i in range(0, n, step)]
    for i, block in enumerate(blocks):
        own = factors(block)
        columns.append(jacobian(own, free))
        for before in blocks[: i + 1]:
            for one, other in zip(own, own if before == block else factors(before), strict=True):
                scales = np.where(free, 0.0, 1 / np.where(free, 1.0, problem.decay))[one.places]
                for part, matrix in zip(parts, matrices, strict=True):
                    start, stop, _ = part.indices(w.size)
                    inside = (start <= one.places) & (one.places < stop)
                    if inside.any():
                        products = one.product(other, inside * scales)
                        matrix[block, :, before] += products
                        if before != block:
                            matrix[before, :, block] += products.transpose(2, 3, 0, 1)
    return [matrix.reshape(n * k, n * k) for matrix in matrices], np.concatenate(columns)


@dataclass(frozen=True, eq=False, repr=False)
class Dual:
    """S = I − C + EEᵀ, and H⁻¹ by Woodbury's identity.

    Attributes
    ----------
    problem : NetworkProblem
    roots, means : (N, K) array
        W = diag(roots²) − means meansᵀ.
    rest : (N·K, N·K) array
        I − S.
    moved, kept : (N·K, r), (p₀, r) array
        E = LU and VD⁻¹, of the p₀ parameters without decay.
    """

    problem: NetworkProblem
    roots: np.ndarray
    means: np.ndarray
    rest: np.ndarray
    moved: np.ndarray
    kept: np.ndarray

    @classmethod
    def of(
        cls, problem: NetworkProblem, roots: np.ndarray, means: np.ndarray, matrix: np.ndarray, columns: np.ndarray
    ) -> Dual:
        """From G, which is overwritten, and B."""
        matrix[np.diag_indices_from(matrix)] += 1
        lower = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1)[0]  # in the order that LAPACK takes, so in place
        u, d, vt = svd(solve_triangular(lower, columns, lower=True), full_matrices=False)
        u, d, vt = (a[..., d > rank_tolerance(columns.shape, d.max(initial=0.0))] for a in (u, d, vt.T))
        moved = solve_triangular(lower, u, lower=True, trans="T")
        rest = lapack.dpotri(lower, lower=1, overwrite_c=1)[0]
        for i in range(len(rest)):
            rest[i, i + 1 :] = rest[i + 1 :, i]
        if d.size:
            rest -= moved @ moved.T
        return cls(problem, roots, means, rest, moved, vt / d)

    @property
    def diagonal(self) -> np.ndarray:
        """(N·K,) diagonal of S."""
        return 1 - self.rest.diagonal()

    @property
    def spectrum(self) -> np.ndarray:
        """(N·K,) eigenvalues of S."""
        return 1 - np.linalg.eigvalsh(self.rest)

    def blocks(self, shape: tuple[int, int]) -> np.ndarray:
        """(N, K, K) blocks of S that belong to one example each."""
        return np.eye(shape[1]) - np.einsum("nknl->nkl", self.rest.reshape(*shape, *shape))

    def along(self, columns: np.ndarray) -> np.ndarray:
        """(m,) zᵀSz of columns (N·K, m)."""
        return (columns * (columns - self.rest @ columns)).sum(axis=0)

    def solve(self, gradients: np.ndarray) -> np.ndarray:
        """(p, m) H⁻¹ times (p, m)."""
        derivatives, free = self.problem.derivatives, self.problem.decay == 0
        decay = np.where(free, np.inf, self.problem.decay)[:, None]
        along = to_metric(self._moved(gradients / decay), self.roots, self.means)
        pull = self.kept.T @ gradients[free]
        held = from_metric(self.rest @ along + self.moved @ pull, self.roots, self.means)
        result = (gradients - derivatives.vjp(derivatives.params, held.T.reshape(-1, *self.roots.shape)).T) / decay
        result[free] = self.kept @ (pull - self.moved.T @ along)
        return result

    def _moved(self, directions: np.ndarray) -> np.ndarray:
        """(N·K, m) J times (p, m)."""
        derivatives = self.problem.derivatives
        return derivatives.jvp(derivatives.params, directions.T).reshape(-1, len(self.rest)).T

    @cached_property
    def _layers(self) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """The part of G of each layer, and B."""
        parts, size = self.problem.layers, f"layers: found {len(self.problem.layers)} of {len(self.rest):,} outputs"
        check_memory(arrays(*self.rest.shape, copies=len(parts) + 4), size, "Give fewer layers, or fewer examples.")
        matrices, columns = gram(self.problem, self.roots, self.means, list(parts.values()))
        return dict(zip(parts, matrices, strict=True)), columns

    def among(self, names: Sequence[str]) -> Dual:
        """The response of some layers, with all others constant."""
        matrices, columns = self._layers
        inside = np.zeros(self.problem.decay.size, dtype=bool)
        for name in names:
            inside[self.problem.layers[name]] = True
        columns = columns[:, inside[self.problem.decay == 0]]
        matrix = sum((matrices[name] for name in names), np.zeros(self.rest.shape))
        return Dual.of(self.problem, self.roots, self.means, matrix, columns)

    def optimum(self) -> Optimum:
        """The optimum of the linearised network, in the directions of Λ^½θ that move outputs and one for the rest."""
        problem, w = self.problem, self.problem.derivatives.params
        pull = self._moved(np.where(problem.decay == 0, 0.0, w)[:, None])[:, 0]
        (matrix,), columns = gram(problem, np.ones_like(self.roots), np.zeros_like(self.means))
        values, vectors = eigh(matrix, overwrite_a=True)
        moving = values > 1e-32 * values[-1]  # others move outputs by less than rounding does
        sizes, vectors = np.sqrt(values[moving]), vectors[:, moving]
        slope = vectors.T @ pull / sizes
        still = np.sqrt(max(problem.decay @ w**2 - slope @ slope, 0.0))
        if len(columns) < columns.shape[1]:
            columns = columns @ svd(columns, full_matrices=False)[2].T
        one, none = np.zeros((len(columns), 1)), np.zeros(columns.shape[1])
        jacobian = np.hstack([vectors * sizes, one, columns]).reshape(*self.roots.shape, -1)
        added = np.append(np.ones(len(sizes) + 1), none)
        slopes = np.concatenate([slope, [still], none])
        return optimum(jacobian, problem.derivatives.outputs(w), problem.targets, added, slopes, problem.loss)
