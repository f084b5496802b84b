"""The Jacobian as two products, J V and Jᵀ U, without its entries where a model allows that.

For convolution stacks J V is one pass through the layers: it carries a derivative upwards beside the composition, at a
cost of O(n · L · c²) per column, whatever the dilations are. For a JAX function, JAX computes forward and reverse mode.
All other models fall back on the dense Jacobian.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from capcore.architectures.base import Architecture, Product
from capcore.architectures.derivatives import flattened, in_double
from capcore.architectures.function import Function
from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.stack import Stack, convolve
from capcore.checks.arguments import library


def jacobian_products(model: Architecture, params: np.ndarray) -> tuple[Product, Product]:
    """V (n_params, m) → J V (n_inputs · input_dim, m), and U → Jᵀ U, by the cheapest route.

    >>> from capcore.architectures import Hierarchical
    >>> forward, backward = jacobian_products(Hierarchical(1, 2), np.array([1.0, 2.0, 3.0, 4.0]))
    >>> forward(np.eye(4)[:, :1]).ravel().tolist(), backward(np.eye(4)[:, 3:]).ravel().tolist()
    ([3.0, 0.0, 4.0, 0.0], [0.0, 4.0, 0.0, 2.0])
    """
    if isinstance(model, Hierarchical):
        stack, pullback = Stack(model.kernels(params), model.dilations), model.linearise(params)[1]
        return lambda v: stack_forward(stack, v), lambda u: np.transpose([pullback(column) for column in u.T])
    if isinstance(model, Function) and model.derivative == "jax":
        return _jax_products(model.function, params)
    jacobian = model.jacobian(params)
    return jacobian.__matmul__, jacobian.T.__matmul__


def stack_forward(stack: Stack, v: np.ndarray) -> np.ndarray:
    """(n_inputs · input_dim, m) product J V for V (n_params, m): the composition's derivative, layer by layer."""
    many, start = v.shape[1], 0
    input_dim = stack.prefixes[0].shape[1]
    moved = np.zeros((1, input_dim * many, input_dim))
    for below, kernel, dilation in zip(stack.prefixes[:-1], stack.kernels, stack.dilations, strict=True):
        depth, taps, wide = kernel.shape
        extent = len(below)
        step = v[start : start + kernel.size].reshape(depth, taps, wide, many)
        start += kernel.size
        moved = convolve(moved, kernel, dilation)
        flat = below.reshape(-1, depth)
        for tap in range(taps):
            change = flat @ step[:, tap].transpose(0, 2, 1).reshape(depth, many * wide)
            moved[tap * dilation : tap * dilation + extent] += change.reshape(extent, input_dim * many, wide)
    return moved.reshape(-1, many)


def _jax_products(function: Callable[..., Any], params: np.ndarray) -> tuple[Product, Product]:
    """Forward and reverse mode of a function that JAX can differentiate, a block of columns at a time."""
    jax = library("jax")

    with jax.enable_x64(True):
        point = jax.numpy.asarray(params, dtype=float)
        forward, backward = jax.linearize(flattened(function), point)[1], jax.vjp(flattened(function), point)[1]
    return in_double(jax.vmap(forward, 1, 1)), in_double(jax.vmap(lambda u: backward(u)[0], 1, 1))
