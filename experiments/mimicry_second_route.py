"""Students and teachers of the chapter on mimicry by another route: ``python -m experiments.mimicry_second_route``.

Takes about seven minutes on one core and writes ``notebooks/results/mimicry_second_route.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from capcore import results
from capcore.studies.mimicry_second_route import COMMAND, PACKAGES, make_settings, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "mimicry_second_route.json"

if __name__ == "__main__":
    settings, entry = make_settings(), (run, make_settings)
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, entry, settings, lambda: run(settings, progress=True), packages=PACKAGES)
