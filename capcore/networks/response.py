"""The response operator of an optimum from the full Jacobian and Hessian.

S = Rᵀ J H⁻¹ Jᵀ R is computed from a root of the inverse, H⁻¹ = F Fᵀ. A positive definite H = C Cᵀ has a Cholesky root,
F = C⁻ᵀ, and a triangular solve gives RᵀJF, whose rows have the leverages as squared lengths. Eigenvectors of H take
some thirty times as many operations. They are computed where H is singular or indefinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh, lapack, solve_triangular

from capcore.architectures.columns import rank_tolerance

EPS = float(np.finfo(float).eps)
CAUTION = 10.0
"""LAPACK's estimate of a condition number is a lower bound, and hardly ever below a third of it."""


@dataclass(frozen=True, eq=False, repr=False)
class Inverse:
    """H⁻¹ = F diag(signs) Fᵀ of a symmetric matrix, without its numerically singular directions.

    Attributes
    ----------
    lower : (p, p) array or None
        Cholesky's C, for F = C⁻ᵀ.
    root : (p, r) array or None
        F, from eigenvectors, in the place of C.
    signs : (r,) array or None
        −1 for negative eigenvalues, else 1; None if none is negative.
    null : (p, p − r) array
        Eigenvectors whose eigenvalues are numerically 0.
    condition : float
        Condition number of what is inverted; with Cholesky in the 1-norm, estimated.
    """

    lower: np.ndarray | None
    root: np.ndarray | None
    signs: np.ndarray | None
    null: np.ndarray
    condition: float

    @classmethod
    def of(cls, matrix: np.ndarray) -> Inverse:
        """By Cholesky's method where all eigenvalues certainly exceed the tolerance of a rank.

        >>> Inverse.of(np.diag([2.0, 4.0])).solve(np.ones(2)).round(9).tolist()
        [0.5, 0.25]
        >>> Inverse.of(np.diag([2.0, 0.0])).solve(np.ones(2)).round(9).tolist()
        [0.5, 0.0]
        """
        if matrix.size:
            norm = float(np.abs(matrix).sum(axis=0).max())
            lower, failed = lapack.dpotrf(matrix.T, lower=1, clean=1)  # symmetric, in the order that LAPACK takes
            reciprocal = 0.0 if failed else float(lapack.dpocon(lower, norm, uplo="L")[0])
            if reciprocal * norm / CAUTION > rank_tolerance(matrix.shape, norm):
                return cls(lower, None, None, np.empty((len(lower), 0)), 1 / reciprocal)
        values, vectors = eigh(matrix, check_finite=False)
        sizes = np.abs(values)
        regular = sizes > rank_tolerance(matrix.shape, float(sizes.max(initial=0.0)))
        chosen = values[regular]
        root = vectors[:, regular] / np.sqrt(sizes[regular])
        signs = np.sign(chosen) if (chosen < 0).any() else None
        condition = float(sizes[regular].max() / sizes[regular].min()) if chosen.size else 0.0
        return cls(None, root, signs, vectors[:, ~regular], condition)

    @property
    def n_negative(self) -> int:
        """Number of eigenvalues below 0, those that are numerically 0 left out."""
        return 0 if self.signs is None else int((self.signs < 0).sum())

    def half(self, v: np.ndarray) -> np.ndarray:
        """Fᵀ times (p,) or (p, m)."""
        if self.root is not None:
            return self.root.T @ v
        return solve_triangular(self.lower, v, lower=True, check_finite=False)

    def other_half(self, u: np.ndarray) -> np.ndarray:
        """F times (r,) or (r, m)."""
        if self.root is not None:
            return self.root @ u
        return solve_triangular(self.lower, u, lower=True, trans="T", check_finite=False)

    def solve(self, v: np.ndarray) -> np.ndarray:
        """H⁻¹ times (p,) or (p, m)."""
        half = self.half(v)
        return self.other_half(half if self.signs is None else (half.T * self.signs).T)


@dataclass(frozen=True, eq=False, repr=False)
class Response:
    """S = Rᵀ J H⁻¹ Jᵀ R.

    Attributes
    ----------
    inverse : Inverse
        Of H.
    factor : (N·K, r) array
        RᵀJF, in the metric of the loss.
    dropped : float
        Share of ‖RᵀJ‖² in the directions that count as singular: 0 if the outputs do not move along them.
    """

    inverse: Inverse
    factor: np.ndarray
    dropped: float

    @classmethod
    def of(cls, scaled: np.ndarray, hessian: np.ndarray) -> Response:
        """From RᵀJ (N·K, p) and H (p, p).

        >>> Response.of(np.eye(2), np.diag([2.0, 4.0])).diagonal.round(9).tolist()
        [0.5, 0.25]
        """
        inverse = Inverse.of(hessian)
        lost = np.square(scaled @ inverse.null).sum() / max(np.vdot(scaled, scaled), 1e-300) if inverse.null.size else 0
        return cls(inverse, inverse.half(scaled.T).T, float(lost))

    @property
    def signed(self) -> np.ndarray:
        """(N·K, r) the factor with the signs of H's eigenvalues: S is the factor times the transpose of this."""
        return self.factor if self.inverse.signs is None else self.factor * self.inverse.signs

    @cached_property
    def diagonal(self) -> np.ndarray:
        """(N·K,) diagonal of S."""
        return np.einsum("ij,ij->i", self.factor, self.signed)

    @property
    def spectrum(self) -> np.ndarray:
        """(r,) eigenvalues of S that are not 0, of a positive definite H."""
        return np.linalg.eigvalsh(self.factor.T @ self.factor)

    def blocks(self, shape: tuple[int, int]) -> np.ndarray:
        """(N, K, K) blocks of S that belong to one example each."""
        return self.factor.reshape(*shape, -1) @ self.signed.reshape(*shape, -1).transpose(0, 2, 1)

    def along(self, columns: np.ndarray) -> np.ndarray:
        """(m,) zᵀSz of columns (N·K, m)."""
        return ((columns.T @ self.factor) * (columns.T @ self.signed)).sum(axis=1)

    def solve(self, gradients: np.ndarray) -> np.ndarray:
        """(p, m) H⁻¹ times (p, m)."""
        return self.inverse.solve(gradients)
