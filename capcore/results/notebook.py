"""What a notebook shows of a result: a small table, and bars as an inline picture that needs no library."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import Any

import numpy as np

from capcore.results.representation import record_repr, short


def as_table(self: Any) -> str:
    """A record as an HTML table of its attributes; values are in short.

    >>> from capcore.spectra.norms import spectrum_norms
    >>> "<caption>Norms</caption>" in as_table(spectrum_norms(np.array([2.0, 1.0])))
    True
    """
    names = [field.name for field in fields(self) if field.name[0] != "_"]
    return table(type(self).__name__, {name: short(getattr(self, name)) for name in names})


class Record:
    """Parent of dataclasses (with ``repr=False``) that are shown in short: as a line, and in notebooks as a table."""

    __repr__ = record_repr
    _repr_html_ = as_table


def table(title: str, rows: Mapping[str, str]) -> str:
    """Names and texts as an HTML table."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(text)}</td></tr>"
        for name, text in rows.items()
    )
    return f"<table><caption>{escape(title)}</caption>{cells}</table>"


def frame(rows: Sequence[Mapping[str, str]], caption: str = "") -> str:
    """Rows of texts with the same names as an HTML table."""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = _line(rows[0], "th") if rows else ""
    body = "".join(_line(row.values(), "td") for row in rows)
    return f"<table class='dataframe'>{title}<thead>{head}</thead><tbody>{body}</tbody></table>"


def _line(cells: Iterable[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def bars(values: np.ndarray, label: str) -> str:
    """Bars (n,) as an inline picture in the colour of the text."""
    height, step = 40, 8
    top = max(float(values.max(initial=0.0)), 1e-300)
    shapes = "".join(
        f"<rect x='{i * step}' y='{height * (1 - v / top):.1f}' width='{step - 2}' height='{height * v / top:.1f}'/>"
        for i, v in enumerate(np.maximum(values, 0.0))
    )
    return (
        f"<svg role='img' aria-label='{escape(label)}' width='{step * len(values)}' height='{height}' "
        f"fill='currentColor'><title>{escape(label)}</title>{shapes}</svg>"
    )
