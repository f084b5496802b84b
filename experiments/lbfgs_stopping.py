"""Where L-BFGS-B stops, and what that does to Figure 6 of paper 1: ``python -m experiments.lbfgs_stopping``.

Takes about five minutes on one core and writes ``notebooks/results/lbfgs_stopping.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.hierarchical_errors.lbfgs_stopping import COMMAND, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "lbfgs_stopping.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True))
