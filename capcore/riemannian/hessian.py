"""The Riemannian Hessian of the loss on the manifold of tensor trains, by levels.

With A(x) any second-order retraction of the tangent vector T x, and G = Σ(A − A*),

    loss = loss₀ + 2 xᵀ TᵀG + xᵀ (TᵀΣT + C) x + O(x³),

where C holds the manifold's curvature: a pair of layers l < m that move together adds the product of both
changes, and C is its contraction with the part of G that is normal to the manifold. Change of layer l: x_l M_l⁻¹, where
A = U_l M_l V_lᵀ at the bond above it, so that small singular values of a bond mean strong curvature.

**Σ by levels.** Below layer l a Toeplitz matrix is seen through the frames U_{l−1} on both sides only. What is
left is block Toeplitz, n / Π_{k<l} n_k blocks of p_{l−1} × p_{l−1} with offsets k:

    K_l(k) = Σ_{t,t'} U_l[t]ᵀ K_{l−1}(n_l k + t − t') U_l[t'],      K_0(k) = c_k.

Every level halves the number of offsets (for n_l = 2), so that TᵀΣT takes O(n c²) transforms' work in place of the κ
transforms of full length that a product ΣT needs. Sources: the second fundamental form follows Holtz, Rohwedder &
Schneider (2012), section 3, and Kressner, Steinlechner & Vandereycken (2016), section 3; the levels are our own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from capcore.tangent_space import TangentSpace


def tangent_hessian(
    space: TangentSpace,
    autocovariance: np.ndarray,
    normal: np.ndarray | None = None,
    bonds: Sequence[np.ndarray] = (),
) -> np.ndarray:
    """(κ, κ) matrix TᵀΣT, plus the curvature C where ``normal`` is given.

    Parameters
    ----------
    space : the tangent space T, input_dim 1. autocovariance : (n,) first column of Σ.
    normal : (n,) half the loss's gradient Σ(A − A*) less its tangent part.
    bonds : the matrices M_l (p_l, s_l) of :func:`~capcore.riemannian.retraction.bond_matrices`, invertible.

    >>> from capcore.architectures import Hierarchical
    >>> arch = Hierarchical(channels=2, n_layers=4)
    >>> space = TangentSpace.of_kernels(arch.kernels(arch.init(np.random.default_rng(0))))
    >>> bool(np.allclose(tangent_hessian(space, np.eye(16)[0]), np.eye(space.dimension)))
    True
    """
    result = np.zeros((space.dimension, space.dimension))
    blocks = space.blocks
    kernel = np.concatenate([autocovariance[:0:-1], autocovariance])[:, None, None]
    rest = None if normal is None else normal.reshape(-1, 1)
    for l, complement in enumerate(space.complements):
        width, taps, q = complement.shape
        upper = space.upper[l]
        s, last = upper.shape[1], l == space.n_layers - 1
        kernel = _interleave(kernel, taps)  # (offsets, taps · width, taps · width)
        free = complement.transpose(1, 0, 2).reshape(taps * width, q)
        frame = free[:, :0] if last else space.below[l].transpose(1, 0, 2).reshape(taps * width, -1)
        if q and s:
            moved = _toeplitz_by_blocks(np.hstack([free, frame]).T @ (kernel @ free), upper)  # (upper, q + p, s·q)
            own = np.tensordot(upper, moved[:, :q], (0, 0)).reshape(s * q, s * q)
            result[blocks[l], blocks[l]] = 0.5 * (own + own.T)
            if not last:
                coarse = moved[:, q:]
                if rest is not None:
                    pulled = rest.reshape(len(upper), taps * width) @ free  # (upper, q)
                    inverse = np.linalg.inv(bonds[l])  # (s, p)
                    coarse = coarse + np.einsum("uq,sp->upsq", pulled, inverse).reshape(coarse.shape)
                below = _project_above(space, l + 1, coarse)
                result[blocks[l + 1].start :, blocks[l]] = below
                result[blocks[l], blocks[l + 1].start :] = below.T
        if not last:
            kernel = frame.T @ (kernel @ frame)
            if rest is not None:
                rest = rest.reshape(len(upper), taps * width) @ frame
    return result


def _interleave(kernel: np.ndarray, taps: int) -> np.ndarray:
    """Offsets −(N−1) … N−1 of blocks (p, p) → offsets −(N/taps − 1) … of blocks (taps · p, taps · p)."""
    p = kernel.shape[1]
    offsets = (len(kernel) + 1) // taps - 1  # 2 N/taps − 1
    raw = np.empty((offsets, taps, p, taps, p))
    for a in range(taps):
        for b in range(taps):
            start = taps - 1 + a - b
            raw[:, a, :, b] = kernel[start : start + taps * (offsets - 1) + 1 : taps]
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


def _project_above(space: TangentSpace, first: int, rest: np.ndarray) -> np.ndarray:
    """Coordinates (…, m) in the blocks of the layers after ``first`` (counted from 0) of U_first ⊗ I times ``rest``.

    ``rest`` : (positions above, p_first, m). For ``first`` = 0 this is ``space.project``.
    """
    many, parts = rest.shape[2], []
    for l in range(first, space.n_layers):
        core = space.complements[l]
        p, taps, q = core.shape
        rest = rest.reshape(-1, taps * p, many)
        inner = core.transpose(1, 0, 2).reshape(taps * p, q).T @ rest  # (upper, q, m)
        block = space.upper[l].T @ inner.reshape(len(inner), q * many)
        parts.append(block.reshape(-1, many))
        if l < space.n_layers - 1:
            rest = space.below[l].transpose(1, 0, 2).reshape(taps * p, -1).T @ rest
    return np.concatenate(parts)
