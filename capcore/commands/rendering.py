"""Reports as terminal tables, comma-separated values or JSON, also for the WeightWatcher preset."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from capcore.checkpoints.tensors import Checkpoint, shown
from capcore.commands.tables import as_json, finite, lined_up, number, separated
from capcore.spectra.densities import arrangement_of, matrices_of, unfit_reason
from capcore.spectra.layers import Skipped
from capcore.spectra.metrics import SpectrumMetrics
from capcore.spectra.options import SpectraOptions
from capcore.spectra.report import SpectraReport
from capcore.spectra.weightwatcher import PresetTable, averages

COLUMNS: Mapping[str, str] = {
    "name": "layer", "shape": "shape", "n": "n", "alpha": "alpha", "interval": "interval", "shuffled": "shuffled",
    "warning": "warning", "traps": "traps", "change": "change", "n_tail": "n_tail", "x_min": "x_min",
    "distance": "KS", "p_value": "p", "favoured": "favoured", "tpl_alpha": "TPL alpha", "tpl_rate": "TPL rate",
    "log_spectral": "log λmax", "alpha_hat": "alpha hat", "stable_rank": "stable rank", "soft_rank": "soft rank",
    "n_spikes": "spikes",
}  # fmt: skip
"""Column of a report's table → heading on a terminal."""
LATER = (
    "x_min", "favoured", "log_spectral", "stable_rank", "soft_rank", "shape", "distance", "n_tail", "n_spikes",
    "alpha_hat", "tpl_rate", "traps",
)  # fmt: skip
"""Columns in the order in which they are dropped on a narrow terminal."""
SUMMARY: Mapping[str, str] = {
    "model": "network", "n_layers": "layers", "n_fitted": "fitted", "n_failed": "failed", "n_skipped": "skipped",
    "mean_alpha": "mean alpha", "mean_alpha_hat": "mean alpha hat", "sum_alpha_hat": "sum alpha hat",
    "mean_log_frobenius": "log ‖W‖²", "mean_log_spectral": "log λmax", "mean_log_alpha_norm": "log alpha norm",
    "mean_stable_rank": "stable rank", "mean_soft_rank": "soft rank",
}  # fmt: skip
"""Metric of a network → heading on a terminal."""
PRESET = "WeightWatcher 0.7.7"
SHOWN = (
    "slice_id", "longname", "N", "M", "num_evals", "alpha", "xmin", "D", "sigma", "lambda_max", "alpha_weighted",
    "stable_rank", "mp_softrank", "num_spikes", "status", "warning",
)  # fmt: skip
LOW, HIGH, ENOUGH = 2.0, 6.0, 10
"""Exponents beyond which WeightWatcher warns, and the fewest draws for a meaningful range."""
Beside = Mapping[str, Mapping[str, float]]


def render(
    reports: Sequence[SpectraReport],
    form: str,
    *,
    summary: bool = False,
    beside: Sequence[Beside] = (),
    width: int | None = None,
) -> str:
    """Format reports as ``table``, ``csv`` or ``json``; with ``summary``, only one row per network.

    JSON is an object with a list ``reports``, whose entries come from
    :meth:`~capcore.spectra.report.SpectraReport.to_dict`, without spectra if only the summary is requested.
    ``beside`` : for each report, name of a spectrum → further columns, stored in JSON under that key. ``width`` : of
    the terminal.
    """
    beside = beside or [{}] * len(reports)
    if form == "json":
        values = [{**report.to_dict(), "beside": finite(more)} for report, more in zip(reports, beside, strict=True)]
        for value in values if summary else ():
            del value["spectra"], value["beside"]
        return as_json({"reports": values})
    if form == "csv":
        if summary:
            return separated([_head(report) | vars(report.model) for report in reports])
        pairs = zip(reports, beside, strict=True)
        return separated([_csv_row(row, more) for report, more in pairs for row in report.rows()])
    parts = [_terminal(report, more, summary, width) for report, more in zip(reports, beside, strict=True)]
    return "\n".join([*parts, _comparison(reports, width)])


def warning(alpha: float, low: float = math.nan, high: float = math.nan) -> str:
    """The warning for an exponent, with the reason, or an empty string.

    An exponent outside its own bootstrap interval says nothing about training, because the resamples have their tail
    elsewhere. low, high : ends of the interval; NaN if there is none.

    >>> warning(1.5), warning(3.0), warning(7.0, 2.1, 6.5)
    ('over-trained (< 2)', '', 'unstable tail')
    """
    if alpha < low or alpha > high:
        return "unstable tail"
    return f"over-trained (< {LOW:g})" if alpha < LOW else f"under-trained (> {HIGH:g})" if alpha > HIGH else ""


def as_shuffled(row: SpectrumMetrics) -> bool:
    """Whether a row's exponent lies within the range of the null, which must have enough draws."""
    return (row.n_null or 0) >= ENOUGH and row.null_low <= row.alpha <= row.null_high


def not_analysed(report: SpectraReport) -> dict[str, str]:
    """Name → reason for all weights without an exponent, including those that were not read."""
    return {**report.failures, **{part.name: part.reason for part in report.not_layers if part.weights}}


def described(checkpoint: Checkpoint, options: SpectraOptions, form: str, width: int | None = None) -> tuple[str, int]:
    """List what would be analysed, what not and why, and count the weights that would not. Computes nothing."""
    found = options.layers(checkpoint)
    rows: list[dict[str, Any]] = []
    left_out: list[Skipped] = []
    for layer in found.layers:
        kind = arrangement_of(layer, options.density)
        shape, count = matrices_of(layer, kind, options.density)
        if reason := unfit_reason(layer, options.density):
            left_out.append(Skipped(layer.name, layer.tensor.shape, reason, True))
            continue
        spectra = math.prod(layer.kernel) if kind == "slices" and layer.kernel else 1
        each = f"{count} of {shape[0]} × {shape[1]}" if count > 1 else f"{shape[0]} × {shape[1]}"
        row = {"name": layer.name, "kind": layer.kind, "shape": " × ".join(map(str, layer.tensor.shape))}
        stored = layer.tensor.stored or layer.tensor.dtype
        rows.append(row | {"stored": stored, "spectra": spectra, "matrices": each, "n": min(shape) * count})
    others = [*left_out, *found.skipped]
    failed = sum(part.weights for part in others)
    if form == "json":
        value = {"model": checkpoint.name, "layers": rows, "not_analysed": [asdict(part) for part in others]}
        return as_json(value), failed
    if form == "csv":
        told = [{"name": part.name, "reason": part.reason} for part in others]
        empty: dict[str, Any] = dict.fromkeys(("name", "kind", "shape", "stored", "spectra", "matrices", "n", "reason"))
        return separated([{"model": checkpoint.name, **empty, **row} for row in [*rows, *told]]), failed
    headings = {"name": "layer", "kind": "kind", "shape": "shape", "stored": "stored", "spectra": "spectra"}
    headings |= {"matrices": "matrices", "n": "eigenvalues"}
    text = f"{shown(checkpoint.name)}: {len(rows)} layers would be analysed\n"
    text += lined_up(rows, headings, width, ("stored", "spectra", "shape")) + "\n" if rows else ""
    alike: dict[str, list[str]] = {}
    for part in others:
        alike.setdefault(part.reason, []).append(part.name)
    for reason, names in alike.items():
        many = f"{len(names)} tensors, such as {names[0]}" if len(names) > 3 else ", ".join(names)
        text += f"Not analysed: {shown(many)}. {shown(reason)}\n"
    return text, failed


def preset_text(
    checkpoints: Sequence[Checkpoint],
    tables: Sequence[PresetTable],
    form: str,
    *,
    pool: bool,
    summary: bool,
    width: int | None = None,
) -> str:
    """Format WeightWatcher's numbers as ``table``, ``csv`` or ``json``."""
    heads = [{"model": checkpoint.name, "sha256": checkpoint.sha256} for checkpoint in checkpoints]
    means = [averages(table.rows) for table in tables]
    if form == "json":
        networks = [
            {**head, "pool": pool, "summary": finite(mean), **({} if summary else {"details": finite(table.rows)})}
            | {"left_out": dict(table.left_out)}
            for head, mean, table in zip(heads, means, tables, strict=True)
        ]
        return as_json({"preset": PRESET, "networks": networks})
    if form == "csv":
        if summary:
            return separated([{**head, **mean} for head, mean in zip(heads, means, strict=True)])
        rows = [{**head, **row} for head, table in zip(heads, tables, strict=True) for row in table.rows]
        return separated(rows or heads)
    parts = []
    for head, table in zip(heads, tables, strict=True):
        rows = [{**row, "warning": _told(row)} for row in table.rows]
        later = ("sigma", "stable_rank", "lambda_max", "xmin", "status", "D", "N", "M", "alpha_weighted")
        text = f"{shown(head['model'])}  (the numbers of {PRESET})\n"
        text += lined_up(rows, {name: name for name in SHOWN if name in rows[0]}, width, later) + "\n" if rows else ""
        left_out = _reasons("Left out, as WeightWatcher does silently", table.left_out)
        parts += [] if summary else [text + left_out]
    rows = [{"model": head["model"], **mean} for head, mean in zip(heads, means, strict=True)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return "\n".join([*parts, lined_up(rows, {name: name for name in names}, width, names[:3:-1]) + "\n"])


def _told(row: Mapping[str, Any]) -> str:
    """WeightWatcher's warning, with the reason for it."""
    failed = row["warning"] and row["status"] == "failed"
    return f"{row['warning']} (failed)" if failed else warning(row["alpha"])


def _head(report: SpectraReport) -> dict[str, Any]:
    return {"model": report.source.name, "sha256": report.source.sha256}


def _csv_row(row: Mapping[str, Any], beside: Beside) -> dict[str, Any]:
    return {**row, **beside.get(str(row["name"]), {})}


def _terminal(report: SpectraReport, beside: Beside, summary: bool, width: int | None) -> str:
    rows = []
    for row in report.spectra:
        if row.ok:
            more = beside.get(row.name, {})
            values = {
                **vars(row),
                **more,
                "warning": warning(row.alpha, row.alpha_low, row.alpha_high),
                "traps": _traps(more),
            }
            values["shape"] = f"{row.rows}×{row.columns}" + (f" ·{row.n_matrices}" if row.n_matrices > 1 else "")
            values["interval"] = _range(row.alpha_low, row.alpha_high)
            inside = "*" if as_shuffled(row) else ""
            rows.append(values | {"shuffled": _range(row.null_low, row.null_high) + inside})
    parts = [f"{shown(report.source.name)}  (SHA-256 {report.source.sha256[:12]}…)"]
    if rows and not summary:
        parts += [lined_up(rows, COLUMNS, width, LATER)]
        count = sum(map(as_shuffled, report.spectra))
        parts += [f"* within the range of shuffled weights: {count} of {len(rows)}"] if count else []
        parts += [line for line in (_economies(report),) if line]
    return "\n".join(parts) + "\n" + _reasons("Not analysed, and not in any average", not_analysed(report))


def _economies(report: SpectraReport) -> str:
    """Which computations were skipped or reduced for layers that are too large."""
    options, fitted, told = report.options, [row for row in report.spectra if row.ok], []
    if options.null and (few := sum((row.n_null or 0) == 2 < options.n_null for row in fitted)):
        told.append(f"2 draws of shuffled weights for {few} large spectra")
    if options.null and (none := sum(row.n_null is None for row in fitted)):
        told.append(f"no draws for {none} larger ones")
    if options.n_resamples and (wide := sum(math.isnan(row.alpha_low) for row in fitted)):
        told.append(f"no interval for {wide}")
    return "To save time: " + ", ".join(told) + "; --null-draws N and --bootstrap N compute them." if told else ""


def _reasons(head: str, reasons: Mapping[str, str]) -> str:
    lines = [f"  {shown(name)[:200]}: {shown(reason)[:500]}\n" for name, reason in reasons.items()]
    return f"{head}: {len(reasons)}\n" + "".join(lines) if reasons else ""


def _range(low: float, high: float) -> str:
    return "–" if math.isnan(low) else f"{low:.3g}–{high:.3g}"


def _traps(more: Mapping[str, float]) -> str:
    if math.isnan(more.get("traps", math.nan)):
        return "–"
    low, high = more["traps_low"], more["traps_high"]
    return f"{more['traps']:g}" if low == high else f"{more['traps']:g} ({low:g}–{high:g})"


def _comparison(reports: Sequence[SpectraReport], width: int | None) -> str:
    if len(reports) > 1:
        rows = [{"model": report.source.name, **vars(report.model)} for report in reports]
        return "Networks\n" + lined_up(rows, SUMMARY, width, [*SUMMARY][:5:-1]) + "\n"
    metrics = vars(reports[0].model)
    size = max(map(len, metrics))
    return "Network\n" + "".join(f"  {name:{size}}  {number(value)}\n" for name, value in metrics.items())
