"""How long transport takes at scale 1/L: ``python -m experiments.residual_delay``.

Takes about five minutes on one core and writes ``notebooks/results/residual_delay.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.scaling_conjecture.experiment import PACKAGES
from chapters.scaling_conjecture.residual_delay import COMMAND, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "residual_delay.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True), packages=PACKAGES)
