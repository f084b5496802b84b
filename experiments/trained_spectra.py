"""Weight spectra and accuracies of 324 small networks: ``python -m experiments.trained_spectra``.

Takes about five minutes on one core and writes ``notebooks/results/trained_spectra.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.spectra_training.trained_spectra import COMMAND, PACKAGES, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "trained_spectra.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True), packages=PACKAGES)
