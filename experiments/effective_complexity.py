"""Measures of 140 networks that learn digits: ``python -m experiments.effective_complexity``.

Takes about a minute on one core and writes ``notebooks/results/effective_complexity.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.effective_complexity.stored_complexity import COMMAND, PACKAGES, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "effective_complexity.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True), packages=PACKAGES)
