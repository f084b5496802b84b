"""Your own model: from a function, a JAX model or a PyTorch module to where its capacity goes."""

from collections import OrderedDict
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from capcore.architectures.base import Architecture
from capcore.architectures.function import Function
from capcore.architectures.trees import is_tree, ravelled
from capcore.checks.arguments import finite_array, library, of_kind
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


def architecture_of(model: Any, params: Any, inputs: object, time_axis: int | None) -> Architecture:
    """A model as an architecture.

    Parameters
    ----------
    model : Architecture, torch.nn.Module or callable
        An architecture, which is returned; a module, or a JAX function (params, inputs) → one number, with ``inputs``;
        or a function params → coefficients (n,).
    params : object
        Of a function: a vector (p,), or any pytree of arrays. Others have their own.
    inputs, time_axis : object
        As in :func:`linearised`; None beside an architecture and a function params → coefficients.

    Raises
    ------
    TypeError
        For a model of another kind, with the function of the package that takes it.
    ValueError
        If arguments do not go together, or parameters are not finite.
    """
    if isinstance(model, Architecture):
        if inputs is not None or time_axis is not None:
            raise ValueError(f"inputs, time_axis: found some beside {model!r}, expected them with a network only.")
        return model
    check_model(model, "arch")
    if is_module(model) or inputs is not None:
        return linearised(model, None if is_module(model) else params, inputs, time_axis=time_axis)
    if params is None:
        raise ValueError("params: not given, expected the parameters of the function: a vector, or a pytree of arrays.")
    if time_axis is not None:
        raise ValueError(f"time_axis: found {time_axis!r} without inputs, expected it beside inputs=….")
    if not is_tree(params):
        return OwnModel(model, finite_array(params, "params", 1), lambda w: w)
    tree = ravelled(params)
    return OwnModel(lambda w: model(tree.unravel(w)), tree.vector, tree.unravel, layers=tree.layers)


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
        raise ValueError("inputs: not given, expected the point at which to linearise, as the model takes it.")
    if is_module(model):
        if params is not None:
            raise ValueError(f"params: found {type(params).__name__} beside a module, expected None: it has its own.")
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

    size = point.size // len(point)
    return OwnModel(coefficients, tree.vector, tree.unravel, layers=tree.layers, derivative="jax", input_dim=size)


def _linearised_torch(module: Any, inputs: object, time_axis: int | None) -> OwnModel:
    torch = library("torch")
    values = finite_array(inputs, "inputs", (1, 2, 3, 4))
    axis = _time_axis(values.shape, time_axis)
    copy, point = copied(module), torch.as_tensor(values)
    tree = ravelled(OrderedDict((name, weight.detach().numpy()) for name, weight in copy.named_parameters()), "model")
    with torch.no_grad():
        _one_output(tuple(copy(point).shape))

    def coefficients(w: Any) -> Any:
        with torch.enable_grad():
            x = point.clone().requires_grad_(True)
            value = torch.func.functional_call(copy, tree.unravel(torch.as_tensor(w)), (x,)).reshape(())
            (slopes,) = torch.autograd.grad(value, x, create_graph=True)
        return torch.flip(torch.movedim(slopes, axis, 0), (0,)).reshape(-1)

    def state(w: Any) -> dict[str, Any]:
        new = copied(module)
        new.load_state_dict(tree.unravel(torch.as_tensor(w)), strict=False)
        return new.state_dict()

    size = values.size // values.shape[axis]
    return OwnModel(coefficients, tree.vector, state, layers=tree.layers, derivative="torch", input_dim=size)


def check_model(model: object, name: str) -> None:
    """Raise ``TypeError`` for a model of a kind that the verbs do not take, with what does."""
    refuse_model(model, name)
    of_kind(model, name, Callable, OTHERS)


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
        raise ValueError(f"model: found an output of shape {shape}, expected one number. Select the last, say.")


def _time_axis(shape: tuple[int, ...], given: int | None) -> int:
    """The axis that is time, as an index from the front."""
    long = [i for i, size in enumerate(shape) if size > 1] or [0]
    if given is None and len(long) > 1:
        raise ValueError(f"inputs: found the shape {shape} with {len(long)} axes above 1. Say which is time_axis.")
    return long[0] if given is None else axis_of(shape, given)


def axis_of(shape: tuple[int, ...], given: int) -> int:
    """A given axis that is time, as an index from the front; raises ``ValueError`` if inputs have no such axis."""
    if not -len(shape) <= given < len(shape):
        raise ValueError(f"time_axis: found {given}, expected an axis of inputs of shape {shape}.")
    return given % len(shape)
