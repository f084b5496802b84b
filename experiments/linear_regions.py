"""Linear regions of networks that learn digits: ``python -m experiments.linear_regions``.

Takes about a minute on one core and writes ``notebooks/results/linear_regions.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.linear_regions.region_training import COMMAND, PACKAGES, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "linear_regions.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, run, packages=PACKAGES)
