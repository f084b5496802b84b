"""The reader's own model: from a function, a JAX model or a PyTorch module to where its capacity goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from capcore.allocation import CapacityAllocation, allocate
from capcore.architectures.derivatives import _library
from capcore.architectures.function import Function
from capcore.optimum import Problem
from capcore.processes import Process
from capcore.validation import finite_array


def allocate_function(
    function: Callable[..., object],
    params: object,
    process: Process | Problem,
    *,
    input_dim: int = 1,
    layers: Mapping[str, slice] | None = None,
    derivative: str | Callable[[np.ndarray], object] = "auto",
) -> CapacityAllocation:
    """Capacity allocation of any model given as a function params → coefficients, at the given parameters.

    Parameters
    ----------
    function : params (p,) → coefficients (n_inputs · input_dim,), position-major, lag 0 first.
    params : (p,) usually those of an optimum. process : whose covariance enters; see also
        :func:`~capcore.time_series.estimate_process` for a measured series.
    input_dim, layers, derivative : as for :class:`~capcore.architectures.function.Function`.

    ``generic_total`` is exact where the function is a polynomial, otherwise the largest numerical rank of a few draws.

    >>> from capcore.processes import PowerLaw
    >>> found = allocate_function(lambda w: np.convolve(w[:2], w[2:]), [1.0, 0.5, 2.0, 0.1], PowerLaw())
    >>> found.generic_total, found.per_input.round(6).tolist()
    (3, [1.0, 1.0, 1.0])
    """
    values = finite_array(params, "params", 1)
    model = Function(function, values.size, input_dim=input_dim, layers=layers, derivative=derivative)
    return allocate(model, values, process)


def linearised_jax(
    apply: Callable[[Any, Any], Any], params: Any, inputs: object, *, oldest_first: bool = True
) -> tuple[Callable[[Any], Any], np.ndarray]:
    """The linearisation of a JAX model at an input, as a function of its parameters, and the parameters as a vector.

    Parameters
    ----------
    apply : (params, inputs) → one number, as Flax, Equinox or Haiku give it. params : any pytree of arrays.
    inputs : (n,) or (n, d), the point at which the model is linearised; its first axis is time.
    oldest_first : the first input is the oldest, as networks read it; the coefficients come lag 0 first.

    Returns
    -------
    function : params (p,) → coefficients (n · d,) = ∂ apply / ∂ inputs. vector : (p,) ``params`` as one array.
    Hand both to :func:`allocate_function`, with ``input_dim=d`` and ``derivative="jax"``.

    Raises ``ModuleNotFoundError`` without JAX, ``ValueError`` for a model with more than one output.
    """
    jax = _library("jax")
    from jax.flatten_util import ravel_pytree

    point = finite_array(inputs, "inputs", (1, 2))
    with jax.enable_x64(True):
        wide = jax.tree.map(lambda leaf: jax.numpy.asarray(leaf, dtype=float), params)
        vector, unravel = ravel_pytree(wide)
        output = jax.eval_shape(lambda w: apply(unravel(w), jax.numpy.asarray(point)), vector)
        if int(np.prod(output.shape)) != 1:
            raise ValueError(f"apply: found an output of shape {output.shape}, expected one number. Select one output.")
        flat_params = np.array(vector)

    def coefficients(w: Any) -> Any:
        def output_at(x: Any) -> Any:
            return jax.numpy.reshape(apply(unravel(w), x), ())

        slopes = jax.grad(output_at)(jax.numpy.asarray(point))
        return jax.numpy.ravel(slopes[::-1] if oldest_first else slopes)

    return coefficients, flat_params


def linearised_torch(
    module: Any, inputs: object, *, oldest_first: bool = True
) -> tuple[Callable[[Any], Any], np.ndarray]:
    """The linearisation of a PyTorch module at an input, as a function of its parameters, and those as a vector.

    Parameters and return values as for :func:`linearised_jax`; ``module(inputs)`` must give one number, and ``inputs``
    has the shape that it takes, with time as the first axis of length above one. Use ``derivative="torch"``.
    The module is called in evaluation mode on a double-precision copy; nothing in it changes.

    Raises ``ModuleNotFoundError`` without PyTorch, ``ValueError`` for a module with more than one output.
    """
    torch = _library("torch")
    from copy import deepcopy

    copy = deepcopy(module).double().eval()
    point = torch.as_tensor(np.array(inputs, dtype=float))
    names, shapes = zip(*((name, p.shape) for name, p in copy.named_parameters()), strict=True)
    sizes = [int(np.prod(shape)) for shape in shapes]
    vector = torch.cat([p.detach().reshape(-1) for p in copy.parameters()]).numpy()
    with torch.no_grad():
        output = copy(point)
    if output.numel() != 1:
        raise ValueError(f"module: found an output of shape {tuple(output.shape)}, expected one number.")
    axis = next((i for i, size in enumerate(point.shape) if size > 1), 0)

    def coefficients(w: Any) -> Any:
        parts = {
            name: part.reshape(shape) for name, part, shape in zip(names, torch.split(w, sizes), shapes, strict=True)
        }
        with torch.enable_grad():
            x = point.clone().requires_grad_(True)
            value = torch.func.functional_call(copy, parts, (x,)).reshape(())
            (slopes,) = torch.autograd.grad(value, x, create_graph=True)
        return (torch.flip(slopes, (axis,)) if oldest_first else slopes).reshape(-1)

    return coefficients, vector
