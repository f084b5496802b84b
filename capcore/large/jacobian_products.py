"""The Jacobian, and the constraint matrix K̃ = ΣJD, as products.

The Jacobian is represented by two products, J V and Jᵀ U, without its entries. For convolution stacks each product is
one pass through the layers: it carries a derivative upwards beside the composition, or an error downwards, at a cost of
O(n · L · c²) per column, whatever the dilations are. For a JAX function, JAX computes forward and reverse mode. All
other models fall back on the dense Jacobian.

The columns of ΣJD have about unit length: an invertible matrix D on the right does not change the column space, and so
every capacity stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.architectures.base import Architecture
from capcore.architectures.frozen import Frozen
from capcore.architectures.function import Function
from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.stack import Stack, convolve
from capcore.checks.arguments import finite_array, library, plain_fields, positive_integer

BLOCK_ENTRIES = 2**22  # numbers that the scratch space of one block of columns may hold
EXACT_ENTRIES = 2**22  # largest Jacobian whose exact generic rank is computed without being asked for

Product = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class JacobianProducts:
    """J (n_inputs · input_dim, n_params), given by its products.

    Attributes
    ----------
    forward : callable
        V (n_params, m) → J V (n_inputs · input_dim, m).
    backward : callable
        U (n_inputs · input_dim, m) → Jᵀ U (n_params, m).
    n_inputs : int
        Number of input positions; rows are position-major, lag 0 first.
    n_params : int
        Number of parameters.
    input_dim : int
        Components per position.
    generic_total : int, optional
        Exact rank of J at almost all parameters, if it is known: an upper bound at any parameters.
    width : int
        Numbers of scratch space per row and column, which decide the size of the blocks of columns.

    Examples
    --------
    >>> J = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 1.0]])
    >>> products = JacobianProducts.dense(J)
    >>> products.forward(np.eye(2)[:, :1]).ravel().tolist()
    [1.0, 0.0, 1.0]
    """

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

    forward: Product
    backward: Product
    n_inputs: int
    n_params: int
    input_dim: int = 1
    generic_total: int | None = None
    width: int = 1

    def __post_init__(self) -> None:
        plain_fields(self)
        for name in ("n_inputs", "n_params", "input_dim", "width"):
            positive_integer(getattr(self, name), name)
        if self.n_inputs > 2**62:
            raise ValueError("n_inputs: found more than 2^62, expected fewer.")
        if self.generic_total is not None:
            positive_integer(self.generic_total, "generic_total", 0)
        for name in ("forward", "backward"):
            if not callable(getattr(self, name)):
                raise TypeError(f"{name}: found {type(getattr(self, name)).__name__}, expected a function of a block.")

    @property
    def n_rows(self) -> int:
        """Dimension n_inputs · input_dim of the input space."""
        return self.n_inputs * self.input_dim

    @classmethod
    def of(cls, model: Architecture | JacobianProducts, params: object = None) -> JacobianProducts:
        """The products of an architecture at parameters (n_params,), by the cheapest available route.

        ``generic_total`` is set if a closed form or exact arithmetic gives it: for models with up to four
        million entries in the Jacobian, and not for functions that are not polynomials.
        Raises ``ValueError`` if the parameters do not fit, ``TypeError`` if ``model`` is not an architecture.
        """
        if isinstance(model, JacobianProducts):
            if params is not None:
                raise ValueError(
                    "params: found values together with JacobianProducts, expected None: the products contain them."
                )
            return model
        if not isinstance(model, Architecture):
            raise TypeError(f"model: found {type(model).__name__}, expected an architecture or JacobianProducts.")
        values = finite_array(params, "params", 1)
        if values.size != model.n_params:
            raise ValueError(f"params: found {values.size} values, expected {model.n_params} (n_params) for {model!r}.")
        forward, backward, width = _route(model, values)
        sizes = (model.n_inputs, model.n_params, model.input_dim)
        return cls(forward, backward, *sizes, _exact_total(model), width)

    @classmethod
    def dense(cls, jacobian: object, input_dim: int = 1, generic_total: int | None = None) -> JacobianProducts:
        """The products of a matrix (n_inputs · input_dim, n_params)."""
        matrix = finite_array(jacobian, "jacobian", 2)
        n_inputs, rest = divmod(len(matrix), positive_integer(input_dim, "input_dim"))
        if rest:
            raise ValueError(f"jacobian: found {len(matrix)} rows, expected a multiple of input_dim {input_dim}.")
        return cls(matrix.__matmul__, matrix.T.__matmul__, n_inputs, matrix.shape[1], input_dim, generic_total)

    def blocks(self, count: int) -> Iterator[slice]:
        """Slices that cut ``count`` columns into blocks of moderate size."""
        size = min(64, max(1, BLOCK_ENTRIES // (self.n_rows * self.width)))
        for start in range(0, count, size):
            yield slice(start, min(start + size, count))


def _exact_total(model: Architecture) -> int | None:
    """Generic rank if it can be computed exactly and fast, otherwise None: a floating-point rank is not a bound."""
    if not getattr(model, "has_disjoint_supports", False):
        if model.n_inputs * model.input_dim * model.n_params > EXACT_ENTRIES:
            return None
        if not model.is_polynomial():
            return None
    return model.generic_capacity()


def _route(model: Architecture, params: np.ndarray) -> tuple[Product, Product, int]:
    """Forward and backward product, and the scratch width."""
    if isinstance(model, Frozen):
        forward, backward, width = _route(model.arch, model.embed(params))

        def free_forward(v: np.ndarray) -> np.ndarray:
            whole = np.zeros((model.arch.n_params, v.shape[1]))
            whole[model.free] = v
            return forward(whole)

        return free_forward, lambda u: backward(u)[model.free], width
    if isinstance(model, Hierarchical):
        stack = Stack(model.kernels(params), model.dilations)
        return partial(stack_forward, stack), partial(stack_backward, stack), max(k.shape[2] for k in stack.kernels)
    if isinstance(model, Function) and model.derivative == "jax":
        return *_jax_products(model.function, params), 8
    jacobian = model.jacobian(params)
    return jacobian.__matmul__, jacobian.T.__matmul__, 1


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


def stack_backward(stack: Stack, u: np.ndarray) -> np.ndarray:
    """(n_params, m) product Jᵀ U for U (n_inputs · input_dim, m): the transpose of :func:`stack_forward`."""
    many, input_dim = u.shape[1], stack.prefixes[0].shape[1]
    above: np.ndarray = np.ascontiguousarray(u, dtype=float).reshape(-1, input_dim * many, 1)
    parts = []
    for l in range(len(stack.kernels) - 1, -1, -1):
        below, kernel, dilation = stack.prefixes[l], stack.kernels[l], stack.dilations[l]
        depth, taps, wide = kernel.shape
        extent = len(below)
        part = np.empty((depth, taps, wide, many))
        carried = np.zeros((extent, input_dim * many, depth))
        for tap in range(taps):
            window = above[tap * dilation : tap * dilation + extent]
            pulled = below.reshape(-1, depth).T @ window.reshape(extent * input_dim, many * wide)
            part[:, tap] = pulled.reshape(depth, many, wide).transpose(0, 2, 1)
            if l:
                carried += window @ kernel[:, tap].T
        parts.append(part.reshape(-1, many))
        above = carried
    return np.vstack(parts[::-1])


def _jax_products(function: Callable[..., Any], params: np.ndarray) -> tuple[Product, Product]:
    """Forward and reverse mode of a function that JAX can differentiate, a block of columns at a time."""
    jax = library("jax")

    def flat(w: Any) -> Any:
        return jax.numpy.ravel(jax.numpy.asarray(function(w)))

    def forward(w: Any, v: Any) -> Any:
        return jax.vmap(lambda column: jax.jvp(flat, (w,), (column,))[1], 1, 1)(v)

    def backward(w: Any, u: Any) -> Any:
        return jax.vmap(lambda column: jax.vjp(flat, w)[1](column)[0], 1, 1)(u)

    def in_double(compiled: Callable[[Any, Any], Any]) -> Product:
        def call(block: np.ndarray) -> np.ndarray:
            with jax.enable_x64(True):
                point, columns = (jax.numpy.asarray(x, dtype=float) for x in (params, block))
                return np.asarray(compiled(point, columns))

        return call

    return in_double(jax.jit(forward)), in_double(jax.jit(backward))


SCALE_PROBES = 8


@dataclass(frozen=True, eq=False)
class ConstraintOperator:
    """Products with the constraint matrix.

    Attributes
    ----------
    products : JacobianProducts
        Products with the Jacobian J.
    covariance : callable
        X ↦ ΣX.
    scales : (n_params,) array
        D: approximate inverse lengths of the columns of J.
    """

    products: JacobianProducts
    covariance: Product
    scales: np.ndarray

    @classmethod
    def balanced(cls, products: JacobianProducts, covariance: Product, rng: np.random.Generator) -> ConstraintOperator:
        """The products, with lengths from random Jᵀz: off by some tens of per cent at most, whatever a layer's scale.

        Raises ``ValueError`` if products have the wrong shape or values that are not finite.
        """
        probes = rng.normal(size=(products.n_rows, SCALE_PROBES))
        seen = checked(products.backward(probes), (products.n_params, SCALE_PROBES), "backward")
        largest = np.abs(seen).max(axis=1)
        largest[largest == 0] = 1.0
        lengths = largest * np.sqrt(np.mean(np.square(seen / largest[:, None]), axis=1))
        lengths[lengths == 0] = 1.0
        return cls(products, covariance, 1 / lengths)

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """(n, m) J D X for X (n_params, m)."""
        scaled = self.scales[:, None] * x
        return checked(self.products.forward(scaled), (self.products.n_rows, x.shape[1]), "forward")

    def range_sketch(self, count: int, rng: np.random.Generator, bar: tqdm) -> np.ndarray:
        """(n, count) J D Ω with Gaussian Ω; J D itself if ``count`` is at least n_params."""
        n_params = self.products.n_params
        count = min(count, n_params)
        sketch = np.empty((self.products.n_rows, count), order="F")
        for part in self.products.blocks(count):
            width = part.stop - part.start
            whole = count == n_params
            omega = np.eye(n_params, width, -part.start) if whole else rng.normal(size=(n_params, width)) / count**0.5
            sketch[:, part] = self.jacobian(omega)
            bar.update(width)
        return sketch


def checked(values: np.ndarray, shape: tuple[int, int], name: str) -> np.ndarray:
    """The value of a product; raises ``ValueError`` unless it has the right shape and is finite."""
    array = np.asarray(values)
    if array.shape != shape:
        raise ValueError(
            f"{name}: found a product of shape {array.shape}, expected {shape}: one column for each column given."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: found NaN or infinite values in a product, expected finite ones. Look at the model.")
    return array
