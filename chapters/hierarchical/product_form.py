"""One channel: every coefficient is a product of one weight per layer (paper 1, Eq. 20).

With disjoint supports a lag τ is written in mixed radix, τ = Σ t_l d_l with digits 0 ≤ t_l < n_l, and the
coefficient is A_τ = Π W_l[t_l]. Such a vector is a rank-one tensor, so that all about it has a closed form.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from capcore.validation import positive_integer


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
