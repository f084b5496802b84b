"""What becomes of the layers of six small networks on five seeds: ``python -m experiments.layer_seeds``.

Takes about 40 seconds on one core and writes ``notebooks/results/layer_seeds.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.spectra.layer_outcomes import COMMAND, PACKAGES, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "layer_seeds.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True), packages=PACKAGES)
