"""What a hierarchical model with disjoint supports can be, as a tensor: products for one channel, ranks for several.

A lag τ is written in mixed radix, τ = Σ t_l d_l with digits 0 ≤ t_l < n_l. With one channel the coefficient is
A_τ = Π W_l[t_l] (paper 1, Eq. 20): a rank-one tensor, so that all about it has a closed form. Split after layer l, the
model is a matrix: recent digits against older ones. c_l channels give it rank at most c_l, so the singular values of
the target's unfolding beyond c_l are what they miss.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import svd, svdvals

from capcore.validation import finite_array, positive_integer


def disjoint_dilations(kernel_sizes: Sequence[int]) -> np.ndarray:
    """(L,) dilations d_1 = 1, d_{l+1} = n_l d_l.

    >>> disjoint_dilations([3, 2, 4]).tolist()
    [1, 3, 6]
    """
    sizes = [positive_integer(size, "kernel_sizes") for size in kernel_sizes]
    return np.cumprod([1, *sizes[:-1]])


def digits(kernel_sizes: Sequence[int]) -> np.ndarray:
    """(n, L) digits of the lags 0 … n − 1: which tap of each layer reaches that lag; layer 1 first.

    This is the index of paper 1, Eq. 20, taken modulo n_l, with the lag for n − i.

    >>> digits([2, 2])[3].tolist(), digits([2, 2])[2].tolist()
    ([1, 1], [0, 1])
    """
    lags = np.arange(np.prod(kernel_sizes))
    return lags[:, None] // disjoint_dilations(kernel_sizes) % np.array(kernel_sizes)


def printed_indices(kernel_sizes: Sequence[int]) -> np.ndarray:
    """(n, L) indices as Eq. 20 prints them, modulo n_l·d_l; most lie outside a kernel of n_l taps.

    >>> int(printed_indices([2, 2, 2]).max())
    3
    """
    lags = np.arange(np.prod(kernel_sizes))
    dilations = disjoint_dilations(kernel_sizes)
    return lags[:, None] // dilations % (np.array(kernel_sizes) * dilations)


def products(weights: Sequence[np.ndarray]) -> np.ndarray:
    """(n,) coefficients Π W_l[t_l] over the digits of each lag. ``weights`` : L arrays (n_l,), layer 1 first.

    >>> products([np.array([1.0, 2.0]), np.array([1.0, 3.0])]).tolist()
    [1.0, 2.0, 3.0, 6.0]
    """
    chosen = digits([w.size for w in weights])
    return np.prod([w[chosen[:, l]] for l, w in enumerate(weights)], axis=0)


def impulse_response(weights: Sequence[np.ndarray], dilations: Sequence[int]) -> np.ndarray:
    """(n,) response to a unit impulse of one-channel convolutions applied one after another.

    Each kernel is spread out by its dilation, with zeros between the taps, and convolved with what came before.

    >>> impulse_response([np.array([1.0, 2.0]), np.array([1.0, 3.0])], [1, 2]).tolist()
    [1.0, 2.0, 3.0, 6.0]
    """
    response = np.ones(1)
    for w, dilation in zip(weights, dilations, strict=True):
        spread = np.zeros((w.size - 1) * dilation + 1)
        spread[::dilation] = w
        response = np.convolve(response, spread)
    return response


def product_leverage(weights: Sequence[np.ndarray]) -> np.ndarray:
    """(n,) leverage of each lag in the model's own tangent space, the columns of J = ∂A/∂W, in closed form.

    With p_l(t) = W_l[t]²/‖W_l‖², the tangent space is spanned by A/‖A‖ and, for every layer, by products in which
    that layer's factor is orthogonal to W_l. These are mutually orthogonal, hence

        leverage(τ) = Π_l p_l(t_l) + Σ_l (1 − p_l(t_l)) Π_{k≠l} p_k(t_k).

    Where tap 0 dominates in every layer, a lag with no other digit has leverage close to 1, one with a single
    other digit has nearly 1 too, and every further digit costs a factor of the order of 1 − p.
    It sums to κ = Σ(n_l − 1) + 1.

    >>> values = product_leverage([np.array([1.0, 0.5])] * 3)
    >>> values.round(2).tolist(), round(float(values.sum()), 9)
    ([0.9, 0.7, 0.7, 0.3, 0.7, 0.3, 0.3, 0.1], 4.0)
    """
    sizes = [w.size for w in weights]
    chosen = digits(sizes)
    shares = np.array([(np.square(w) / np.sum(np.square(w)))[chosen[:, l]] for l, w in enumerate(weights)])
    others = np.array([np.prod(np.delete(shares, l, axis=0), axis=0) for l in range(len(sizes))])
    return np.prod(shares, axis=0) + np.sum((1 - shares) * others, axis=0)


def digit_counts(kernel_sizes: Sequence[int]) -> np.ndarray:
    """(n,) number of digits of each lag that are not zero: how many layers must look back to reach it.

    >>> digit_counts([2, 2, 2]).tolist()
    [0, 1, 1, 2, 1, 2, 2, 3]
    """
    return np.count_nonzero(digits(kernel_sizes), axis=1)


def unfolding_singular_values(
    coefficients: object, kernel_sizes: Sequence[int], layer: int | None = None
) -> np.ndarray:
    """Singular values, descending, of the coefficients as a matrix: lags split between ``layer`` and the next one.

    Parameters
    ----------
    coefficients : (Π n_l,) lag 0 first. kernel_sizes : n_1, …, n_L. layer : 1 … L − 1, by default the middle one.

    >>> (unfolding_singular_values(0.5 ** np.arange(8), [2, 2, 2]) > 1e-12).tolist()  # a geometric target: one channel
    [True, False]
    """
    target = finite_array(coefficients, "coefficients", 1)
    sizes = list(kernel_sizes)
    if target.size != np.prod(sizes):
        raise ValueError(f"coefficients: found {target.size}, expected {np.prod(sizes)} for kernel sizes {sizes}.")
    split = len(sizes) // 2 if layer is None else layer
    return svdvals(target.reshape(-1, int(np.prod(sizes[:split], dtype=int))))


def cut_leverage(coefficients: object, kernel_sizes: Sequence[int], rank: int, layer: int | None = None) -> np.ndarray:
    """(n,) leverage of each lag in the tangent space of all matrices of this rank, cut at ``layer``, in closed form.

    With u_i and v_j the leverages of older digits i and recent digits j in the leading ``rank`` singular vectors, it
    is 1 − (1 − u_i)(1 − v_j): what cannot be moved is (older null space) × (recent null space). It is the leverage
    of ∂A/∂W where that cut is the only one that restricts the model.

    >>> cut_leverage([1.0, 0.0, 0.0, 0.0], [2, 2], rank=1).tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    target = finite_array(coefficients, "coefficients", 1)
    split = len(kernel_sizes) // 2 if layer is None else layer
    older, _, recent = svd(target.reshape(-1, int(np.prod(kernel_sizes[:split], dtype=int))), full_matrices=False)
    u, v = np.square(older[:, :rank]).sum(axis=1), np.square(recent[:rank]).sum(axis=0)
    return 1 - np.outer(1 - u, 1 - v).ravel()
