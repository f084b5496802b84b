"""The loss of a stationary process on the manifold of tensor trains, with its Hessian: no n × n matrix.

The covariance Σ of n successive samples is Toeplitz. It is embedded in a circulant of at least twice the
size, whose transform is stored, and applied in O(n log n); conjugate gradients, preconditioned by the circulant nearest
to Σ, give the optimal predictor, Σ A* = (c_1, …, c_n).

**The Riemannian Hessian.** With A(x) any second-order retraction of the tangent vector T x, and G = Σ(A − A*),

    loss = loss₀ + 2 xᵀ TᵀG + xᵀ (TᵀΣT + C) x + O(x³),

where C is due to the manifold's curvature: a pair of layers l < m that move together adds the product of both
changes, and C is its contraction with the part of G that is normal to the manifold. Change of layer l: x_l M_l⁻¹, where
A = U_l M_l V_lᵀ at the bond above it, so that small singular values of a bond mean strong curvature.

**Σ by levels.** Below layer l a Toeplitz matrix appears only between the frames U_{l−1} on both sides. The result
is block Toeplitz, n / Π_{k<l} n_k blocks of p_{l−1} × p_{l−1} with offsets k:

    K_l(k) = Σ_{t,t'} U_l[t]ᵀ K_{l−1}(n_l k + t − t') U_l[t'],      K_0(k) = c_k.

Every level halves the number of offsets (for n_l = 2), so that TᵀΣT takes the work of O(n c²) transforms instead of the
κ transforms of full length that a product ΣT needs. Sources: the second fundamental form follows Holtz, Rohwedder &
Schneider (2012), section 3, and Kressner, Steinlechner & Vandereycken (2016), section 3; the levels are our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.sparse.linalg import LinearOperator, cg

from capcore.capacity.tangent_space import TangentSpace, _unfold
from capcore.checks.arguments import moderate, positive_integer
from capcore.processes import Process
from capcore.processes.base import ADVICE
from capcore.processes.kernels import check_process

SINGULAR = "autocovariance: numerically singular or not positive definite: found "
TRUSTED_RESIDUAL = 1e-10  # largest residual of a predictor that is accepted, relative to ‖(c_1, …, c_n)‖
ROUNDS = 4  # restarts of conjugate gradients from the true residual


@dataclass(frozen=True, eq=False, repr=False)
class ToeplitzProblem:
    """Minimise (A − A*)ᵀ Σ (A − A*), with Σ and A* of a stationary process.

    Attributes
    ----------
    autocovariance : (n,) array
        c_0 … c_{n−1}, the first column of Σ.
    target : (n,) array
        A*.
    variance : float
        v* = c_0 − A*·(c_1, …, c_n), the least possible prediction variance.
    accuracy : float
        Estimated relative error of A* due to rounding of the autocovariances: eps times the condition number of the
        nearest circulant, but at least the residual over its least eigenvalue.

    Examples
    --------
    >>> from capcore.processes import AR1
    >>> bool(np.allclose(ToeplitzProblem.of(AR1(0.5), 4).target, [0.5, 0, 0, 0]))
    True
    """

    autocovariance: np.ndarray
    target: np.ndarray
    variance: float
    accuracy: float
    _symbol: np.ndarray

    @classmethod
    def of(cls, process: Process, n: int) -> ToeplitzProblem:
        """The problem of predicting ``process`` from its last ``n`` values.

        Raises ``ValueError`` if the covariance is numerically singular or not positive definite, as far as
        conjugate gradients can tell, if its variance is beyond 1e±100, and if the process has several components per
        position.
        """
        c = check_process(process, 1).autocovariance(positive_integer(n, "n") + 1)
        if c[0] > 0:
            moderate(c[0], "process", 1e100)
        symbol, nearest = circulant_symbol(c[:n]), nearest_circulant(c[:n])
        target, residual = solve_toeplitz_cg(symbol, nearest, c[1:])
        error = residual * float(np.linalg.norm(c[1:])) / float(nearest.min())
        rounding = float(np.finfo(float).eps * nearest.max() / nearest.min())
        accuracy = max(error / (float(np.linalg.norm(target)) or 1.0), rounding)
        return cls(c[:n], target, float(c[0] - target @ c[1:]), accuracy, symbol)

    @property
    def n_inputs(self) -> int:
        """Number n of inputs."""
        return self.target.size

    def apply(self, values: np.ndarray) -> np.ndarray:
        """(n,) Σ v, for ``values`` (n,), in O(n log n)."""
        return toeplitz_product(self._symbol, values)


def circulant_symbol(column: np.ndarray) -> np.ndarray:
    """Transform (M/2 + 1,), real, of the circulant of a fast length M ≥ 2n that embeds a Toeplitz column (n,)."""
    between = 2 * (next_fast_len(column.size, real=True) - column.size) + 1
    return np.ascontiguousarray(rfft(np.concatenate([column, np.zeros(between), column[:0:-1]])).real)


def nearest_circulant(column: np.ndarray) -> np.ndarray:
    """Eigenvalues (n/2 + 1,) of the circulant nearest to the Toeplitz ``column`` (n,) in the Frobenius norm.

    Positive whenever the Toeplitz matrix is positive definite: raises ``ValueError`` otherwise. Source: T. Chan (1988).
    """
    n = column.size
    weights = np.arange(n) / n
    eigenvalues = rfft((1 - weights) * column + weights * np.concatenate([[0.0], column[:0:-1]])).real
    if not eigenvalues.min() > 0:
        raise ValueError(f"{SINGULAR}{eigenvalues.min():.1e} among the values of its averaged spectrum. {ADVICE}")
    return eigenvalues


def solve_toeplitz_cg(symbol: np.ndarray, nearest: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, float]:
    """Solution (n,) of Σ v = ``right``, and its relative residual.

    Conjugate gradients restart from the true residual until it no longer falls.

    Parameters
    ----------
    symbol : array
        From :func:`circulant_symbol`, to apply Σ.
    nearest : array
        From :func:`nearest_circulant`, the preconditioner.
    right : (n,) array
        The right-hand side.

    Raises
    ------
    ValueError
        If the residual is larger than ``TRUSTED_RESIDUAL``.
    """
    n = right.size
    scale = float(np.linalg.norm(right))
    if not scale > 0:
        return np.zeros(n), 0.0
    covariance = LinearOperator((n, n), matvec=lambda v: toeplitz_product(symbol, v))
    preconditioner = LinearOperator((n, n), matvec=lambda v: irfft(rfft(v) / nearest, n))
    solution, rest = np.zeros(n), right
    for _ in range(ROUNDS):
        step, _ = cg(covariance, rest, rtol=1e-14, atol=1e-17 * scale, maxiter=200, M=preconditioner)
        trial = solution + step
        new = right - toeplitz_product(symbol, trial)
        if not np.linalg.norm(new) < np.linalg.norm(rest):
            break
        solution, rest = trial, new
    residual = float(np.linalg.norm(rest)) / scale
    if not residual < TRUSTED_RESIDUAL:
        raise ValueError(f"{SINGULAR}a relative residual of {residual:.1e} for the optimal predictor. {ADVICE}")
    return solution, residual


def toeplitz_product(symbol: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(…, n) Σ v of each row of ``values`` (…, n), with the symbol from :func:`circulant_symbol`."""
    length = 2 * (len(symbol) - 1)
    return irfft(rfft(values, length) * symbol, length)[..., : values.shape[-1]]


def tangent_hessian(
    space: TangentSpace,
    autocovariance: np.ndarray,
    normal: np.ndarray,
    bonds: Sequence[np.ndarray],
) -> np.ndarray:
    """(κ, κ) matrix TᵀΣT, plus the curvature C, which is 0 where ``normal`` is.

    Parameters
    ----------
    space : TangentSpace
        T, with one component per position.
    autocovariance : (n,) array
        First column of Σ.
    normal : (n,) array
        Half the gradient of the loss, Σ(A − A*), minus its tangent part.
    bonds : list of (p_l, s_l) arrays
        The invertible matrices M_l of :func:`~capcore.large.retraction.bond_matrices`.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> arch = Hierarchical(channels=2, n_layers=4)
    >>> space = TangentSpace.of_kernels(arch.kernels(arch.init(np.random.default_rng(0))))
    >>> bool(np.allclose(tangent_hessian(space, np.eye(16)[0], np.zeros(16), [np.eye(2)] * 3), np.eye(space.dimension)))
    True
    """
    result = np.zeros((space.dimension, space.dimension))
    blocks = space.blocks
    kernel = np.concatenate([autocovariance[:0:-1], autocovariance])[:, None, None]
    rest = normal.reshape(-1, 1)
    for l, complement in enumerate(space.complements):
        width, taps, q = complement.shape
        upper = space.upper[l]
        s, last = upper.shape[1], l == space.n_layers - 1
        kernel = _interleave(kernel, taps)  # (offsets, taps · width, taps · width)
        free = _unfold(complement)
        frame = free[:, :0] if last else _unfold(space.below[l])
        if q and s:
            moved = _toeplitz_by_blocks(np.hstack([free, frame]).T @ (kernel @ free), upper)  # (upper, q + p, s·q)
            own = np.tensordot(upper, moved[:, :q], (0, 0)).reshape(s * q, s * q)
            result[blocks[l], blocks[l]] = 0.5 * (own + own.T)
            if not last:
                pulled = rest.reshape(len(upper), taps * width) @ free  # (upper, q)
                inverse = np.linalg.inv(bonds[l])  # (s, p)
                curved = np.einsum("uq,sp->upsq", pulled, inverse)
                coarse = moved[:, q:] + curved.reshape(len(upper), -1, s * q)
                below = space.project_above(l + 1, coarse)
                result[blocks[l + 1].start :, blocks[l]] = below
                result[blocks[l], blocks[l + 1].start :] = below.T
        if not last:
            kernel = frame.T @ (kernel @ frame)
            rest = rest.reshape(len(upper), taps * width) @ frame
    return result


def _interleave(kernel: np.ndarray, taps: int) -> np.ndarray:
    """Offsets −(N−1) … N−1 of blocks (p, p) → offsets −(N/taps − 1) … of blocks (taps · p, taps · p)."""
    p = kernel.shape[1]
    offsets = (len(kernel) + 1) // taps - 1  # 2 N/taps − 1
    raw = np.empty((offsets, taps, p, taps, p))
    for a, b in np.ndindex(taps, taps):
        raw[:, a, :, b] = kernel[taps - 1 + a - b :: taps][:offsets]
    return raw.reshape(offsets, taps * p, taps * p)


def _toeplitz_by_blocks(kernel: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """(N, w, s · q): the block Toeplitz matrix with ``kernel`` (2N − 1, w, q) times ``frame`` (N, s), for all q."""
    n, s = frame.shape
    _, w, q = kernel.shape
    length = next_fast_len(2 * n - 1, real=True)
    turned = np.zeros((length, w, q))
    turned[:n] = kernel[n - 1 :]
    turned[length - n + 1 :] = kernel[: n - 1]
    spectrum = rfft(turned, axis=0)
    result = np.empty((n, w, s, q))
    for column, values in enumerate(rfft(frame, length, axis=0).T):  # one at a time: the transforms are the memory
        result[:, :, column] = irfft(spectrum * values[:, None, None], length, axis=0)[:n]
    return result.reshape(n, w, s * q)
