"""Numbers for the prose of a notebook: published by a cell, cited in the text by the glue role."""

from __future__ import annotations

GLUE_PREFIX = "application/papermill.record/"  # of an output that no page shows, and that MyST-NB's glue role finds


def publish(**values: object) -> None:
    """Glue every value under its name, unseen; floats to nine digits, lists as "1, 2, 3", empty ones as "none".

    The output is the one of ``myst_nb.glue(name, value, display=False)``, without its second of imports. Outside a
    notebook there is no page to cite the values, and nothing happens.
    """
    from IPython.core.getipython import get_ipython

    if get_ipython() is None:
        return
    from IPython.core.formatters import format_display_data
    from IPython.display import publish_display_data

    for name, value in values.items():
        shown, metadata = format_display_data(_text(value))
        metadata["scrapbook"] = {"name": name, "mime_prefix": GLUE_PREFIX}
        publish_display_data({GLUE_PREFIX + kind: text for kind, text in shown.items()}, metadata)


def _text(value: object) -> object:
    """``value`` as it should stand in a sentence.

    >>> _text([1, 2]), _text([]), _text("x"), _text(3), _text(0.1 + 0.2)
    ('1, 2', 'none', 'x', 3, 0.3)
    """
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, float):
        return float(f"{value:.9g}")  # processors differ in the last digits of sixteen
    return (", ".join(map(str, value)) or "none") if isinstance(value, list | tuple) else value
