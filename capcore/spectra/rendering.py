"""Reports as text: tables for a terminal, comma-separated values and JSON; and the same of the WeightWatcher preset."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from capcore.spectra.report import SpectraReport, compare_spectra
from capcore.spectra.tensors import Checkpoint
from capcore.spectra.weightwatcher.details import weightwatcher_details, weightwatcher_summary

if TYPE_CHECKING:
    import pandas

COLUMNS: Mapping[str, str] = {
    "name": "layer", "rows": "rows", "columns": "cols", "n": "n",
    "alpha": "alpha", "alpha_low": "low", "alpha_high": "high", "null_low": "null low", "null_high": "null high",
    "n_tail": "n_tail", "x_min": "x_min", "distance": "KS", "p_value": "p", "favoured": "favoured",
    "log_spectral": "log λmax", "alpha_hat": "alpha hat", "stable_rank": "stable rank",
    "soft_rank": "soft rank", "n_spikes": "spikes",
}  # fmt: skip
"""Column of a report's table → heading on a terminal."""
OPTIONAL = ("alpha_low", "alpha_high", "null_low", "null_high", "p_value")
SUMMARY: Mapping[str, str] = {
    "model": "network", "n_layers": "layers", "n_fitted": "fitted", "n_failed": "failed", "n_skipped": "skipped",
    "mean_alpha": "mean alpha", "mean_alpha_hat": "mean alpha hat", "sum_alpha_hat": "sum alpha hat",
    "mean_log_frobenius": "log ‖W‖²", "mean_log_spectral": "log λmax", "mean_log_alpha_norm": "log alpha norm",
    "mean_stable_rank": "stable rank", "mean_soft_rank": "soft rank",
}  # fmt: skip
"""Metric of a network → heading on a terminal."""
PRESET = "WeightWatcher 0.7.7"
SHOWN = (
    "slice_id", "longname", "N", "M", "num_evals",
    "alpha", "xmin", "D", "sigma", "lambda_max", "alpha_weighted", "stable_rank",
)  # fmt: skip


def render(reports: Sequence[SpectraReport], form: str, *, summary: bool = False) -> str:
    """Reports as ``table``, ``csv`` or ``json``; with ``summary`` only one row per network.

    JSON is an object with ``reports``, of which each is what :meth:`~capcore.spectra.report.SpectraReport.to_dict`
    gives, without its spectra where only the summary is asked for. The other formats need pandas.
    """
    if form == "json":
        values = [report.to_dict() for report in reports]
        for value in values if summary else ():
            del value["spectra"]
        return _json({"reports": values})
    if form == "csv":
        if summary:
            return _csv(compare_spectra(reports))
        texts = [report.to_csv() for report in reports]
        return texts[0] + "".join(text.partition("\n")[2] for text in texts[1:])
    return "\n".join([*(_terminal(report, summary) for report in reports), _comparison(reports)])


def preset_text(checkpoints: Sequence[Checkpoint], form: str, *, pool: bool, summary: bool) -> tuple[str, int]:
    """WeightWatcher's numbers in the given format, and how many layers it calls failed. Needs pandas."""
    import pandas as pd

    tables = [weightwatcher_details(checkpoint, pool=pool) for checkpoint in checkpoints]
    failed = sum([*table.get("status", ())].count("failed") for table in tables)
    heads = [{"model": checkpoint.name, "sha256": checkpoint.sha256} for checkpoint in checkpoints]
    averages = [weightwatcher_summary(table) for table in tables]
    rows = pd.DataFrame([{**head, **values} for head, values in zip(heads, averages, strict=True)])
    if form == "json":
        networks = []
        for row, table in zip(_records(rows), tables, strict=True):
            head = {name: row.pop(name) for name in ("model", "sha256")}
            layers = {} if summary else {"details": _records(table)}
            networks.append({**head, "pool": pool, "summary": row, **layers})
        return _json({"preset": PRESET, "networks": networks}), failed
    if form == "csv":
        for head, table in zip(heads, tables, strict=True):
            for name in ("sha256", "model"):
                table.insert(0, name, head[name])
        return _csv(rows if summary else pd.concat(tables)), failed
    parts = [
        f"{head['model']}  (the numbers of {PRESET})\n" + _lined_up(table[[name for name in SHOWN if name in table]])
        for head, table in zip(heads, tables, strict=True)
        if not summary and len(table)
    ]
    return "\n\n".join([*parts, _lined_up(rows.drop(columns="sha256"))]) + "\n", failed


def _terminal(report: SpectraReport, summary: bool) -> str:
    frame = report.table()
    missing = [name for name in OPTIONAL if frame[name].isna().all()]
    shown = frame[frame["status"] == "ok"][[name for name in COLUMNS if name not in missing]].rename(columns=COLUMNS)
    lines = [f"{report.source.name}  (SHA-256 {report.source.sha256[:12]}…)"]
    if len(shown) and not summary:
        lines += [_lined_up(shown), ""]
    if report.failures:
        lines.append(f"Not analysed, and in no average: {len(report.failures)}")
        lines += [f"  {name}: {reason}" for name, reason in report.failures.items()]
    return "\n".join(lines) + "\n"


def _comparison(reports: Sequence[SpectraReport]) -> str:
    frame = compare_spectra(reports)
    if len(reports) > 1:
        return "Networks\n" + _lined_up(frame[[*SUMMARY]].rename(columns=SUMMARY)) + "\n"
    metrics = vars(reports[0].model)
    width = max(map(len, metrics))
    return "Network\n" + "".join(f"  {name:{width}}  {_number(value)}\n" for name, value in metrics.items())


def _lined_up(frame: pandas.DataFrame) -> str:
    """A table for a terminal, numbers to four digits."""
    return str(frame.to_string(index=False, float_format=_number, na_rep="–"))


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def _csv(frame: pandas.DataFrame) -> str:
    return str(frame.to_csv(index=False, lineterminator="\n"))


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _records(frame: pandas.DataFrame) -> list[dict[str, Any]]:
    """Rows as plain values, with None for numbers that are not finite."""
    rows: list[dict[str, Any]] = json.loads(frame.to_json(orient="records", double_precision=15))
    return rows
