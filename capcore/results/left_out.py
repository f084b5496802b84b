"""What a file does not hold of a result: functions, and what would be too large."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np

LARGEST = 2**28
"""Bytes up to which the parts are saved from which other capacities can still be computed after loading."""


@dataclass(frozen=True)
class LeftOut:
    """What a file does not hold: asking it for anything raises ``AttributeError`` with the reason."""

    reason: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"{name}: found a loaded result without what it needs: {self.reason}")


@dataclass(frozen=True, eq=False)
class Listed:
    """The capacities of a dense allocation whose bases were too large to save."""

    values: Mapping[str, Any] = field(repr=False)
    left_out: Mapping[str, str] = field(repr=False)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in vars(self).get("values", ()):
            return self.values[name]
        raise AttributeError(name)


def kept(value: Any) -> Any:
    """``value``, or what is kept of it: not what holds functions, nor what is too large."""
    kind = type(value).__name__
    if kind == "CapacityAllocation" and n_bytes(value) > LARGEST:
        return _listed(value)
    if kind == "NetworkAllocation":
        kept = {"_response": value._response, "_model": value._model, "_subspaces": value._subspaces}
        size, limit = n_bytes(list(kept.values())), LARGEST
        if value.method != "dense":
            reason = "the products of a sketch need the network, which no file can hold. Call allocate_network again."
            return replace(value, _response=LeftOut(reason))
        if size > limit:
            reason = f"the Hessian and its like take {size / 1e6:,.0f} MB, above the {limit / 1e6:,.0f} MB that a file "
            reason += "may take for them. Call allocate_network again, or ask for this before saving."
            return replace(value, **dict.fromkeys(("_response", "_model"), LeftOut(reason)), _subspaces={})
    return value


def _listed(found: Any) -> Listed:
    """The capacities of a dense allocation, without the bases behind them."""
    names = ("total", "generic_total", "input_dim", "per_input", "per_frequency", "frequencies")
    values = {name: getattr(found, name) for name in (*names, "per_eigenvector", "eigenvalues")}
    reason = f"its basis takes {n_bytes(found) / 1e6:,.0f} MB, above the {LARGEST / 1e6:,.0f} MB that a file may take "
    reason += "for it. Ask for this before saving, or allocate again."
    layers = {name: replace(layer, space=LeftOut(reason)) for name, layer in found.layers.items()}
    return Listed({**values, "layers": layers}, dict.fromkeys(("space", "covariance", "capacity"), reason))


def n_bytes(value: Any, seen: set[int] | None = None) -> int:
    """Bytes of all arrays in a value, each counted once.

    >>> one = np.zeros(4)
    >>> n_bytes({"a": [one, one], "b": (np.zeros(2), "text")})
    48
    """
    seen = set() if seen is None else seen
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_dataclass(value):
        value = [vars(value)[each.name] for each in fields(value) if each.name in vars(value)]
    if isinstance(value, Mapping):
        value = list(value.values())
    return sum(n_bytes(each, seen) for each in value) if isinstance(value, list | tuple) else 0
