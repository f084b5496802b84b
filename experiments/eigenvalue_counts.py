"""Eigenvalues counted above their noise, for Figure 5 of paper 1: ``python -m experiments.eigenvalue_counts``.

Takes a few seconds and writes ``notebooks/results/eigenvalue_counts.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.hierarchical.eigenvalue_counts import COMMAND, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "eigenvalue_counts.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, run)
