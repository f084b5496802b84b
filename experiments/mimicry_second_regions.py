"""Random labels and linear regions of the chapter on mimicry by its second route.

``python -m experiments.mimicry_second_regions`` takes about two minutes on one core and writes
``notebooks/results/mimicry_second_regions.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from capcore import results
from capcore.studies.mimicry_second_regions import COMMAND, PACKAGES, make_settings, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "mimicry_second_regions.json"

if __name__ == "__main__":
    settings, entry = make_settings(), (run, make_settings)
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, entry, settings, lambda: run(settings, progress=True), packages=PACKAGES)
