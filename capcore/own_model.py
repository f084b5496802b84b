"""Your own model: from a function, a JAX model or a PyTorch module to where its capacity goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from capcore.architectures.derivatives import library
from capcore.architectures.function import Function
from capcore.architectures.scales import even_function
from capcore.gate import finite
from capcore.validation import finite_array


@dataclass(frozen=True, eq=False)
class Linearisation:
    """A network linearised at an input, as :func:`~capcore.verbs.allocate` takes it.

    Attributes
    ----------
    function : callable
        Parameters (p,) → coefficients (n · d,) = ∂ output / ∂ inputs, lag 0 first.
    params : (p,) array
        The network's parameters in one vector.
    layers : dict
        Name → slice of that vector, one for each entry at the top of the parameters' tree.
    """

    function: Callable[[Any], Any]
    params: np.ndarray = field(repr=False)
    layers: dict[str, slice]


def as_architecture(
    function: Any, params: object, input_dim: int, layers: Mapping[str, slice] | None, derivative: Any
) -> tuple[Function, np.ndarray]:
    """A function params (p,) → coefficients as an architecture, with rescaled parameters at which to evaluate it.

    Raises ``TypeError`` if it cannot be called, ``ValueError`` if parameters are not finite.
    """
    if not callable(function):
        raise TypeError(
            f"arch: found {type(function).__name__}, expected an architecture or a function params → coefficients."
        )
    values = finite_array(params, "params", 1)
    parts = [part for part in (layers or {}).values() if isinstance(part, slice)] or [slice(None)]
    even = even_function(function, values, parts)
    model = Function(function, values.size, input_dim=input_dim, layers=layers, derivative=derivative, example=even)
    return model, even


def linearised_jax(
    apply: Callable[[Any, Any], Any], params: Any, inputs: object, *, oldest_first: bool = True
) -> Linearisation:
    """The linearisation of a JAX model at an input: its derivative there, as a function of its parameters.

    Use ``derivative="jax"``.

    Parameters
    ----------
    apply : callable
        (params, inputs) → one number, as in Flax, Equinox or Haiku.
    params : object
        Any pytree of arrays.
    inputs : (n,) or (n, d) array_like
        The point at which the model is linearised; its first axis is time.
    oldest_first : bool
        The first input is the oldest, as networks read it; the coefficients come lag 0 first.

    Raises
    ------
    ModuleNotFoundError
        If JAX is not installed.
    ValueError
        If the model has more than one output or no parameters.
    """
    jax = library("jax")
    from jax.flatten_util import ravel_pytree

    point = finite_array(inputs, "inputs", (1, 2))
    for leaf in jax.tree.leaves(params):
        finite(leaf, "params")
    with jax.enable_x64(True):
        wide = jax.tree.map(lambda leaf: jax.numpy.asarray(leaf, dtype=float), params)
        vector, unravel = ravel_pytree(wide)
        if vector.size == 0:
            raise ValueError("params: found no parameters, expected a pytree with at least one array.")
        _one_output(jax.eval_shape(lambda w: apply(unravel(w), jax.numpy.asarray(point)), vector).shape, "apply")
        flat_params = np.array(vector)
    leaves = jax.tree_util.tree_flatten_with_path(wide)[0]
    names = [jax.tree_util.keystr(path[:1]).strip("[].'\"") or "all parameters" for path, _ in leaves]

    def coefficients(w: Any) -> Any:
        with jax.enable_x64(True):
            weights = unravel(jax.numpy.asarray(w))
            slopes = jax.grad(lambda x: jax.numpy.reshape(apply(weights, x), ()))(jax.numpy.asarray(point))
            return jax.numpy.ravel(slopes[::-1] if oldest_first else slopes)

    return Linearisation(coefficients, flat_params, _slices(names, [leaf.size for _, leaf in leaves]))


def linearised_torch(
    module: Any, inputs: object, *, time_axis: int | None = None, oldest_first: bool = True
) -> Linearisation:
    """The linearisation of a PyTorch module at an input: its derivative there, as a function of its parameters.

    Use ``derivative="torch"``.

    Parameters
    ----------
    module : torch.nn.Module
        A module that returns one number for ``inputs``. It is copied, in double precision and evaluation mode, and
        not changed.
    inputs : array_like
        The point at which the module is linearised, in the shape that it takes.
    time_axis : int, optional
        The axis of ``inputs`` that is time; by default the only one of length above one.
    oldest_first : bool
        The first input is the oldest, as networks read it; the coefficients come lag 0 first.

    Raises
    ------
    ModuleNotFoundError
        If PyTorch is not installed.
    ValueError
        If the module has more than one output or no parameters, or the time axis is unclear.
    """
    torch = library("torch")
    from copy import deepcopy

    values = finite_array(inputs, "inputs", (1, 2, 3, 4))
    axis = _time_axis(values.shape, time_axis)
    copy, point = deepcopy(module).double().eval(), torch.as_tensor(values)
    named = [(name, parameter.detach()) for name, parameter in copy.named_parameters()]
    if not named:
        raise ValueError("module: found no parameters, expected at least one.")
    sizes = [parameter.numel() for _, parameter in named]
    with torch.no_grad():
        _one_output(tuple(copy(point).shape), "module")

    def coefficients(w: Any) -> Any:
        pieces = torch.split(w, sizes)
        weights = {name: piece.reshape(old.shape) for (name, old), piece in zip(named, pieces, strict=True)}
        with torch.enable_grad():
            x = point.clone().requires_grad_(True)
            value = torch.func.functional_call(copy, weights, (x,)).reshape(())
            (slopes,) = torch.autograd.grad(value, x, create_graph=True)
        slopes = torch.movedim(slopes, axis, 0)
        return (torch.flip(slopes, (0,)) if oldest_first else slopes).reshape(-1)

    vector = torch.cat([parameter.reshape(-1) for _, parameter in named]).numpy()
    return Linearisation(coefficients, vector, _slices([name.split(".")[0] for name, _ in named], sizes))


def _one_output(shape: tuple[int, ...], name: str) -> None:
    if int(np.prod(shape)) != 1:
        raise ValueError(
            f"{name}: found an output of shape {shape}, expected one number. Select one output, such as the last."
        )


def _time_axis(shape: tuple[int, ...], given: int | None) -> int:
    """The axis that is time, as an index from the front."""
    if given is not None:
        if not -len(shape) <= given < len(shape):
            raise ValueError(f"time_axis: found {given}, expected an axis of inputs of shape {shape}.")
        return given % len(shape)
    long = [i for i, size in enumerate(shape) if size > 1]
    if len(long) > 1:
        raise ValueError(
            f"inputs: found the shape {shape} with {len(long)} axes above 1. Say which is time: time_axis=…."
        )
    return long[0] if long else 0


def _slices(names: list[str], sizes: list[int]) -> dict[str, slice]:
    """One slice for each run of equal names."""
    found: dict[str, slice] = {}
    for name, (start, stop) in zip(names, pairwise(accumulate(sizes, initial=0)), strict=True):
        if stop > start:
            found[name] = slice(found[name].start if name in found else start, stop)
    return found
