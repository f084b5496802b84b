"""Random starts of Gauss–Newton with and without rebalanced layers: ``python -m experiments.random_starts``.

Takes about five minutes on one core and writes ``notebooks/results/random_starts.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.hierarchical.random_starts import COMMAND, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "random_starts.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True))
