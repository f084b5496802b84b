"""Networks as libraries have them: each as a function of parameters and inputs, and its parameters.

Modules are taken whole, and copied. Those of PyTorch, Equinox, NNX and Keras have an evaluation mode, into which the
copy is put: it turns dropout off and lets batch normalisation use its running statistics.
"""

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from capcore.checks.arguments import library, of_kind
from capcore.checks.models import OTHERS, is_of_library, refuse_model


@dataclass(frozen=True, eq=False)
class TorchApply:
    """(params, inputs) → outputs of a PyTorch module, as :func:`from_torch` makes it; NumPy or torch arrays."""

    module: Any

    def __call__(self, params: Any, inputs: Any) -> Any:
        """Outputs."""
        torch = library("torch")
        tensors = {name: torch.as_tensor(value) for name, value in params.items()}
        return torch.func.functional_call(self.module, tensors, (torch.as_tensor(inputs),))


@dataclass(frozen=True, eq=False)
class Adapter:
    """A network of any library.

    Attributes
    ----------
    apply : callable
        (params, inputs) → outputs, both as the model has them.
    params : object
        A pytree; of PyTorch and Keras a mapping of names to arrays, in the model's order.
    restored : callable
        A tree like ``params`` → parameters as the library takes them back: ``load_state_dict``, ``set_weights``, …
    alone : bool
        Whether the model takes one example, without an axis for several.
    """

    apply: Callable[[Any, Any], Any]
    params: Any
    restored: Callable[[Any], Any] = lambda tree: tree
    alone: bool = False

    @property
    def module(self) -> Any:
        """The copy of a PyTorch module; None for others, which are JAX's."""
        return getattr(self.apply, "module", None)

    @property
    def all_params(self) -> Any:
        """Like ``params``, with those that a PyTorch module has frozen."""
        return (
            OrderedDict((n, w.detach().numpy()) for n, w in self.module.named_parameters())
            if self.module
            else self.params
        )

    @property
    def transforms(self) -> Any:
        """Where ``grad`` and ``vjp`` are."""
        return library("torch").func if self.module else library("jax")

    def array(self, values: Any) -> Any:
        """Values as the library's array."""
        return (library("torch").as_tensor if self.module else library("jax").numpy.asarray)(values)

    def calling(self) -> AbstractContextManager[Any]:
        """JAX in double precision, whatever its setting; PyTorch with operations that can be differentiated twice."""
        return plain_kernels() if self.module else library("jax").enable_x64(True)

    def output_shape(self, params: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the outputs for inputs of a shape.

        Raises
        ------
        TypeError
            If the model does not return one array of numbers in double precision.
        ValueError
            If it cannot be called with such inputs.
        """
        run = partial(self.apply, params)
        try:
            with self.calling(), warnings.catch_warnings(action="ignore"):
                out = run(np.ones(shape)) if self.module else library("jax").eval_shape(run, np.ones(shape))
        except Exception as error:  # whatever a model says of what it does not take
            said = str(error).strip()[:200] or type(error).__name__
            raise ValueError(
                f"inputs: found that shape {shape} fails: {said}, expected what the model takes."
            ) from error
        kind = str(getattr(out, "dtype", type(out).__name__))
        if not kind.endswith("float64"):
            raise TypeError(
                f"model: found {kind} returned, expected one array of float64. Select it, or make it with that."
            )
        return tuple(out.shape)


def adapted(model: Any, params: Any = None, name: str = "model") -> Adapter:
    """A network as a function and its parameters.

    Parameters
    ----------
    model : object
        A module of PyTorch, Flax (Linen or NNX), Equinox or Keras, or a JAX function (params, inputs) → outputs.
    params : object
        The function's parameters; the variables of a Linen module; None for those that a module has, or others in the
        form in which it gives them.
    name : str
        What messages call the model.

    Raises
    ------
    TypeError
        If the model is neither.
    ValueError
        If there are no parameters.
    """
    refuse_model(model, name)
    if hasattr(model, "stateless_call"):
        return _of_keras(model, params)
    if is_of_library(model, "torch", "Module"):
        apply, own = from_torch(model)
        return Adapter(apply, own if params is None else _in_order(params, own), partial(_state, apply.module))
    if any(kind.__module__.startswith("flax.nnx") for kind in type(model).__mro__):
        nnx = library("flax.nnx")
        copy = nnx.clone(model)
        copy.eval()
        graph, state = nnx.split(copy)
        return Adapter(lambda state, x: nnx.merge(graph, state)(x), state if params is None else params)
    if is_of_library(model, "equinox", "Module") and (params is None or type(params) is type(model)):
        module = library("equinox").nn.inference_mode(model if params is None else params)
        return Adapter(lambda module, x: module(x), module, alone=True)
    function = model.apply if is_of_library(model, "flax", "Module") else model
    of_kind(function, name, Callable, OTHERS)
    if params is None:
        raise ValueError("params: not given, expected a pytree of arrays: only modules that hold theirs do without.")
    return Adapter(function, params)


def from_torch(module: Any) -> tuple[TorchApply, dict[str, np.ndarray]]:
    """``(apply, params)`` of a PyTorch module, as :func:`~capcore.networks.allocation.allocate_network` takes them.

    Parameters
    ----------
    module : torch.nn.Module
        (N, …) → (N, …, K) or (N,). It is neither changed nor moved: the copy, in evaluation mode, is in double
        precision and in the main memory, whatever the module's device and type, such as bfloat16.

    Returns
    -------
    apply : callable
    params : dict
        Name of a parameter → array, in the module's order. Frozen ones (``requires_grad=False``) stay constants.

    Raises
    ------
    ModuleNotFoundError
        If PyTorch is not installed.
    """
    library("torch")
    copy = copied(getattr(module, "_orig_mod", module)).cpu()  # what torch.compile has wrapped
    for part in copy.modules():  # PyTorch's own kernel for norms of weights has first derivatives at most
        if type(part).__name__ == "_WeightNorm":  # of torch.nn.utils.parametrizations
            part.forward = partial(_weights, part.dim)
        for hook in part._forward_pre_hooks.values():
            if type(hook).__name__ == "WeightNorm":  # of the older torch.nn.utils.weight_norm
                hook.compute_weight = partial(_weights_of_hook, hook)
    params = OrderedDict((n, w.detach().numpy().copy()) for n, w in copy.named_parameters() if w.requires_grad)
    return TorchApply(copy), params


def copied(module: Any) -> Any:
    """A copy of a PyTorch module in double precision and evaluation mode.

    Tensors that are computed from parameters, as ``torch.nn.utils.weight_norm`` keeps them, cannot be copied by Python
    and are detached; they are computed anew when the copy is called.
    """
    tensors = [value for part in module.modules() for value in vars(part).values() if hasattr(value, "grad_fn")]
    detached = {id(tensor): tensor.detach().clone() for tensor in tensors if tensor.grad_fn is not None}
    return deepcopy(module, detached).double().eval()


def _weights(axis: int, sizes: Any, directions: Any) -> Any:
    """Weights of given sizes along an axis, −1 for one size in all, and directions (Salimans and Kingma, 2016)."""
    axes = [i for i in range(directions.dim()) if i != axis]
    return directions * (sizes / directions.square().sum(axes, keepdim=True).sqrt())


def _weights_of_hook(hook: Any, part: Any) -> Any:
    """The weight that a hook computes for a layer."""
    return _weights(hook.dim, getattr(part, f"{hook.name}_g"), getattr(part, f"{hook.name}_v"))


def _in_order(params: Any, own: Mapping[str, Any]) -> dict[str, Any]:
    """Those of ``params`` that a module calls its own, in its order."""
    if not isinstance(params, Mapping) or not {*own} <= {*params}:
        raise ValueError(f"params: found {type(params).__name__} beside a module, expected None or {', '.join(own)}.")
    return OrderedDict((name, params[name]) for name in own)


def _state(copy: Any, tree: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a module with other parameters."""
    copy.load_state_dict({name: library("torch").as_tensor(value) for name, value in tree.items()}, strict=False)
    return {name: value.clone() for name, value in copy.state_dict().items()}


def _of_keras(model: Any, params: Any) -> Adapter:
    """Of a model of Keras, with JAX or PyTorch behind it."""
    keras, kinds = library("keras"), {type(layer).__name__: type(layer) for layer in model._flatten_layers()}
    torch = library("torch") if keras.backend.backend() == "torch" else None
    types = library("keras.src.backend.common.dtypes").BIT64_TO_BIT32_DTYPE  # by which Keras narrows what it promotes
    try:
        with nullcontext() if torch else library("jax").enable_x64(True):
            copy = type(model).from_config(_widened(model.get_config()), custom_objects=kinds)
    except TypeError as error:
        said = "cannot be made again from its get_config()"
        raise TypeError(f"model: found that {type(model).__name__} {said}, expected what Keras can save.") from error
    given = model.get_weights() if params is None else params
    weights = {variable.path: value for variable, value in zip(model.weights, given, strict=True)}
    own = OrderedDict((variable.path, weights[variable.path]) for variable in model.trainable_variables)
    fixed = [weights.get(variable.path, variable.value) for variable in model.non_trainable_variables]

    def apply(tree: Any, x: Any) -> Any:
        with patch.dict(types, float64="float64"):
            return copy.stateless_call([*tree.values()], fixed, x, training=False)[0]

    def restored(tree: Any) -> list[Any]:
        return [tree.get(name, value) for name, value in weights.items()]

    if torch is None:
        return Adapter(apply, own, restored)
    module = torch.nn.Module()
    for name, value in own.items():
        module.register_parameter(name, torch.nn.Parameter(torch.as_tensor(value).double()))
    module.forward = lambda x: apply(dict(module.named_parameters()), x)
    return Adapter(TorchApply(module), own, restored)


def _widened(config: Any) -> Any:
    """A configuration of a model of Keras, in double precision."""
    if isinstance(config, Mapping):
        return {name: _widened(value) for name, value in config.items()}
    if isinstance(config, list | tuple):
        return type(config)(map(_widened, config))
    return "float64" if config == "float32" else config


@contextmanager
def plain_kernels() -> Iterator[None]:
    """PyTorch by its elementary operations meanwhile: attention's fast kernels have first derivatives at most."""
    torch = library("torch")
    from torch.nn.attention import SDPBackend, sdpa_kernel

    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
