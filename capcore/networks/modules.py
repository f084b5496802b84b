"""Networks for data of many examples."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from capcore.architectures.adapter import adapted
from capcore.architectures.adapter import from_torch as from_torch
from capcore.checks.arguments import library


def function_and_params(apply: Any, params: Any) -> tuple[Callable[[Any, Any], Any], Any]:
    """``(apply, params)`` of what :func:`~capcore.architectures.adapter.adapted` takes, with an axis for examples."""
    network = adapted(apply, params, "apply")
    if network.alone:
        return lambda one, x: library("jax").vmap(partial(network.apply, one))(x), network.params
    return network.apply, network.params


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
