"""Is the sharper ceiling reached in networks it was not tuned on? ``python -m experiments.crowded_new_starts``.

New starts, trained as those of the chapter on training, at the same stages. How many of the gaps are closed is reported
whatever it is. Takes some minutes on one core and writes ``notebooks/results/crowded_new_starts.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.along_training.stored_new_starts import COMMAND, PACKAGES, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "crowded_new_starts.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True), packages=PACKAGES)
