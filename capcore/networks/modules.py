"""Networks for data of many examples."""

from collections.abc import Callable
from functools import partial
from typing import Any

from capcore.architectures.adapter import TorchApply, adapted, from_torch, plain_kernels
from capcore.checks.arguments import library

__all__ = ["TorchApply", "from_torch", "function_and_params", "plain_kernels"]


def function_and_params(apply: Any, params: Any) -> tuple[Callable[[Any, Any], Any], Any]:
    """``(apply, params)`` of what :func:`~capcore.architectures.adapter.adapted` takes, with an axis for examples."""
    network = adapted(apply, params, "apply")
    if network.alone:
        return lambda one, x: library("jax").vmap(partial(network.apply, one))(x), network.params
    return network.apply, network.params
