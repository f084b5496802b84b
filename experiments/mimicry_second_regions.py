"""Random labels and linear regions of the chapter on mimicry by its second route.

``python -m experiments.mimicry_second_regions`` takes about two minutes on one core and writes
``notebooks/results/mimicry_second_regions.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from capcore import results
from capcore.deep.mimicry import SETTINGS
from capcore.studies.mimicry_second_regions import COMMAND, MODULES, PACKAGES, run
from capcore.studies.mimicry_second_route import N_DRAWS

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "mimicry_second_regions.json"

if __name__ == "__main__":
    settings = {**SETTINGS, "n_draws": N_DRAWS, "first_route": True}
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, MODULES, settings, lambda: run(settings, progress=True), packages=PACKAGES)
