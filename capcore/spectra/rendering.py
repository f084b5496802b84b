"""Reports as text: tables for a terminal, comma-separated values, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from capcore.spectra.report import SpectraReport, compare_spectra

if TYPE_CHECKING:
    import pandas

COLUMNS: Mapping[str, str] = {
    "name": "layer",
    "rows": "rows",
    "columns": "cols",
    "n": "n",
    "alpha": "alpha",
    "alpha_low": "low",
    "alpha_high": "high",
    "null_low": "null low",
    "null_high": "null high",
    "n_tail": "n_tail",
    "x_min": "x_min",
    "distance": "KS",
    "p_value": "p",
    "favoured": "favoured",
    "log_spectral": "log λmax",
    "alpha_hat": "alpha hat",
    "stable_rank": "stable rank",
    "soft_rank": "soft rank",
    "n_spikes": "spikes",
}
"""Column of a report's table → heading on a terminal."""
SUMMARY: Mapping[str, str] = {
    "model": "network",
    "n_layers": "layers",
    "n_fitted": "fitted",
    "n_failed": "failed",
    "n_skipped": "skipped",
    "mean_alpha": "mean alpha",
    "mean_alpha_hat": "mean alpha hat",
    "sum_alpha_hat": "sum alpha hat",
    "mean_log_frobenius": "log ‖W‖²",
    "mean_log_spectral": "log λmax",
    "mean_log_alpha_norm": "log alpha norm",
    "mean_stable_rank": "stable rank",
    "mean_soft_rank": "soft rank",
}
"""Metric of a network → heading on a terminal."""
OPTIONAL = ("alpha_low", "alpha_high", "null_low", "null_high", "p_value")


def render(reports: Sequence[SpectraReport], form: str, *, summary: bool = False) -> str:
    """Reports as ``table``, ``csv`` or ``json``; with ``summary`` only one row per network.

    JSON is an object with ``reports``, of which each is what :meth:`~capcore.spectra.report.SpectraReport.to_dict`
    gives, without its spectra where only the summary is asked for. The other formats need pandas.
    """
    if form == "json":
        values = [report.to_dict() for report in reports]
        for value in values if summary else ():
            del value["spectra"]
        return to_json({"reports": values})
    if form == "csv":
        if summary:
            return str(compare_spectra(reports).to_csv(index=False, lineterminator="\n"))
        texts = [report.to_csv() for report in reports]
        return texts[0] + "".join(text.partition("\n")[2] for text in texts[1:])
    return "\n".join([*(_terminal(report, summary) for report in reports), _comparison(reports)])


def to_json(value: Mapping[str, Any]) -> str:
    """One JSON text, with None for numbers that are not finite."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _terminal(report: SpectraReport, summary: bool) -> str:
    frame = report.table()
    missing = [name for name in OPTIONAL if frame[name].isna().all()]
    shown = frame[frame["status"] == "ok"][[name for name in COLUMNS if name not in missing]].rename(columns=COLUMNS)
    lines = [f"{report.source.name}  (SHA-256 {report.source.sha256[:12]}…)"]
    if not summary:
        lines += [lined_up(shown), ""] if len(shown) else []
    if report.failures:
        lines.append(f"Not analysed, and in no average: {len(report.failures)}")
        lines += [f"  {name}: {reason}" for name, reason in report.failures.items()]
    return "\n".join(lines) + "\n"


def _comparison(reports: Sequence[SpectraReport]) -> str:
    frame = compare_spectra(reports)
    if len(reports) > 1:
        return "Networks\n" + lined_up(frame[[*SUMMARY]].rename(columns=SUMMARY)) + "\n"
    metrics = vars(reports[0].model)
    width = max(map(len, metrics))
    return "Network\n" + "".join(f"  {name:{width}}  {_number(value)}\n" for name, value in metrics.items())


def lined_up(frame: pandas.DataFrame) -> str:
    """A table for a terminal, numbers to four digits."""
    return str(frame.to_string(index=False, float_format=_number, na_rep="–"))


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4g}"
