"""Where L-BFGS-B stops, for Figure 4 of paper 1 and its Appendix B.2: ``python -m experiments.lbfgs_sweep``.

Takes about five minutes on one core and writes ``notebooks/results/lbfgs_sweep.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.hierarchical.lbfgs_sweep import COMMAND, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "lbfgs_sweep.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True))
