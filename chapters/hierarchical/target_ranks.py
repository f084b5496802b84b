"""How many channels a target needs: the singular values of its unfoldings.

Split after layer l, a hierarchical model with disjoint supports is a matrix: recent digits of the lag against
older digits. c_l channels give it rank at most c_l, so the singular values beyond c_l are what they miss.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import svd, svdvals

from capcore.validation import finite_array


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
