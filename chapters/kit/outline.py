"""What a run gave, in one line: the keys of its dictionaries and the lengths of its lists."""

from __future__ import annotations

from typing import Any

SHOWN = 4
"""Keys of a dictionary that are named."""


def outline(values: Any) -> str:
    """The shape of nested dictionaries and lists of numbers; keys with the same beneath them are put together.

    >>> outline({"losses": {"1": [0.5, 0.25], "2": [0.5, 0.125]}, "right": True})
    '{losses: {1, 2: 2}, right: bool}'
    >>> outline([[[1, 2, 3], [4, 5, 6]], [[7], []]]), outline({str(i): [i] for i in range(9)})
    ('2 × …', '{0, 1, 2, 3, 5 more: 1}')
    """
    if isinstance(values, dict):
        keys_by_shape: dict[str, list[str]] = {}
        for key, value in values.items():
            keys_by_shape.setdefault(outline(value), []).append(str(key))
        return "{" + ", ".join(f"{_names(keys)}: {shape}" for shape, keys in keys_by_shape.items()) + "}"
    if not isinstance(values, list | tuple):
        return type(values).__name__
    nested = [value for value in values if isinstance(value, list | tuple | dict)]
    shapes = {outline(value) for value in nested}
    if not nested:
        return str(len(values))
    return f"{len(values)} × {shapes.pop() if len(shapes) == 1 and len(nested) == len(values) else '…'}"


def _names(keys: list[str]) -> str:
    rest = len(keys) - SHOWN
    return ", ".join(keys[:SHOWN] + ([f"{rest} more"] if rest > 0 else []))
