"""Reports as terminal tables, comma-separated values or JSON, also for the WeightWatcher preset."""

import csv
import io
import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from capcore.checkpoints.tensors import Checkpoint, shown
from capcore.spectra.densities import arrangement_of, matrices_of, names_of, unfit_reason
from capcore.spectra.layers import Skipped
from capcore.spectra.options import SpectraOptions
from capcore.spectra.results import SpectraReport, finite
from capcore.spectra.text import lined_up, network_text, reasons, report_text
from capcore.spectra.weightwatcher import AVERAGED, PresetTable, averages, preset_table

SUMMARY = {
    "model": "network", "n_layers": "layers", "n_fitted": "fitted", "n_failed": "failed", "n_skipped": "skipped",
    "mean_alpha": "mean alpha", "mean_alpha_hat": "mean alpha hat", "sum_alpha_hat": "sum alpha hat",
    "mean_log_frobenius": "log ‖W‖²", "mean_log_spectral": "log λmax", "mean_log_alpha_norm": "log alpha norm",
    "mean_stable_rank": "stable rank", "mean_soft_rank": "soft rank",
}  # fmt: skip
"""Metric of a network → heading on a terminal."""
PRESET = "WeightWatcher 0.7.7"
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet takes for a formula."""
SHOWN = (
    "longname", "slice_id", "num_evals", "alpha", "warning", "layer_id", "mp_softrank", "num_spikes", "alpha_weighted",
    "M", "N", "D", "status", "xmin", "lambda_max", "stable_rank", "sigma", "name",
)  # fmt: skip


def render(reports: Sequence[SpectraReport], form: str, *, summary: bool = False, width: int | None = None) -> str:
    """Format reports as ``table``, ``csv`` or ``json``; with ``summary``, only one row per network.

    JSON is an object with a list ``reports``, whose entries come from
    :meth:`~capcore.spectra.results.SpectraReport.to_dict`, without spectra if only the summary is requested.
    ``width`` : of the terminal.
    """
    heads = [{"model": r.source.name, "sha256": r.source.sha256, **vars(r.model)} for r in reports]
    if form == "json":
        values = [report.to_dict() for report in reports]
        for value in values if summary else ():
            del value["spectra"]
        return as_json({"reports": values})
    if form == "csv":
        return separated(heads if summary else [row for report in reports for row in report.rows()])
    parts = [report_text(report, summary=summary, width=width) for report in reports]
    compared = f"Networks\n{lined_up(heads, SUMMARY, width, 6)}\n"
    return "\n".join([*parts, compared if len(reports) > 1 else network_text(reports[0])])


def description(
    networks: Sequence[Checkpoint], options: SpectraOptions, form: str, width: int | None = None
) -> tuple[str, int, list[int]]:
    """List what would be analysed, what not and why. Computes nothing.

    Returns the text, the number of weights that would not be analysed, and that of the layers of each network.
    """
    planned = [_planned(network, options) for network in networks]
    failed = sum(part.weights for _, others in planned for part in others)
    counts = [len(rows) for rows, _ in planned]
    if form == "table":
        parts = zip(networks, planned, strict=True)
        return "\n".join(_description(network.name, *plan, width) for network, plan in parts), failed, counts
    lines = []
    for network, (rows, others) in zip(networks, planned, strict=True):
        not_analysed = [{"name": part.name, "reason": part.reason} for part in others]
        lines += [{"model": network.name, **row} for row in [*rows, *not_analysed]]
    return as_json({"layers": lines}) if form == "json" else separated(lines), failed, counts


def _planned(checkpoint: Checkpoint, options: SpectraOptions) -> tuple[list[dict[str, Any]], list[Skipped]]:
    """A row for each layer that would be analysed, and all other tensors."""
    layers = options.layers(checkpoint)
    rows, others = [], [*layers.skipped]
    for layer in layers.layers:
        if reason := unfit_reason(layer, options.density):
            others.append(Skipped(layer.name, layer.tensor.shape, reason, True))
            continue
        kind = arrangement_of(layer, options.density)
        shape, count = matrices_of(layer, kind, options.density)
        size = f"{count} of {shape[0]} × {shape[1]}" if count > 1 else f"{shape[0]} × {shape[1]}"
        row = {"name": layer.name, "kind": layer.kind, "matrices": size, "eigenvalues": min(shape) * count}
        row |= {"shape": " × ".join(map(str, layer.tensor.shape)), "spectra": len(names_of(layer, kind))}
        rows.append(row | {"stored": layer.tensor.stored or layer.tensor.dtype})
    return rows, others


def _description(name: str, rows: list[dict[str, Any]], others: list[Skipped], width: int | None) -> str:
    headings = {column: column for column in rows[0]} | {"name": "layer"} if rows else {}
    table = lined_up(rows, headings, width, 4) + "\n" if rows else ""
    text = f"{shown(name)}: {len(rows)} layer{'s' * (len(rows) != 1)} would be analysed\n{table}"
    return text + reasons("Not analysed", {part.name: part.reason for part in others})


def preset(networks: Sequence[Checkpoint], arguments: Namespace) -> tuple[str, int, list[int]]:
    """WeightWatcher's numbers as text, the number of layers that failed or are left out, and those of rows."""
    pool = arguments.arrangement != "slices"
    settings = {name: getattr(arguments, name) for name in ("mp_fit", "workers", "progress")}
    tables = [preset_table(network, pool=pool, **settings) for network in networks]
    failed = sum(len(t.left_out) + sum(row["status"] == "failed" for row in t.rows) for t in tables)
    return _preset_text(networks, tables, arguments, pool), failed, [len(table.rows) for table in tables]


def _preset_text(
    networks: Sequence[Checkpoint], tables: Sequence[PresetTable], arguments: Namespace, pool: bool
) -> str:
    form, summary, width = arguments.format, arguments.summary, arguments.width
    heads = [{"model": network.name, "sha256": network.sha256} for network in networks]
    means = [averages(table.rows) for table in tables]
    averaged = [head | mean for head, mean in zip(heads, means, strict=True)]
    named = [*zip(heads, tables, strict=True)]
    if form == "json":
        written = [
            {**head, "pool": pool, "summary": mean, "details": table.rows, "left_out": table.left_out}
            for (head, table), mean in zip(named, means, strict=True)
        ]
        for network in written if summary else ():
            del network["details"]
        return as_json(finite({"preset": PRESET, "networks": written}))
    if form == "csv":
        rows = [{**head, **row} for head, table in named for row in table.rows]
        return separated(averaged if summary else rows or heads)
    parts = []
    for head, table in () if summary else named:
        text = f"{shown(head['model'])}  (the numbers of {PRESET})\n"
        text += lined_up(table.rows, {name: name for name in SHOWN}, width, 8) + "\n" if table.rows else ""
        parts.append(text + reasons("Left out, as WeightWatcher does silently", table.left_out))
    headings = {name: name for name in ("model", *AVERAGED)}
    return "\n".join([*parts, lined_up(averaged, headings, width, 4) + "\n"])


def separated(rows: Sequence[Mapping[str, Any]]) -> str:
    """Comma-separated values with a header line. Numbers keep all digits, and missing values are empty.

    Texts that a spreadsheet would take for a formula begin with an apostrophe.

    >>> separated([{"name": "fc", "alpha": 0.1, "p": None}])
    'name,alpha,p\\nfc,0.1,\\n'
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items() if value == value} for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def as_json(value: Mapping[str, Any]) -> str:
    """Format as JSON, which has no NaN (RFC 8259)."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
