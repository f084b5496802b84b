"""Your own model: from a function, a JAX model or a PyTorch module to where its capacity goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from capcore.architectures.function import Function
from capcore.architectures.scales import even_function
from capcore.architectures.trees import _slices, is_tree, layer_names, ravelled
from capcore.checks.arguments import finite_array, library
from capcore.checks.models import OTHERS, is_module, refuse_model


@dataclass(frozen=True, eq=False)
class Linearisation:
    """A network linearised at an input, as :func:`~capcore.verbs.fit` and :func:`~capcore.verbs.allocate` take it.

    Attributes
    ----------
    function : callable
        Parameters (p,) → coefficients (n · d,) = ∂ output / ∂ inputs, lag 0 first.
    params : (p,) array
        The network's parameters in one vector.
    layers : dict
        Name → slice of that vector, one for each entry at the top of the parameters' tree.
    derivative : str or callable
        "jax" or "torch", which differentiates the function.
    input_dim : int
        Components d per input position.
    unravel : callable
        A vector (p,) → parameters as the network takes them: a pytree, or the state of a module.
    """

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

    function: Callable[[Any], Any] = field(repr=False)
    params: np.ndarray = field(repr=False)
    layers: dict[str, slice]
    derivative: Any
    input_dim: int
    unravel: Callable[[Any], Any] = field(repr=False)


class OwnModel(Function):
    """A reader's model as an architecture, with the way from a vector of parameters back to their own form."""

    def __init__(self, found: Linearisation, example: np.ndarray) -> None:
        options: dict[str, Any] = {"layers": found.layers or None, "derivative": found.derivative, "example": example}
        super().__init__(found.function, found.params.size, input_dim=found.input_dim, **options)
        self.unravel = found.unravel


def as_architecture(found: Linearisation) -> tuple[OwnModel, np.ndarray]:
    """A model as an architecture, with rescaled parameters (p,) at which to evaluate it."""
    parts = [part for part in found.layers.values() if isinstance(part, slice)] or [slice(None)]
    even = even_function(found.function, found.params, parts)
    return OwnModel(found, even), even


def opened(
    model: Any,
    params: Any,
    inputs: object = None,
    time_axis: int | None = None,
    input_dim: int = 1,
    layers: Mapping[str, slice] | None = None,
    derivative: Any = "auto",
) -> Linearisation:
    """What the verbs work with, made from any model that is no architecture.

    Parameters
    ----------
    model : Linearisation, torch.nn.Module or callable
        A linearisation; a module, or a JAX function (params, inputs) → one number, with ``inputs``; or a function
        params → coefficients (n · d,).
    params : object
        A vector (p,); beside a function any pytree of arrays; None for the model's own.
    inputs, time_axis : object
        As in :func:`linearised`; None beside a function params → coefficients.
    input_dim, layers, derivative : object
        As in :class:`~capcore.architectures.function.Function`, beside a function params → coefficients.

    Raises
    ------
    TypeError
        For a model of another kind, with the function of the package that takes it.
    ValueError
        If arguments do not go together, or parameters are not finite.
    """
    refuse_model(model, "arch")
    linear = isinstance(model, Linearisation)
    if not (linear or callable(model)):
        raise TypeError(f"arch: found {type(model).__name__}, expected {OTHERS}.")
    if linear and inputs is not None:
        raise ValueError("inputs: found some beside a linearisation, expected none: it has its own.")
    if not (linear or is_module(model)) and params is None:
        raise ValueError("params: not given, expected the parameters of the function: a vector, or a pytree of arrays.")
    if linear or is_module(model) or inputs is not None:
        if input_dim != 1 or derivative != "auto":
            raise ValueError(
                f"input_dim, derivative: found {input_dim!r}, {derivative!r} beside a network, expected them with a "
                "function params → coefficients only: a network's follow from its inputs and its library."
            )
        function = not (linear or is_module(model))
        linearisation = (
            model if linear else linearised(model, params if function else None, inputs, time_axis=time_axis)
        )
        linearisation = replace(linearisation, layers=layers or linearisation.layers)
        return (
            linearisation
            if params is None or function
            else replace(linearisation, params=_like(linearisation.params, params))
        )
    if time_axis is not None:
        raise ValueError(f"time_axis: found {time_axis!r} without inputs, expected it beside inputs=….")
    if is_tree(params):
        tree = ravelled(params)
        return Linearisation(
            lambda w: model(tree.unravel(w)), tree.vector, dict(layers or tree.layers), derivative, input_dim,
            tree.unravel,
        )  # fmt: skip
    vector = finite_array(params, "params", 1)
    return Linearisation(model, vector, dict(layers or {}), derivative, input_dim, lambda w: w)


def _like(own: np.ndarray, params: object) -> np.ndarray:
    vector = finite_array(params, "params", 1)
    if vector.size != own.size:
        raise ValueError(f"params: found {vector.size} values, expected {own.size}, or None for the model's own.")
    return vector


def linearised(
    model: Any,
    params: Any = None,
    inputs: object = None,
    *,
    time_axis: int | None = None,
    oldest_first: bool = True,
) -> Linearisation:
    """The linearisation of a network at an input: a PyTorch module, or a JAX function with its parameters.

    It calls :func:`linearised_torch` or :func:`linearised_jax`, according to the model.

    Parameters
    ----------
    model : torch.nn.Module or callable
        A module that returns one number for ``inputs``; or a JAX function (params, inputs) → one number.
    params : object, optional
        Any pytree of arrays, beside a function. A module has its own: None.
    inputs : array_like
        The point at which the model is linearised, in the shape that it takes; zeros are the usual one.
    time_axis : int, optional
        The axis of ``inputs`` that is time, for a module; by default the only one of length above one.
    oldest_first : bool
        The first input is the oldest, as networks read it; the coefficients come lag 0 first.

    Raises
    ------
    TypeError
        For a model of another kind, with the function of the package that takes it.
    ValueError
        If ``inputs`` are missing, the model has more than one output or no parameters, or the time axis is unclear.
    ModuleNotFoundError
        If the library that the model needs is not installed.
    """
    refuse_model(model, "model")
    if not callable(model):
        raise TypeError(
            f"model: found {type(model).__name__}, expected a torch.nn.Module, or a JAX function (params, inputs) → "
            "one number."
        )
    if inputs is None:
        raise ValueError(
            "inputs: not given, expected the point at which to linearise, in the shape that the model takes, such as "
            "numpy.zeros((1, 1, n)) for a module of one-dimensional convolutions."
        )
    if is_module(model):
        if params is not None:
            raise ValueError(
                f"params: found {type(params).__name__} beside a module, expected None: it has its own. Load others by "
                "module.load_state_dict(…)."
            )
        return linearised_torch(model, inputs, time_axis=time_axis, oldest_first=oldest_first)
    if params is None:
        raise ValueError("params: not given, expected the pytree of parameters that the function takes.")
    if time_axis not in (None, 0):
        raise ValueError(f"time_axis: found {time_axis} beside a function, expected none: its first axis is time.")
    return linearised_jax(model, params, inputs, oldest_first=oldest_first)


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
    point = finite_array(inputs, "inputs", (1, 2))
    tree = ravelled(params)
    with jax.enable_x64(True):
        value = jax.eval_shape(lambda w: apply(tree.unravel(w), jax.numpy.asarray(point)), tree.vector)
    _one_output(value.shape, "apply")

    def coefficients(w: Any) -> Any:
        with jax.enable_x64(True):
            weights = tree.unravel(jax.numpy.asarray(w))
            slopes = jax.grad(lambda x: jax.numpy.reshape(apply(weights, x), ()))(jax.numpy.asarray(point))
            return jax.numpy.ravel(slopes[::-1] if oldest_first else slopes)

    return Linearisation(coefficients, tree.vector, tree.layers, "jax", point.size // len(point), tree.unravel)


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
    values = finite_array(inputs, "inputs", (1, 2, 3, 4))
    axis = _time_axis(values.shape, time_axis)
    copy, point = copied(module), torch.as_tensor(values)
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

    def state(w: Any) -> dict[str, Any]:
        new = copied(module)
        with torch.no_grad():
            for parameter, piece in zip(new.parameters(), torch.split(torch.as_tensor(w), sizes), strict=True):
                parameter.copy_(piece.reshape(parameter.shape))
        return new.state_dict()

    vector = torch.cat([parameter.reshape(-1) for _, parameter in named]).numpy()
    layers = _slices(layer_names((name,) for name, _ in named), sizes)
    return Linearisation(coefficients, vector, layers, "torch", values.size // values.shape[axis], state)


def copied(module: Any) -> Any:
    """A copy of a PyTorch module in double precision and evaluation mode.

    Tensors that are computed from parameters, as ``torch.nn.utils.weight_norm`` keeps them, cannot be copied by Python
    and are detached; they are computed anew when the copy is called.
    """
    tensors = [value for part in module.modules() for value in vars(part).values() if hasattr(value, "grad_fn")]
    detached = {id(tensor): tensor.detach().clone() for tensor in tensors if tensor.grad_fn is not None}
    return deepcopy(module, detached).double().eval()


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
