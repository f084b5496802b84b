"""Where the rank misses its ceiling in networks of the chapter on training: ``python -m experiments.crowded_units``.

Takes about six minutes on one core and writes ``notebooks/results/crowded_units.json``. Reads from
``notebooks/results/along_training.json`` which states these are.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.along_training.stored_crowded import COMMAND, PACKAGES, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "crowded_units.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True), packages=PACKAGES)
