"""Write weightwatcher.json: what WeightWatcher itself says about checkpoints and about crafted layers.

Not a test and not run by the tests: it needs WeightWatcher and PyTorch, which the project does not depend on.

    python -m venv /tmp/reference
    /tmp/reference/bin/pip install weightwatcher==0.7.7 torch safetensors
    /tmp/reference/bin/python tests/spectra/goldens/make_weightwatcher.py ../shared/data/checkpoints

Takes some minutes, because the reference's Marchenko-Pastur fit rebuilds its kernel density at every step.
"""

import contextlib
import hashlib
import io
import json
import logging
import platform
import re
import sys
from importlib.metadata import version
from pathlib import Path
from runpy import run_path
from typing import Any

HERE = Path(__file__).parent
DETAILS = (
    *("N", "M", "rf", "num_evals", "alpha", "xmin", "xmax", "D", "sigma", "num_pl_spikes", "lambda_max"),
    *("norm", "log_norm", "spectral_norm", "log_spectral_norm", "alpha_weighted", "log_alpha_norm", "stable_rank"),
    *("matrix_rank", "entropy", "rank_loss", "weak_rank_loss", "sv_min", "status", "warning"),
    *("num_spikes", "sigma_mp", "mp_softrank", "W_scale", "bulk_min", "bulk_max"),
)
SLICE_DETAILS = ("alpha", "xmin", "D", "num_pl_spikes", "lambda_max", "log_alpha_norm")


def plain(value):
    """``value`` as JSON can hold it: 15 digits, NaN and infinities as text, None kept."""
    if value is None or isinstance(value, str):
        return value
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        return str(number)
    return int(number) if number.is_integer() and abs(number) < 1e9 else float(f"{number:.15g}")


def column_per_line(out):
    """JSON with every list on a line of its own."""
    text = json.dumps(out, indent=1, allow_nan=False)
    return re.sub(r"\[[^\[\]{}]*\]", lambda match: re.sub(r"\n\s*", "", match[0]), text)


def analyse(state, columns, **options):
    """Names, the given columns (one list each) and the summary of the reference's ``analyze``."""
    import weightwatcher as ww

    with contextlib.redirect_stdout(io.StringIO()):
        watcher = ww.WeightWatcher(log_level=logging.CRITICAL)
        details = watcher.analyze(model=state, savefig=False, **options)
        summary = watcher.get_summary(details)
    record: dict[str, Any] = {"name": list(details["longname"])}
    if not options.get("pool", True):
        record["slice_id"] = [int(i) for i in details["slice_id"]]
    record |= {column: [plain(value) for value in details[column].tolist()] for column in columns}
    record["summary"] = {key: plain(value) for key, value in summary.items()}
    return record


def main(folder):
    """Analyse every safetensors file below ``folder`` and the crafted layers, and write the goldens."""
    import numpy as np
    import torch
    from safetensors.torch import load_file

    packages = ("weightwatcher", "torch", "numpy", "scipy", "scikit-learn", "pandas", "powerlaw")
    out: dict[str, Any] = {
        "versions": {"python": platform.python_version()} | {name: version(name) for name in packages},
        "options": {"pooled": "analyze(mp_fit=True)", "slices": "analyze(pool=False)"},
        "checkpoints": {},
    }
    layers = run_path(str(HERE / "crafted.py"))["crafted_layers"]()
    state = {f"{name}.weight": torch.from_numpy(np.array(w)) for name, w in layers.items()}
    out["crafted"] = {
        "pooled": analyse(state, DETAILS, mp_fit=True),
        "slices": analyse(state, SLICE_DETAILS, pool=False),
    }
    for file in sorted(folder.rglob("*.safetensors")):
        print(file.stem, file=sys.stderr, flush=True)
        state = dict(load_file(file))
        entry = {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
        entry["pooled"] = analyse(state, DETAILS, mp_fit=True)
        if file.stem == "resnet20-12fca82f":
            entry["slices"] = analyse(state, SLICE_DETAILS, pool=False)
        out["checkpoints"][str(file.relative_to(folder))] = entry
    (HERE / "weightwatcher.json").write_text(column_per_line(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
