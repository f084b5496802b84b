"""What models of sets memorise and express: ``python -m experiments.capacity_vs_expressivity``.

Takes about ten minutes on one core and writes ``notebooks/results/capacity_vs_expressivity.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.capacity_vs_expressivity.set_experiment import COMMAND, PACKAGES, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "capacity_vs_expressivity.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True), packages=PACKAGES)
