"""The response of a network from the side of its examples, exact for any number of parameters.

S = RᵀJH⁻¹JᵀR with H = JᵀWJ + Λ, where Λ is the weight decay of each parameter, is also G(G + I)⁻¹ with the (N·K, N·K)
matrix G = RᵀJΛ⁻¹JᵀR (Woodbury's identity). A layer of parameters has the part of G in which the others do not move, and
G is the sum over layers. No matrix here has p rows and columns, and of J no more is formed than its factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, lapack

from capcore.checks.memory import arrays, check_memory
from capcore.networks.factors import Factor
from capcore.networks.linearised import Optimum, optimum
from capcore.networks.losses import from_metric, to_metric
from capcore.networks.problem import NetworkProblem

BLOCK = 2**26
"""Numbers of the factors of J of a block of examples, and of the part of G of two blocks."""


def dual_bytes(problem: NetworkProblem) -> float:
    """Bytes that G and its inverse take, and the factors of J of one example, or of a block of them."""
    size, one = problem.targets.size, problem.targets.shape[1] * problem.derivatives.n_params
    return arrays(size, size, copies=2) + arrays(max(BLOCK, one), copies=4)


def gram(
    problem: NetworkProblem, roots: np.ndarray, means: np.ndarray, parts: Sequence[slice] = (slice(None),)
) -> list[np.ndarray]:
    """(N·K, N·K) RᵀJΛ⁻¹JᵀR of the parameters in each of some slices, in the metric W = diag(roots²) − means meansᵀ.

    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> problem = NetworkProblem.of(lambda w, x: x @ w, np.ones(2), x, np.ones(2), "squared", 2.0)
    >>> gram(problem, np.ones((2, 1)), np.zeros((2, 1)))[0].tolist()
    [[2.5, 5.5], [5.5, 12.5]]
    """
    derivatives, (n, k), w = problem.derivatives, roots.shape, problem.derivatives.params

    def factors(block: slice) -> list[Factor]:
        return [factor.in_metric(roots[block], means[block]) for factor in derivatives.factors(w, block)]

    matrices = [np.zeros((n, k, n, k)) for _ in parts]
    step = max(1, min(BLOCK // max(1, k * derivatives.width(w)), int(BLOCK**0.5) // k))
    blocks = [slice(i, i + step) for i in range(0, n, step)]
    for i, block in enumerate(blocks):
        own = factors(block)
        for before in blocks[: i + 1]:
            for one, other in zip(own, own if before == block else factors(before), strict=True):
                for part, matrix in zip(parts, matrices, strict=True):
                    start, stop, _ = part.indices(w.size)
                    inside = (start <= one.places) & (one.places < stop)
                    if inside.any():
                        products = one.product(other, inside / problem.decay[one.places])
                        matrix[block, :, before] += products
                        if before != block:
                            matrix[before, :, block] += products.transpose(2, 3, 0, 1)
    return [matrix.reshape(n * k, n * k) for matrix in matrices]


@dataclass(frozen=True, eq=False, repr=False)
class Dual:
    """S = I − (G + I)⁻¹, and H⁻¹ by Woodbury's identity.

    Attributes
    ----------
    problem : NetworkProblem
    roots, means : (N, K) array
        W = diag(roots²) − means meansᵀ.
    rest : (N·K, N·K) array
        I − S.
    """

    problem: NetworkProblem
    roots: np.ndarray
    means: np.ndarray
    rest: np.ndarray

    @classmethod
    def of(cls, problem: NetworkProblem, roots: np.ndarray, means: np.ndarray, matrix: np.ndarray) -> Dual:
        """From G, which is overwritten."""
        matrix[np.diag_indices_from(matrix)] += 1
        lower = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1)[0]  # in the order that LAPACK takes, so in place
        rest = lapack.dpotri(lower, lower=1, overwrite_c=1)[0]
        for i in range(len(rest)):
            rest[i, i + 1 :] = rest[i + 1 :, i]
        return cls(problem, roots, means, rest)

    @property
    def diagonal(self) -> np.ndarray:
        """(N·K,) diagonal of S."""
        return 1 - self.rest.diagonal()

    def blocks(self, shape: tuple[int, int]) -> np.ndarray:
        """(N, K, K) blocks of S that belong to one example each."""
        return np.eye(shape[1]) - np.einsum("nknl->nkl", self.rest.reshape(*shape, *shape))

    def along(self, columns: np.ndarray) -> np.ndarray:
        """(m,) zᵀSz of columns (N·K, m)."""
        return (columns * (columns - self.rest @ columns)).sum(axis=0)

    def solve(self, gradients: np.ndarray) -> np.ndarray:
        """(p, m) H⁻¹ times (p, m)."""
        derivatives, decay = self.problem.derivatives, self.problem.decay
        free = gradients.T / decay
        moved = derivatives.jvp(derivatives.params, free).reshape(len(free), -1).T
        held = from_metric(self.rest @ to_metric(moved, self.roots, self.means), self.roots, self.means)
        return (free - derivatives.vjp(derivatives.params, held.T.reshape(-1, *self.roots.shape)) / decay).T

    def layers(self) -> dict[str, np.ndarray]:
        """The part of G of each layer."""
        parts, size = self.problem.layers, f"layers: found {len(self.problem.layers)} of {len(self.rest):,} outputs"
        check_memory(arrays(*self.rest.shape, copies=len(parts) + 4), size, "Give fewer layers, or fewer examples.")
        matrices = gram(self.problem, self.roots, self.means, list(parts.values()))
        return dict(zip(parts, matrices, strict=True))

    def among(self, parts: list[np.ndarray]) -> Dual:
        """The response of the layers with these parts of G, with all others constant."""
        return Dual.of(self.problem, self.roots, self.means, sum(parts, np.zeros(self.rest.shape)))

    def optimum(self) -> Optimum:
        """The optimum of the linearised network, in the directions of Λ^½θ that move outputs and one for the rest."""
        problem, w = self.problem, self.problem.derivatives.params
        pull = problem.derivatives.jvp(w, w[None]).ravel()
        values, vectors = eigh(gram(problem, np.ones_like(self.roots), np.zeros_like(self.means))[0], overwrite_a=True)
        moving = values > 1e-32 * values[-1]  # others move outputs by less than rounding does
        sizes, vectors = np.sqrt(values[moving]), vectors[:, moving]
        slope = vectors.T @ pull / sizes
        still = np.sqrt(max(problem.decay @ w**2 - slope @ slope, 0.0))
        jacobian = np.pad(vectors * sizes, ((0, 0), (0, 1))).reshape(*self.roots.shape, -1)
        outputs, added = problem.derivatives.outputs(w), np.ones(len(sizes) + 1)
        return optimum(jacobian, outputs, problem.targets, added, np.append(slope, still), problem.loss)
