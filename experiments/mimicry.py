"""A shallow student and its deep teacher: ``python -m experiments.mimicry``.

Takes about four minutes on one core and writes ``notebooks/results/mimicry.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.mimicry.mimicry_experiment import run
from chapters.mimicry.training import COMMAND, PACKAGES, SETTINGS

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "mimicry.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True), packages=PACKAGES)
