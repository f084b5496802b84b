"""Networks as libraries have them: each as a function of parameters and inputs, and its parameters.

Modules are taken whole, and copied. PyTorch, Equinox and NNX have an evaluation mode, into which the copy is put: it
turns dropout off and lets batch normalisation use its running statistics.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from capcore.architectures.own_model import copied
from capcore.checks.arguments import library, of_kind
from capcore.checks.models import is_flax_nnx, is_module, is_of_library


@dataclass(frozen=True, eq=False)
class TorchApply:
    """(params, inputs) → outputs of a PyTorch module, as :func:`from_torch` makes it; NumPy or torch arrays."""

    module: Any

    def __call__(self, params: Any, inputs: Any) -> Any:
        """Outputs."""
        torch = library("torch")
        tensors = {name: torch.as_tensor(value) for name, value in params.items()}
        return torch.func.functional_call(self.module, tensors, (torch.as_tensor(inputs),))


def from_torch(module: Any) -> tuple[TorchApply, dict[str, np.ndarray]]:
    """``(apply, params)`` of a PyTorch module, as :func:`~capcore.networks.allocation.allocate_network` takes them.

    Parameters
    ----------
    module : torch.nn.Module
        (N, …) → (N, K), (N, …, K) or (N,). It is neither changed nor moved: the copy, in evaluation mode, is in double
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
    copy = copied(getattr(module, "_orig_mod", module)).cpu().double()  # what torch.compile has wrapped
    for part in copy.modules():  # PyTorch's own kernel for norms of weights has first derivatives at most
        if type(part).__name__ == "_WeightNorm":  # of torch.nn.utils.parametrizations
            part.forward = partial(_weights, part.dim)
        for hook in part._forward_pre_hooks.values():
            if type(hook).__name__ == "WeightNorm":  # of the older torch.nn.utils.weight_norm
                hook.compute_weight = partial(_weights_of_hook, hook)
    params = {n: w.detach().numpy().copy() for n, w in copy.named_parameters() if w.requires_grad}
    return TorchApply(copy), params


def _weights(axis: int, sizes: Any, directions: Any) -> Any:
    """Weights of given sizes along an axis, −1 for one size in all, and directions (Salimans and Kingma, 2016)."""
    axes = [i for i in range(directions.dim()) if i != axis]
    return directions * (sizes / directions.square().sum(axes, keepdim=True).sqrt())


def _weights_of_hook(hook: Any, part: Any) -> Any:
    """The weight that a hook computes for a layer."""
    return _weights(hook.dim, getattr(part, f"{hook.name}_g"), getattr(part, f"{hook.name}_v"))


def function_and_params(apply: Any, params: Any) -> tuple[Callable[[Any, Any], Any], Any]:
    """``(apply, params)`` of a module that is given whole, or the two as they are.

    Parameters
    ----------
    apply : object
        A function (params, inputs) → outputs; a module of PyTorch, of Flax (Linen or NNX) or of Equinox.
    params : object
        The function's parameters; the variables of a Linen module; None for those that a module has, or others in the
        form in which PyTorch names them.

    Raises
    ------
    TypeError
        If ``apply`` is neither.
    ValueError
        If there are no parameters.
    """
    if is_module(apply):
        function, own = from_torch(apply)
        return function, own if params is None else _in_order(params, own)
    flax = is_of_library(apply, "flax", "Module")
    if flax and is_flax_nnx(apply):
        nnx = library("flax.nnx")
        copy = nnx.clone(apply)
        copy.eval()
        graph, state = nnx.split(copy)
        return lambda state, x: nnx.merge(graph, state)(x), state if params is None else params
    if is_of_library(apply, "equinox", "Module") and (params is None or type(params) is type(apply)):
        module = library("equinox").nn.inference_mode(apply if params is None else params)
        return lambda module, x: library("jax").vmap(module)(x), module
    apply = apply.apply if flax else apply
    of_kind(apply, "apply", Callable, "a module or a function (params, inputs)")
    if params is None:
        raise ValueError(
            "params: not given, expected a pytree of arrays. Only modules of PyTorch, NNX and Equinox have their own."
        )
    return apply, params


def _in_order(params: Any, own: Mapping[str, Any]) -> dict[str, Any]:
    """``params`` in the order of a module's own."""
    if not isinstance(params, Mapping) or set(params) != set(own):
        raise ValueError(f"params: found {type(params).__name__} beside a module, expected None or {', '.join(own)}.")
    return {name: params[name] for name in own}


def plain(values: Any) -> Any:
    """A tensor of PyTorch, on any device and of any type, as an array; other values as they are."""
    if not hasattr(values, "detach"):
        return values
    copy = values.detach().cpu()
    return (copy.double() if copy.is_floating_point() else copy).numpy()


def gathered(batches: Any) -> tuple[Any, Any]:
    """Inputs and targets of all batches (inputs, targets), such as those of a ``DataLoader``, which is read once."""
    pairs = [(plain(x), plain(y)) for x, y in batches]
    if not pairs:
        raise ValueError("inputs: found no batch, expected pairs (inputs, targets). Give a new generator.")
    return np.concatenate([x for x, _ in pairs]), np.concatenate([y for _, y in pairs])


@contextmanager
def plain_kernels(module: Any) -> Iterator[None]:
    """PyTorch by its elementary operations meanwhile: its fast kernels have first derivatives at most.

    These are attention's, and oneDNN's recurrent layers, which it takes in single precision.
    """
    torch = library("torch")
    from torch.nn.attention import SDPBackend, sdpa_kernel

    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with ExitStack() as stack:
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
            if any(isinstance(part, torch.nn.RNNBase) for part in module.modules()):
                stack.enter_context(warnings.catch_warnings())
                warnings.filterwarnings("ignore", "TF32")  # of graphics processors that there are not
                stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
