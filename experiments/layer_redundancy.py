"""Redundant weights and layers frozen before training: ``python -m experiments.layer_redundancy``.

Takes about ten minutes on one core and writes ``notebooks/results/layer_redundancy.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.layer_redundancy.study import COMMAND, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "layer_redundancy.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True))
