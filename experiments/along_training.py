"""All measures of 40 networks at eight stages of training: ``python -m experiments.along_training``.

Takes about ten minutes on one core and writes ``notebooks/results/along_training.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.along_training.experiment import COMMAND, PACKAGES, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "along_training.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True), packages=PACKAGES)
