"""Where L-BFGS-B stops on recurrent models, for Figure 10 of paper 1: ``python -m experiments.recurrent_lbfgs``.

Takes under a minute on one core and writes ``notebooks/results/recurrent_lbfgs.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.recurrent.recurrent_lbfgs import COMMAND, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "recurrent_lbfgs.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True))
