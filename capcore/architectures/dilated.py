"""Stacks whose dilations overlap: a faster Jacobian, and layers of even scale (paper 1, Appendix C).

A stack of dilated blocks is a :class:`~capcore.architectures.hierarchical.Hierarchical` model that is no tensor train,
so neither the tensor-train start nor the tensor-train rebalancing applies. What remains is that the channels of a
hidden layer may be mixed by any invertible matrix and mixed back by the next layer: the coefficients stay, the scales
change.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.linalg import cholesky, solve, svd

from capcore.architectures.hierarchical import Hierarchical

RIDGE = 1e-12  # of the trace: keeps the Gram matrix of an idle channel invertible


class Dilated(Hierarchical):
    """A hierarchical model with any dilations; parameters as in
    :class:`~capcore.architectures.hierarchical.Hierarchical`.

    >>> arch = Dilated(channels=2, dilations=[1, 2, 1, 2])
    >>> arch.n_inputs, arch.n_params, arch.generic_capacity()
    (7, 24, 7)
    """

    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim, n_params) derivative J = ∂A/∂W, by one matrix product per layer.

        The derivative by the weight (i, t, k) of a layer is the convolution of what is below, channel i, with what is
        above, channel k, shifted by t dilations.
        """
        if self.input_dim > 1:
            return super().jacobian(params)
        stack = self._stack(params)
        blocks = []
        for l, kernel in enumerate(stack.kernels):
            above, stride = stack.suffixes[l]
            spread = np.zeros(((above.shape[0] - 1) * stride + 1, above.shape[1]))
            spread[::stride] = above
            products = _convolve_pairs(stack.prefixes[l][:, 0], spread)
            block = np.zeros((self.n_inputs, *kernel.shape))
            for tap in range(kernel.shape[1]):
                start = tap * self.dilations[l]
                block[start : start + len(products), :, tap] = products
            blocks.append(block.reshape(self.n_inputs, -1))
        return np.hstack(blocks)

    def rebalance(self, params: object, rng: np.random.Generator | None = None, sweeps: int = 20) -> np.ndarray:
        """(n_params,) parameters with the same coefficients, in which neighbouring layers carry equal scales.

        At every hidden layer the channels are mixed so that the Gram matrix of the weights that lead into them
        equals that of the weights that lead out, and is diagonal. ``rng`` is not used.
        """
        kernels = [kernel.copy() for kernel in self.kernels(params)]
        for _ in range(sweeps):
            for l in range(len(kernels) - 1):
                mix, unmix = _balancing(kernels[l], kernels[l + 1])
                kernels[l] = kernels[l] @ mix
                kernels[l + 1] = np.einsum("km,mto->kto", unmix, kernels[l + 1])
        return np.concatenate([kernel.reshape(-1) for kernel in kernels])


def _convolve_pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(extent, a, b) convolution of every column of ``first`` (m, a) with every column of ``second`` (k, b).

    >>> _convolve_pairs(np.array([[1.0], [2.0]]), np.array([[1.0], [1.0]]))[:, 0, 0].tolist()
    [1.0, 3.0, 2.0]
    """
    if len(first) > len(second):
        return _convolve_pairs(second, first).transpose(0, 2, 1)
    width = len(first)
    padded = np.pad(second, ((width - 1, width - 1), (0, 0)))
    windows = np.ascontiguousarray(sliding_window_view(padded, width, axis=0))  # (extent, b, width)
    return (windows @ first[::-1]).transpose(0, 2, 1)


def _balancing(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """M and M⁻¹ (c, c) such that the Gram matrices of lower·M and M⁻¹·upper are equal and diagonal."""
    c = lower.shape[2]
    flat_in, flat_out = lower.reshape(-1, c), upper.reshape(c, -1)
    into, out = flat_in.T @ flat_in, flat_out @ flat_out.T
    if not np.trace(into) > 0 or not np.trace(out) > 0:  # a layer of zeros: nothing to balance
        return np.eye(c), np.eye(c)
    roots = [cholesky(gram + RIDGE * np.trace(gram) * np.eye(c), lower=True) for gram in (into, out)]
    u, s, _ = svd(roots[0].T @ roots[1])
    mix = solve(roots[0].T, u) * np.sqrt(s)
    unmix = (u / np.sqrt(s)).T @ roots[0].T
    return mix, unmix
