"""The adding task with recurrent transitions of several scales: ``python -m experiments.recurrent_memory``.

Takes about twenty minutes on one core and writes ``notebooks/results/recurrent_memory.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.scaling_conjecture_recurrent.recurrent_memory import COMMAND, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "recurrent_memory.json"
PACKAGES = ("numpy", "scipy", "jax", "optax", "scikit-learn")

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True), packages=PACKAGES)
