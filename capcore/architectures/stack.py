"""Composition of a stack of dilated convolutions, over the reals or over the integers modulo a prime.

The same code serves the floating-point Jacobian and the exact one, of integer kernels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import gcd

import numpy as np

from capcore.architectures.columns import compress_columns, equilibrate
from capcore.architectures.finite_field import PRIME


@dataclass(frozen=True)
class Stack:
    """The compositions of the layers below and above every layer of a stack.

    Attributes
    ----------
    kernels : list of (in, taps, out) arrays
        W⁽¹⁾ … W⁽ᴸ⁾. Of whole numbers (int64) every result is reduced modulo the prime.
    dilations : list of int
        d_1 … d_L.
    """

    kernels: list[np.ndarray]
    dilations: Sequence[int]

    @cached_property
    def prefixes(self) -> list[np.ndarray]:
        """P_0 … P_L: the composition of the lowest l layers, (extent, input_dim, c_l)."""
        nothing = np.eye(len(self.kernels[0]), dtype=self.kernels[0].dtype)[None]
        layers = zip(self.kernels, self.dilations, strict=True)
        return list(accumulate(layers, lambda below, layer: convolve(below, layer[0], layer[1]), initial=nothing))

    @cached_property
    def suffixes(self) -> list[tuple[np.ndarray, int]]:
        """For each layer, the composition of all layers above it, (extent, c_l), and its stride in lags.

        Entry u belongs to lag u · stride, where the stride is the greatest common divisor of the dilations
        above: so for disjoint supports no zeros are stored.
        """
        above = np.ones((1, 1, 1), dtype=self.kernels[0].dtype)
        stride = 0
        suffixes = [(above[:, 0], 1)]
        for kernel, dilation in zip(self.kernels[:0:-1], self.dilations[:0:-1], strict=True):
            finer = gcd(stride, dilation)
            repeat = stride // finer if stride else 1
            spread = np.zeros(((len(above) - 1) * repeat + 1, 1, above.shape[2]), dtype=above.dtype)
            spread[::repeat] = above
            above, stride = convolve(spread, kernel.transpose(2, 1, 0), dilation // finer), finer
            suffixes.append((above[:, 0], stride))
        return suffixes[::-1]


def _reduced(a: np.ndarray) -> np.ndarray:
    return a % PRIME if a.dtype.kind == "i" else a


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product of arrays (…, k) and (k, m), of whole numbers modulo the prime: without overflow in int64.

    >>> matmul(np.array([[PRIME - 1]]), np.array([[3]])).tolist() == [[PRIME - 3]]
    True
    """
    if a.dtype.kind != "i":
        return a @ b
    return _reduced(sum(a[..., i, None] * row % PRIME for i, row in enumerate(b)))


def convolve(below: np.ndarray, kernel: np.ndarray, dilation: int) -> np.ndarray:
    """(extent, rows, in) composed with a kernel (in, taps, out) → (longer extent, rows, out)."""
    extent, rows, _ = below.shape
    depth, taps, width = kernel.shape
    if dilation == extent:  # no overlaps: one product, and the taps become digits of the lag
        product = matmul(below.reshape(-1, depth), kernel.reshape(depth, -1))
        return product.reshape(extent, rows, taps, width).transpose(2, 0, 1, 3).reshape(-1, rows, width)
    result = np.zeros((extent + (taps - 1) * dilation, rows, width), dtype=below.dtype)
    for tap in range(taps):
        result[tap * dilation : tap * dilation + extent] += matmul(below, kernel[:, tap])
    return _reduced(result)


def stack_jacobian(stack: Stack) -> np.ndarray:
    """(n_inputs · input_dim, n_params) derivative of the coefficients with respect to the kernels' entries.

    The model is linear in each layer, so the derivative with respect to the weight (i, t, k) of a layer is the
    convolution of channel i of everything below with channel k of everything above, shifted by t dilations.
    """
    n_inputs, input_dim, _ = stack.prefixes[-1].shape
    blocks = []
    for l, kernel in enumerate(stack.kernels):
        products = _convolve_pairs(stack.prefixes[l], *stack.suffixes[l])
        block = np.zeros((n_inputs, input_dim, *kernel.shape), dtype=kernel.dtype)
        for tap in range(kernel.shape[1]):
            start = tap * stack.dilations[l]
            block[start : start + len(products), :, :, tap] = products
        blocks.append(block.reshape(n_inputs * input_dim, -1))
    return np.hstack(blocks)


def _convolve_pairs(below: np.ndarray, above: np.ndarray, stride: int) -> np.ndarray:
    """(extent, rows, a, b): every column of ``below`` (m, rows, a) convolved with every column of ``above`` (k, b).

    Entry u of ``above`` belongs to lag u · stride.

    >>> _convolve_pairs(np.array([[[1.0]], [[2.0]]]), np.array([[1.0], [1.0]]), 1).ravel().tolist()
    [1.0, 3.0, 2.0]
    """
    extent, steps = len(below), len(above)
    shape = (extent + (steps - 1) * stride, *below.shape[1:], above.shape[1])
    result = np.zeros(shape, dtype=below.dtype)
    for u in range(steps):
        result[u * stride : u * stride + extent] += _reduced(below[..., None] * above[u])
    return _reduced(result)


def stack_pullback(stack: Stack, vector: np.ndarray) -> list[np.ndarray]:
    """Jᵀv as one array per layer, in the kernels' shapes, for v (n_inputs · input_dim,)."""
    vector = np.ascontiguousarray(vector, dtype=float)
    input_dim, item = stack.prefixes[0].shape[1], vector.itemsize
    parts = []
    for l, kernel in enumerate(stack.kernels):
        below, (above, stride) = stack.prefixes[l], stack.suffixes[l]
        shape = (kernel.shape[1], below.shape[0], input_dim, above.shape[0])
        steps = (stack.dilations[l] * input_dim * item, input_dim * item, item, stride * input_dim * item)
        window = np.ndarray(shape, buffer=vector, strides=steps)  # [t, s, i, u] = v[t·dilation + s + u·stride, i]
        pulled = (window @ above).reshape(kernel.shape[1], -1, kernel.shape[2])
        parts.append((below.reshape(-1, kernel.shape[0]).T @ pulled).transpose(1, 0, 2))
    return parts


def stack_tangents(stack: Stack) -> list[np.ndarray]:
    """For each layer of a stack with disjoint supports, at most n columns that span its part of the Jacobian.

    That part is a Kronecker product, (layers above) ⊗ I ⊗ (layers below), so its factors are scaled and
    compressed before they are multiplied out: the cost does not grow with the parameter count.
    """
    tangents = []
    for l, kernel in enumerate(stack.kernels):
        below = stack.prefixes[l].reshape(-1, kernel.shape[0])
        above = stack.suffixes[l][0]
        thin_below, thin_above = (compress_columns(equilibrate(side)) for side in (below, above))
        tangents.append(np.kron(thin_above, np.kron(np.eye(kernel.shape[1]), thin_below)))
    return tangents
