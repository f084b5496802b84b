"""Sweeps against a loop of papermill commands and a pool of processes: ``python -m benchmarks.sweeps [--quick]``.

All in one run, on the same notebook with the same settings: what counts are the ratios.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.__main__ import run
from benchmarks.measure import Row, best_of, environment
from chapters.five_families import experiment
from chapters.sweeps import engine
from chapters.sweeps.notebooks import notebook_path
from chapters.sweeps.rerun import execute

NOTEBOOK = "linear_systems"
SHORT = {"channels": 1, "n_layers": 2, "n_spaces": 2, "n_samples": 100}
MODEL = f"{experiment.__name__}:one_model"


def rows(quick: bool = False) -> Iterator[Row]:
    """Short runs of a chapter, three ways; then models alone, on one core and two; then what a run costs by itself."""
    settings = [{**SHORT, "seed": seed} for seed in range(2 if quick else 12)]
    ours, table = best_of(lambda: swept(NOTEBOOK, settings, 2))
    whole = table["error"].eq("").all() and len(table) == len(settings)
    few = settings[: 1 if quick else 3]
    theirs, _ = best_of(lambda: commands(few))
    scaled = len(settings) / len(few)
    work, well = f"{len(settings)} short runs of {NOTEBOOK}, two at once", "all ended well"
    yield Row(work, f"loop of papermill commands, {len(few)} scaled", ours, theirs * scaled, well, bool(whole))
    theirs, _ = best_of(lambda: pool(settings))
    yield Row("the same", "pool of two processes, papermill in each", ours, theirs, well, bool(whole))
    families = {"PowerLaw": {"exponent": [0.25, 0.5, 1.0, 2.0]}, "DampedCosine": {"period": [4.0, 8.0, 16.0, 32.0]}}
    wide = {
        "families": families,
        "n_layers": [6],
        "channels": [1, 2],
        "seeds": {"Hierarchical": list(range(1 if quick else 10))},
    }
    models = list(experiment.settings_of(wide))
    two, found = best_of(lambda: swept(MODEL, models, 2))
    one, expected = best_of(lambda: swept(MODEL, models, 1))
    same = found.drop(columns=["seconds", "memory_mb"]).equals(expected.drop(columns=["seconds", "memory_mb"]))
    yield Row(f"{len(models)} models of the chapter's sweep on two cores", "on one", two, one, "the same table", same)
    empty = [{"n_layers": 2, "channels": 1, "seed": seed} for seed in range(10 if quick else 100)]
    ours, table = best_of(lambda: swept(MODEL, empty, 1))
    inside = float(table["seconds"].sum())
    each = (ours - inside) / len(empty)
    yield Row(f"{len(empty)} models of four inputs", "what their functions take", ours, inside,
              f"{each * 1000:.0f} ms beside each run", each < 0.2)  # fmt: skip


def swept(target: str, settings: list[dict[str, Any]], workers: int) -> Any:
    """The table of a sweep into a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        return engine.sweep(target, settings, folder, workers=workers)


def commands(settings: list[dict[str, Any]]) -> None:
    """Papermill's command, once for each."""
    path = notebook_path(NOTEBOOK)
    with tempfile.TemporaryDirectory() as folder:
        for each in settings:
            given = [part for name, value in each.items() for part in ("-p", name, str(value))]
            command = [
                sys.executable,
                "-P",
                "-m",
                "papermill",
                str(path),
                f"{folder}/x.ipynb",
                "--cwd",
                str(path.parent),
            ]
            subprocess.run([*command, *given], check=True, capture_output=True)


def pool(settings: list[dict[str, Any]]) -> None:
    """Papermill in two processes of the standard library's pool."""
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(2, get_context("spawn")) as processes:
        list(processes.map(_one, settings, [f"{folder}/{number}.ipynb" for number in range(len(settings))]))


def _one(settings: dict[str, Any], target: str) -> None:
    execute(notebook_path(NOTEBOOK), Path(target), settings)


def main(arguments: list[str]) -> int:
    """Print the rows; 1 where one does not hold."""
    found = environment()
    os.environ["CAPCORE_FIGURES"] = "off"  # on all sides: rendering would be half of a short run
    print(f"{found['processor']}, {found['cores']} cores, load {found['load']}")
    return int(not all(row["holds"] for row in run(rows("--quick" in arguments))))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
