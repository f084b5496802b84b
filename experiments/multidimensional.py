"""Capacity per position with 1, 2, 4 and 16 components: ``python -m experiments.multidimensional``.

Takes about ten minutes on one core and writes ``notebooks/results/multidimensional.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.multidimensional.study import COMMAND, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "multidimensional.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True))
