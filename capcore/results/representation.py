"""Short representations of records: an array by its shape, a list by its length, in some two hundred characters.

Records take one of these from their parent, :class:`~capcore.results.notebook.Record`, or bind it in their class body.
"""

from dataclasses import fields
from typing import Any

import numpy as np

LONGEST = 200
"""Characters of a representation, about."""
PLAIN = 60
"""Characters of a field that is shown as it is."""


def short(value: Any) -> str:
    """A value in a few words.

    >>> short(np.zeros((3, 4))), short([1, 2]), short(list(range(99))), short(0.123456789)
    ('<3 × 4>', '[1, 2]', '<list of 99>', '0.123457')
    """
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, np.generic) and value.ndim == 0:
        return short(value.item())
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"<{' × '.join(map(str, value.shape))}>"
    if isinstance(value, str):
        return repr(value if len(value) <= PLAIN else value[: PLAIN - 1] + "…")
    if isinstance(value, list | tuple | dict | set | frozenset):
        plain = len(value) <= PLAIN and not any(hasattr(item, "__len__") and len(item) > PLAIN for item in value)
        text = repr(value) if plain else ""
        return text if 0 < len(text) <= PLAIN else f"<{type(value).__name__} of {len(value)}>"
    text = repr(value)
    return text if len(text) <= PLAIN and "\n" not in text else f"<{type(value).__name__}>"


def record_repr(self: Any) -> str:
    """The name of a record's class, and its fields in short."""
    shown = [f"{field.name}={short(getattr(self, field.name))}" for field in fields(self) if field.repr]
    text = ", ".join(shown)
    limit = LONGEST - len(type(self).__name__) - 2
    while len(text) > limit:
        shown.pop()
        text = ", ".join([*shown, "…"])
    return f"{type(self).__name__}({text})"
