"""Numbers for the prose of a notebook: published by a cell, cited in the text by the glue role."""

from __future__ import annotations


def publish(**values: object) -> None:
    """Glue every value under its name, unseen; numbers as they are, lists as "1, 2, 3", empty ones as "none".

    Outside a notebook there is no page to cite them, and nothing happens.
    """
    from IPython.core.getipython import get_ipython

    if get_ipython() is None:
        return
    from myst_nb import glue

    for name, value in values.items():
        glue(name, _text(value), display=False)


def _text(value: object) -> object:
    """``value`` as it should stand in a sentence.

    >>> _text([1, 2]), _text([]), _text("x"), _text(3)
    ('1, 2', 'none', 'x', 3)
    """
    value = value.tolist() if hasattr(value, "tolist") else value
    return (", ".join(map(str, value)) or "none") if isinstance(value, list | tuple) else value
