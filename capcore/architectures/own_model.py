"""Your own model: from a function, a JAX model or a PyTorch module to where its capacity goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from capcore.architectures.function import Function
from capcore.architectures.trees import _slices, is_tree, layer_names, ravelled
from capcore.checks.arguments import finite_array, library
from capcore.checks.models import OTHERS, is_module, refuse_model


class OwnModel(Function):
    """A reader's model as an architecture, with its own parameters, and the way from a vector back to their form.

    Parameters
    ----------
    function : callable
        Parameters (p,) → coefficients (n · d,), lag 0 first; of a network ∂ output / ∂ inputs.
    params : (p,) array
        The model's own parameters in one vector.
    unravel : callable
        A vector (p,) → parameters as the model takes them: a pytree, or the state of a module.
    **options : object
        ``layers``, ``derivative`` and ``input_dim`` of :class:`~capcore.architectures.function.Function`.
    """

    def __init__(
        self, function: Callable[[Any], Any], params: np.ndarray, unravel: Callable[[Any], Any], **options: Any
    ) -> None:
        super().__init__(function, params.size, example=params, **options)
        self.params, self.unravel = params, unravel


def opened(
    model: Any,
    params: Any,
    inputs: object = None,
    time_axis: int | None = None,
    input_dim: int = 1,
    layers: Mapping[str, slice] | None = None,
    derivative: Any = "auto",
) -> OwnModel:
    """The architecture of any model that is none.

    Parameters
    ----------
    model : torch.nn.Module or callable
        A module, or a JAX function (params, inputs) → one number, with ``inputs``; or a function params → coefficients
        (n · d,).
    params : object
        Of a function: a vector (p,), or any pytree of arrays. A module has its own.
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
    check_model(model, "arch")
    if is_module(model) or inputs is not None:
        if input_dim != 1 or layers is not None or derivative != "auto":
            raise ValueError(
                "input_dim, layers, derivative: found some beside a network, expected them with a function params → "
                "coefficients only: a network's follow from its inputs, its parameters and its library."
            )
        return linearised(model, None if is_module(model) else params, inputs, time_axis=time_axis)
    if params is None:
        raise ValueError("params: not given, expected the parameters of the function: a vector, or a pytree of arrays.")
    if time_axis is not None:
        raise ValueError(f"time_axis: found {time_axis!r} without inputs, expected it beside inputs=….")
    options: dict[str, Any] = {"input_dim": input_dim, "layers": layers, "derivative": derivative}
    if not is_tree(params):
        return OwnModel(model, finite_array(params, "params", 1), lambda w: w, **options)
    tree = ravelled(params)
    options["layers"] = layers or tree.layers
    return OwnModel(lambda w: model(tree.unravel(w)), tree.vector, tree.unravel, **options)


def linearised(model: Any, params: Any = None, inputs: object = None, *, time_axis: int | None = None) -> OwnModel:
    """The linearisation of a network at an input, as an architecture: its coefficients are ∂ output / ∂ inputs.

    The first input is the oldest, as networks read it; the coefficients come lag 0 first.

    Parameters
    ----------
    model : torch.nn.Module or callable
        A module that returns one number for ``inputs``; it is copied, in double precision and evaluation mode, and not
        changed. Or a JAX function (params, inputs) → one number, as in Flax, Equinox or Haiku; time is the first axis
        of its inputs.
    params : object, optional
        Any pytree of arrays, beside a function. A module has its own: None.
    inputs : array_like
        The point at which the model is linearised, in the shape that it takes; zeros are the usual one.
    time_axis : int, optional
        The axis of ``inputs`` that is time, for a module; by default the only one of length above one.

    Raises
    ------
    TypeError
        For a model of another kind, with the function of the package that takes it.
    ValueError
        If ``inputs`` are missing, the model has more than one output or no parameters, or the time axis is unclear.
    ModuleNotFoundError
        If the library that the model needs is not installed.
    """
    check_model(model, "model")
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
        return _linearised_torch(model, inputs, time_axis)
    if params is None:
        raise ValueError("params: not given, expected the pytree of parameters that the function takes.")
    if time_axis not in (None, 0):
        raise ValueError(f"time_axis: found {time_axis} beside a function, expected none: its first axis is time.")
    return _linearised_jax(model, params, inputs)


def _linearised_jax(apply: Callable[[Any, Any], Any], params: Any, inputs: object) -> OwnModel:
    jax = library("jax")
    point = finite_array(inputs, "inputs", (1, 2))
    tree = ravelled(params)
    with jax.enable_x64(True):
        value = jax.eval_shape(lambda w: apply(tree.unravel(w), jax.numpy.asarray(point)), tree.vector)
    _one_output(value.shape)

    def coefficients(w: Any) -> Any:
        with jax.enable_x64(True):
            weights = tree.unravel(jax.numpy.asarray(w))
            slopes = jax.grad(lambda x: jax.numpy.reshape(apply(weights, x), ()))(jax.numpy.asarray(point))
            return jax.numpy.ravel(slopes[::-1])

    options: dict[str, Any] = {"layers": tree.layers, "derivative": "jax", "input_dim": point.size // len(point)}
    return OwnModel(coefficients, tree.vector, tree.unravel, **options)


def _linearised_torch(module: Any, inputs: object, time_axis: int | None) -> OwnModel:
    torch = library("torch")
    values = finite_array(inputs, "inputs", (1, 2, 3, 4))
    axis = _time_axis(values.shape, time_axis)
    copy, point = copied(module), torch.as_tensor(values)
    named = [(name, parameter.detach()) for name, parameter in copy.named_parameters()]
    if not named:
        raise ValueError("model: found a module without parameters, expected at least one.")
    sizes = [parameter.numel() for _, parameter in named]
    with torch.no_grad():
        _one_output(tuple(copy(point).shape))

    def weights(w: Any) -> dict[str, Any]:
        pieces = torch.split(torch.as_tensor(w), sizes)
        return {name: piece.reshape(old.shape) for (name, old), piece in zip(named, pieces, strict=True)}

    def coefficients(w: Any) -> Any:
        with torch.enable_grad():
            x = point.clone().requires_grad_(True)
            value = torch.func.functional_call(copy, weights(w), (x,)).reshape(())
            (slopes,) = torch.autograd.grad(value, x, create_graph=True)
        return torch.flip(torch.movedim(slopes, axis, 0), (0,)).reshape(-1)

    def state(w: Any) -> dict[str, Any]:
        new = copied(module)
        with torch.no_grad():
            for parameter, piece in zip(new.parameters(), weights(w).values(), strict=True):
                parameter.copy_(piece)
        return new.state_dict()

    vector = torch.cat([parameter.reshape(-1) for _, parameter in named]).numpy()
    layers = _slices(layer_names((name,) for name, _ in named), sizes)
    options: dict[str, Any] = {"layers": layers, "derivative": "torch", "input_dim": values.size // values.shape[axis]}
    return OwnModel(coefficients, vector, state, **options)


def check_model(model: object, name: str) -> None:
    """Raise ``TypeError`` for a model of a kind that the verbs do not take, with what does."""
    refuse_model(model, name)
    if not callable(model):
        raise TypeError(f"{name}: found {type(model).__name__}, expected {OTHERS}.")


def copied(module: Any) -> Any:
    """A copy of a PyTorch module in double precision and evaluation mode.

    Tensors that are computed from parameters, as ``torch.nn.utils.weight_norm`` keeps them, cannot be copied by Python
    and are detached; they are computed anew when the copy is called.
    """
    tensors = [value for part in module.modules() for value in vars(part).values() if hasattr(value, "grad_fn")]
    detached = {id(tensor): tensor.detach().clone() for tensor in tensors if tensor.grad_fn is not None}
    return deepcopy(module, detached).double().eval()


def _one_output(shape: tuple[int, ...]) -> None:
    if int(np.prod(shape)) != 1:
        raise ValueError(
            f"model: found an output of shape {shape}, expected one number. Select one output, such as the last."
        )


def _time_axis(shape: tuple[int, ...], given: int | None) -> int:
    """The axis that is time, as an index from the front."""
    if given is not None:
        return axis_of(shape, given)
    long = [i for i, size in enumerate(shape) if size > 1]
    if len(long) > 1:
        raise ValueError(
            f"inputs: found the shape {shape} with {len(long)} axes above 1. Say which is time: time_axis=…."
        )
    return long[0] if long else 0


def axis_of(shape: tuple[int, ...], given: int) -> int:
    """A given axis that is time, as an index from the front; raises ``ValueError`` if inputs have no such axis."""
    if not -len(shape) <= given < len(shape):
        raise ValueError(f"time_axis: found {given}, expected an axis of inputs of shape {shape}.")
    return given % len(shape)
