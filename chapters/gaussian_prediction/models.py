"""The models that a notebook compares, as its ``channels`` parameter lists them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from capcore.architectures.hierarchical import Hierarchical


def models_by_channels(channels: Any, n_layers: int, kernel_size: Any = 2) -> dict[str, Hierarchical]:
    """Label → hierarchical model, for each entry of a list of channels (a number, or one number per hidden layer).

    Raises ``ValueError`` for something else than a non-empty list, and for entries no model can be made of.

    >>> list(models_by_channels([1, [2, 3]], n_layers=3))
    ['1 channel', '2, 3 channels']
    """
    if not isinstance(channels, Sequence) or isinstance(channels, str) or not channels:
        raise ValueError(f"channels: found {channels!r}, expected a non-empty list such as [1, 2, 4].")
    models = {}
    for entry in channels:
        name = ", ".join(map(str, entry)) if isinstance(entry, Sequence) and not isinstance(entry, str) else entry
        models[f"{name} channel{'' if entry == 1 else 's'}"] = Hierarchical(entry, n_layers, kernel_size)
    return models
