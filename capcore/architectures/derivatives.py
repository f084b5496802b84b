"""Jacobians of a function params → coefficients: automatic differentiation, complex steps."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from capcore.checks.arguments import library

METHODS = ("jax", "torch", "complex-step")
STEP = 1e-100  # of a complex step: its square vanishes
AGREEMENT = 1e-5  # of complex steps with a central difference, relative

Pair = tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], np.ndarray]]


def choose(function: Callable[..., object], params: np.ndarray) -> str:
    """The method for the function at these parameters: "jax" if it differentiates it, otherwise "complex-step".

    >>> choose(lambda w: np.convolve(w, [1.0, 2.0]), np.array([1.0, -3.0]))
    'complex-step'
    """
    if find_spec("jax") is None:
        return "complex-step"
    try:
        _with_jax(function)[1](params)
    except Exception:  # whatever a reader's function does with a tracer
        return "complex-step"
    return "jax"


def check_complex_steps(function: Callable[..., object], params: np.ndarray) -> None:
    """Raise ``ValueError`` unless a complex step along a random direction agrees with a central difference along it.

    Differences of values alone would do for other functions, and hide the rank of the Jacobian in their rounding.
    """
    direction, h = np.random.default_rng(1).normal(size=params.size) * _sizes(params), 1e-6
    try:
        moved = np.ravel(np.asarray(function(params + 1j * STEP * direction)))
        ahead, behind = (np.asarray(function(params + s * h * direction), float) for s in (1, -1))
        central = np.ravel(ahead - behind) / (2 * h)
        least = AGREEMENT * max(np.abs(central).max(), 1e-300)
        close = np.allclose(moved.imag / STEP, central, rtol=AGREEMENT, atol=least)
        agree = np.iscomplexobj(moved) and close  # where the imaginary part is dropped, NumPy only warns
    except Exception:  # whatever a reader's function does with complex numbers
        agree = False
    if not agree:
        raise ValueError("function: found no derivatives by JAX or complex steps, expected one or derivative=….")


def differentiable(function: Callable[..., Any], method: str | Callable[[np.ndarray], object]) -> Pair:
    """Two functions of parameters (p,) that return NumPy arrays: the function's values, and its Jacobian (n, p).

    The function is called with the kind of array that the method needs. A callable method is the Jacobian itself.

    Raises
    ------
    ModuleNotFoundError
        If a library that the method needs is not installed.

    Examples
    --------
    >>> value, jacobian = differentiable(lambda w: w**2, "complex-step")
    >>> jacobian(np.array([3.0, 4.0])).tolist()
    [[6.0, 0.0], [0.0, 8.0]]
    """
    if method == "jax":
        return _with_jax(function)
    if method == "torch":
        return _with_torch(function)
    jacobian = method if callable(method) else partial(_complex_steps, function)
    return lambda w: np.asarray(function(w)), lambda w: np.asarray(jacobian(w))


def _with_jax(function: Callable[..., Any]) -> Pair:
    jax = library("jax")

    flat = flattened(function)

    def jacobian(w: Any) -> Any:  # forward or reverse, whichever takes fewer passes
        wide = jax.eval_shape(flat, w).size >= w.size
        return (jax.jacfwd if wide else jax.jacrev)(flat)(w)

    return in_double(flat), in_double(jacobian)


def flattened(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """The function of JAX whose values are one vector."""
    jax = library("jax")
    return lambda w: jax.numpy.ravel(jax.numpy.asarray(function(w)))


def in_double(function: Callable[[Any], Any]) -> Callable[[np.ndarray], np.ndarray]:
    """A function of JAX, compiled, as one of NumPy's arrays in double precision."""
    jax = library("jax")
    compiled = jax.jit(function)

    def call(values: np.ndarray) -> np.ndarray:
        with jax.enable_x64(True):
            return np.asarray(compiled(jax.numpy.asarray(values, dtype=float)))

    return call


def _with_torch(function: Callable[..., Any]) -> Pair:
    torch = library("torch")

    def value(params: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return torch.as_tensor(function(torch.as_tensor(params))).detach().cpu().numpy()

    def jacobian(params: np.ndarray) -> np.ndarray:
        jacobian = torch.autograd.functional.jacobian(lambda w: function(w).reshape(-1), torch.as_tensor(params))
        return jacobian.detach().cpu().numpy()

    return value, jacobian


def _complex_steps(function: Callable[..., object], params: np.ndarray) -> np.ndarray:
    index = np.arange(params.size)
    moved = (params + 1j * STEP * (index == i) for i in index)
    return np.array([np.ravel(np.asarray(function(w))).imag / STEP for w in moved]).T


def _sizes(params: np.ndarray) -> np.ndarray:
    """(p,) units of a step: 1 for parameters within a factor of a million of 1, else a power of two near each."""
    magnitudes = np.where(params == 0, np.abs(params).max(initial=0.0), np.abs(params))
    ordinary = (magnitudes == 0) | ((magnitudes >= 2.0**-20) & (magnitudes <= 2.0**20))
    return np.where(ordinary, 1.0, 2.0 ** np.floor(np.log2(np.where(ordinary, 1.0, magnitudes))))
