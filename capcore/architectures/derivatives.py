"""Jacobians of a function params → coefficients: automatic differentiation, complex steps, finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

METHODS = ("jax", "torch", "complex-step", "finite-differences")
STEP = 1e-100  # of a complex step: its square vanishes
AGREEMENT = 1e-5  # of complex steps with a central difference, relative


def choose(function: Callable[..., object], params: np.ndarray) -> str:
    """The most accurate method that works for the function at these parameters.

    >>> choose(lambda w: np.abs(np.convolve(w, [1.0, 2.0])), np.array([1.0, -3.0]))
    'finite-differences'
    """
    if find_spec("jax") is not None and _traceable(function, params):
        return "jax"
    return "complex-step" if _complex_steps_agree(function, params) else "finite-differences"


def evaluate(function: Callable[..., object], params: np.ndarray, method: object) -> np.ndarray:
    """(n,) what the function returns, as a NumPy array, called with the kind of array its method needs."""
    if method == "jax":
        jax = _library("jax")
        with jax.enable_x64(True):
            return np.asarray(function(jax.numpy.asarray(params)))
    if method == "torch":
        torch = _library("torch")
        with torch.no_grad():
            return np.asarray(function(torch.as_tensor(params)))
    return np.asarray(function(params))


def jacobian(
    function: Callable[..., object], params: np.ndarray, method: str | Callable[[np.ndarray], object]
) -> np.ndarray:
    """(n, p) Jacobian at parameters (p,). Raises ``ModuleNotFoundError`` for a library that is missing."""
    if callable(method):
        return np.asarray(method(params), float)
    if method == "jax":
        return _jacobian_jax(function, params)
    if method == "torch":
        return _jacobian_torch(function, params)
    if method == "complex-step":
        return _jacobian_complex(function, params)
    return _jacobian_differences(function, params)


def _jacobian_jax(function: Callable[..., object], params: np.ndarray) -> np.ndarray:
    jax = _library("jax")

    def flat(w: Any) -> Any:
        return jax.numpy.ravel(jax.numpy.asarray(function(w)))

    with jax.enable_x64(True):
        w = jax.numpy.asarray(params)
        wide = jax.eval_shape(flat, w).size >= params.size
        return np.asarray((jax.jacfwd if wide else jax.jacrev)(flat)(w))


def _jacobian_torch(function: Callable[..., Any], params: np.ndarray) -> np.ndarray:
    torch = _library("torch")
    found = torch.autograd.functional.jacobian(lambda w: function(w).reshape(-1), torch.as_tensor(params))
    return np.asarray(found)


def _jacobian_complex(function: Callable[..., object], params: np.ndarray) -> np.ndarray:
    columns = []
    for i in range(params.size):
        moved = params.astype(complex)
        moved[i] += 1j * STEP
        columns.append(np.ravel(np.asarray(function(moved))).imag / STEP)
    return np.array(columns).T


def _jacobian_differences(function: Callable[..., object], params: np.ndarray) -> np.ndarray:
    """Adaptive central differences through SciPy, good to about ten digits for smooth functions."""
    from scipy.differentiate import jacobian as adaptive

    def several(points: np.ndarray) -> np.ndarray:
        flat = points.reshape(params.size, -1)
        values = np.array([np.ravel(np.asarray(function(w), float)) for w in flat.T]).T
        return values.reshape(-1, *points.shape[1:])

    return np.asarray(adaptive(several, params).df)


def _traceable(function: Callable[..., object], params: np.ndarray) -> bool:
    """Whether JAX can trace the function, and finds the values that the function itself finds."""
    try:
        _jacobian_jax(function, params)
    except Exception:  # whatever a reader's function does with a tracer
        return False
    return True


def _complex_steps_agree(function: Callable[..., object], params: np.ndarray) -> bool:
    """Whether a complex step along a random direction agrees with a central difference along it."""
    direction = np.random.default_rng(1).normal(size=params.size)
    h = 1e-6
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exact = np.ravel(np.asarray(function(params + 1j * STEP * direction))).imag / STEP
        ahead, behind = (np.ravel(np.asarray(function(params + s * h * direction), float)) for s in (1, -1))
    except Exception:  # whatever a reader's function does with complex numbers
        return False
    central = (ahead - behind) / (2 * h)
    return bool(np.allclose(exact, central, rtol=AGREEMENT, atol=AGREEMENT * max(np.abs(central).max(), 1e-300)))


def _library(name: str) -> Any:
    if find_spec(name) is None:
        raise ModuleNotFoundError(
            f"{name}: not installed, expected for derivative={name!r}. Install it (pip install {name}), or use "
            "derivative='auto'."
        )
    return import_module(name)
