"""Your own model: from a function, or a network of any library, to where its capacity goes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from capcore.architectures.adapter import Adapter, adapted
from capcore.architectures.base import Architecture
from capcore.architectures.function import Function
from capcore.architectures.probing import Asked, Output, axis_of, checked_inputs, index_of
from capcore.architectures.trees import is_tree, ravelled
from capcore.checks.arguments import finite_array, of_kind
from capcore.checks.models import OTHERS, refuse_model


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


def architecture_of(
    model: Any, params: Any = None, inputs: object = None, output: Output = None, time_axis: int | None = None
) -> Architecture:
    """A model as an architecture.

    Parameters
    ----------
    model : object
        An architecture, which is returned; with ``inputs`` a network, as :func:`linearised` takes it; or a function
        params → coefficients (n,).
    params : object
        Of a function: a vector (p,), or any pytree of arrays. Modules have their own.
    inputs, output, time_axis : object
        As in :func:`linearised`; None beside an architecture and a function params → coefficients.

    Raises
    ------
    TypeError
        For a model of another kind, with the function of the package that takes it.
    ValueError
        If arguments do not go together, or parameters are not finite.
    """
    if isinstance(model, Architecture):
        if any(value is not None for value in (inputs, output, time_axis)):
            raise ValueError(
                f"inputs, output, time_axis: found some beside {model!r}, expected them with a network only."
            )
        return model
    if inputs is not None:
        return linearised(model, params, inputs, output=output, time_axis=time_axis)
    refuse_model(model, "arch")
    of_kind(model, "arch", Callable, OTHERS)
    if output is not None or time_axis is not None:
        raise ValueError("output, time_axis: found some without inputs, expected both beside inputs=….")
    if params is None:
        raise ValueError("params, inputs: found neither, expected a function's parameters, or a network's inputs.")
    if not is_tree(params):
        return OwnModel(model, finite_array(params, "params", 1), lambda w: w)
    tree = ravelled(params)
    return OwnModel(lambda w: model(tree.unravel(w)), tree.vector, tree.unravel, layers=tree.layers)


def linearised(
    model: Any, params: Any = None, inputs: object = None, *, output: Output = None, time_axis: int | None = None
) -> OwnModel:
    """The linearisation of a network at an input, as an architecture: its coefficients are ∂ output / ∂ inputs.

    The first input is the oldest, as networks read it; the coefficients come lag 0 first.

    Parameters
    ----------
    model : object
        A module of PyTorch, Flax, Equinox or Keras, which is copied, in double precision and evaluation mode, and not
        changed; or a JAX function (params, inputs) → outputs.
    params : object, optional
        Any pytree of arrays, beside a function; the variables of a Linen module. Other modules have their own: None.
    inputs : array_like
        The point at which the model is linearised, in the shape that it takes; zeros are the usual one.
    output : int or tuple of int, optional
        The index of the output that is meant, in the array of all, or in that array ravelled: −1 is the last one. Only
        a model of one output does without.
    time_axis : int, optional
        The axis of ``inputs`` that is time. By default the model is asked: it is the only axis of length above one, or
        the one along which outputs read other inputs, or whose length the model leaves open.

    Raises
    ------
    TypeError
        For a model of another kind, with the function of the package that takes it.
    ValueError
        If ``inputs`` are missing or do not fit, the model has no parameters, or the output or the time axis is unclear.
    ModuleNotFoundError
        If the library that the model needs is not installed.
    """
    network = adapted(model, params)
    point = checked_inputs(inputs)
    index = index_of(network.output_shape(network.params, point.shape), output)
    axis = _time_axis(network, point.shape) if time_axis is None else axis_of(point.shape, time_axis)
    tree = ravelled(network.params, "model" if params is None else "params")
    order = np.flip(np.moveaxis(np.arange(point.size).reshape(point.shape), axis, 0), 0).ravel()

    def coefficients(w: Any) -> Any:
        with network.calling():
            weights = tree.unravel(network.array(w))
            slope = network.transforms.grad(lambda x: network.apply(weights, x)[index])
            return slope(network.array(point)).reshape(-1)[order]

    options = {"layers": tree.layers, "derivative": "torch" if network.module else "jax"}
    size = point.size // point.shape[axis]
    return OwnModel(coefficients, tree.vector, lambda w: network.restored(tree.unravel(w)), input_dim=size, **options)


def _time_axis(network: Adapter, shape: tuple[int, ...]) -> int:
    """The axis of inputs that is time."""
    long = [i for i, size in enumerate(shape) if size > 1]
    axes = long if len(long) < 2 else Asked(network, shape).axes
    if len(axes) != 1 < len(long):
        raise ValueError(
            f"inputs: found the shape {shape}, time along axes {axes}, expected one. Say which: time_axis=…."
        )
    return axes[0] if axes else 0
