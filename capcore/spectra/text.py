"""A report as text: one row for each spectrum, aligned for a terminal, and below it what has to be said in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from capcore.checkpoints.tensors import shown
from capcore.results.text_table import text_table
from capcore.spectra.metrics import SpectrumMetrics

if TYPE_CHECKING:
    from capcore.spectra.results import SpectraReport

NONE = "–"
LOW, HIGH = 2.0, 6.0
"""Exponents beyond which WeightWatcher warns."""
UNLIKELY = 0.05
"""p-value up to which an exponent counts as different from its null."""
COLUMNS = {
    "name": "layer", "shape": "shape", "n": "n", "alpha": "alpha", "interval": "interval", "null_range": "null range",
    "null_p_value": "null p", "null_drawn": "null", "warning": "warning", "traps": "traps", "change": "change",
    "n_tail": "n_tail", "favoured": "favoured", "x_min": "x_min", "distance": "KS", "p_value": "p",
    "tpl_alpha": "TPL alpha", "tpl_rate": "TPL rate", "log_spectral": "log λmax", "alpha_hat": "alpha hat",
    "stable_rank": "stable rank", "soft_rank": "soft rank", "n_spikes": "spikes",
}  # fmt: skip
"""Column of a report's table → heading on a terminal."""


def number(value: Any) -> str:
    """Format a value with four significant digits; a missing one becomes a dash.

    >>> number(3.14159), number(None), number("fc")
    ('3.142', '–', 'fc')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NONE
    return f"{value:.4g}" if isinstance(value, float) else shown(value)


def lined_up(
    rows: Sequence[Mapping[str, Any]], headings: Mapping[str, str], width: int | None = None, keep: int | None = None
) -> str:
    """Align rows as a table: first column to the left, the others to the right, empty columns left out.

    Parameters
    ----------
    rows : sequence of mapping
        Values by column.
    headings : mapping
        Column → its heading.
    width : int, optional
        Width of the terminal. If the table is wider, columns are dropped one by one from the right, and named below
        the table. If that does not suffice, the first column is shortened in the middle.
    keep : int, optional
        So many headings are never dropped; by default none is.

    Examples
    --------
    >>> print(lined_up([{"name": "fc", "n": 12}], {"name": "layer", "n": "n"}))
    layer   n
    fc     12
    """
    columns = {key: [number(row.get(key)) for row in rows] for key in headings}
    first = next(iter(columns))
    columns = {key: cells for key, cells in columns.items() if key == first or {*cells} - {NONE, ""}}
    sizes = {key: max(map(len, [headings[key], *cells])) + 2 for key, cells in columns.items()}
    limit = (width or sum(sizes.values())) + 2
    left_out = []
    for key in [*headings][keep or len(headings) :][::-1]:
        if sum(sizes.values()) > limit and sizes.pop(key, 0):
            left_out.append(headings[key])
    room = max(16, limit - 2 - sum(sizes[key] for key in sizes if key != first))
    cells = {key: [shortened(cell, room) if key == first else cell for cell in columns[key]] for key in sizes}
    text = text_table([*zip(*cells.values(), strict=True)], [headings[key] for key in sizes])
    return text + ("\nWider terminals and --format csv also show: " + ", ".join(left_out) + "." if left_out else "")


def shortened(text: str, room: int) -> str:
    """Replace the middle of a text that is longer than ``room`` letters.

    >>> shortened("encoder.layer.0.output.dense", 17)
    'encoder.…ut.dense'
    """
    half = (room - 1) // 2
    return text if len(text) <= room else f"{text[: room - 1 - half]}…{text[len(text) - half :]}"


def warning(alpha: float, low: float = math.nan, high: float = math.nan, p_value: float = 0.0) -> str:
    """The warning for an exponent, with the reason, or an empty string.

    An exponent outside its own bootstrap interval says nothing about training, because the resamples have their tail
    elsewhere. Neither does one that shuffled weights have as well, or that was not compared with them.

    low, high : ends of the interval; NaN if there is none. p_value : of the exponent among those of the null, or NaN.

    >>> warning(1.5), warning(3.0), warning(7.0, 2.1, 6.5), warning(7.0, p_value=0.59)
    ('over-trained (< 2)', '', 'unstable tail', '')
    """
    if alpha < low or alpha > high:
        return "unstable tail"
    if not p_value <= UNLIKELY:
        return ""
    return f"over-trained (< {LOW:g})" if alpha < LOW else f"under-trained (> {HIGH:g})" if alpha > HIGH else ""


def text_row(row: SpectrumMetrics) -> dict[str, Any]:
    """The metrics of a spectrum, and the ``COLUMNS`` that are put in words."""
    traps = _range(row.traps_low, row.traps_high)
    traps = f"{row.traps:g}" + (f" ({traps})" if row.traps_low != row.traps_high else "")
    return {
        **vars(row),
        "shape": f"{row.rows}×{row.columns}" + (f" ·{row.n_matrices}" if row.n_matrices > 1 else ""),
        "interval": _range(row.alpha_low, row.alpha_high),
        "null_range": _range(row.null_low, row.null_high),
        "warning": warning(row.alpha, row.alpha_low, row.alpha_high, row.null_p_value),
        "traps": NONE if math.isnan(row.traps) else traps,
    }


def _range(low: float, high: float) -> str:
    return NONE if math.isnan(low) else f"{low:.3g}–{high:.3g}"


def report_text(report: SpectraReport, *, summary: bool = False, width: int | None = None) -> str:
    """The table of a report, without the metrics of the network. With ``summary``, only what was not analysed.

    width : of the terminal.
    """
    rows = [text_row(row) for row in report.spectra if row.ok]
    parts = [f"{shown(report.source.name)}  (SHA-256 {report.source.sha256[:12]}…)"]
    if rows and not summary:
        parts += [lined_up(rows, COLUMNS, width, 8), *remarks(report)]
    return "\n".join(parts) + "\n" + reasons("Not analysed, and not in any average", report.not_analysed)


def remarks(report: SpectraReport) -> list[str]:
    """What the null says of all rows together, and which computations were left out."""
    rows = [row for row in report.spectra if row.ok]
    judged = [row for row in rows if not math.isnan(row.null_p_value)]
    sentences = []
    if judged:
        unlike = sum(row.null_p_value <= UNLIKELY for row in judged)
        expected = f"{sum(_attainable(row.n_null or 0) for row in judged):.2g}"
        sentences.append(f"null p ≤ {UNLIKELY}: {unlike} of {len(judged)} spectra, where chance gives about {expected}")
    wide = sum(math.isnan(row.alpha_low) for row in rows) if report.options.n_resamples else 0
    if wide:
        sentences.append(f"To save time, no interval for {wide} large spectra; --bootstrap N computes them.")
    return sentences


def _attainable(n: int) -> float:
    """Probability of a p-value up to ``UNLIKELY`` by chance: with n draws it is a multiple of 2/(n + 1)."""
    return 2 * math.floor(UNLIKELY * (n + 1) / 2) / (n + 1)


def network_text(report: SpectraReport) -> str:
    """The metrics of a network, one a line."""
    metrics = vars(report.model)
    size = max(map(len, metrics))
    return "Network\n" + "".join(f"  {name:{size}}  {number(value)}\n" for name, value in metrics.items())


def reasons(head: str, by_name: Mapping[str, str]) -> str:
    """List names with the reason for each, below a heading with their number; empty if there are none."""
    lines = [f"  {shown(name)[:200]}: {shown(reason)[:500]}\n" for name, reason in by_name.items()]
    return f"{head}: {len(by_name)}\n" + "".join(lines) if by_name else ""
