"""κ of models of sets on examples that are all different: ``python -m experiments.expressivity_ranks``.

Takes about three minutes on one core and writes ``notebooks/results/expressivity_ranks.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.capacity_vs_expressivity.set_experiment import PACKAGES
from chapters.capacity_vs_expressivity.set_ranks import COMMAND, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "expressivity_ranks.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True), packages=PACKAGES)
