"""The output of ``capcore spectra --preset weightwatcher``."""

from __future__ import annotations

import json
from collections.abc import Sequence

from capcore.spectra.rendering import lined_up, to_json
from capcore.spectra.tensors import Checkpoint
from capcore.spectra.weightwatcher import weightwatcher_details, weightwatcher_summary

NAME = "WeightWatcher 0.7.7"
SHOWN = (
    "longname",
    "N",
    "M",
    "num_evals",
    "alpha",
    "xmin",
    "D",
    "sigma",
    "lambda_max",
    "alpha_weighted",
    "stable_rank",
)


def preset_text(checkpoints: Sequence[Checkpoint], form: str, *, pool: bool, summary: bool) -> tuple[str, int]:
    """Text of the given format, and how many layers the tool calls failed. Needs pandas."""
    import pandas as pd

    tables = [weightwatcher_details(checkpoint, pool=pool) for checkpoint in checkpoints]
    averages = [weightwatcher_summary(table) if len(table) else {} for table in tables]
    failed = sum(int((table["status"] == "failed").sum()) for table in tables if len(table))
    heads = [{"model": checkpoint.name, "sha256": checkpoint.sha256} for checkpoint in checkpoints]
    rows = pd.DataFrame([{**head, **values} for head, values in zip(heads, averages, strict=True)])
    if form == "json":
        networks = []
        for head, table, row in zip(
            heads, tables, rows.drop(columns=["model", "sha256"]).itertuples(index=False), strict=True
        ):
            values = json.loads(pd.DataFrame([row._asdict()]).to_json(orient="records", double_precision=15))[0]
            layers = {} if summary else {"details": json.loads(table.to_json(orient="records", double_precision=15))}
            networks.append({**head, "pool": pool, "summary": values, **layers})
        return to_json({"preset": NAME, "networks": networks}), failed
    if form == "csv":
        for head, table in zip(heads, tables, strict=True):
            table.insert(0, "sha256", head["sha256"])
            table.insert(0, "model", head["model"])
        return str((rows if summary else pd.concat(tables)).to_csv(index=False, lineterminator="\n")), failed
    parts = [
        f"{head['model']}  (the numbers of {NAME})\n"
        + lined_up(table[[name for name in ("slice_id", *SHOWN) if name in table]])
        for head, table in zip(heads, tables, strict=True)
        if not summary and len(table)
    ]
    return "\n\n".join([*parts, lined_up(rows.drop(columns="sha256"))]) + "\n", failed
