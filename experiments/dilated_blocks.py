"""Long fits of tiled and repeated dilated blocks: ``python -m experiments.dilated_blocks``.

Takes about half an hour on two cores and writes ``notebooks/results/dilated_blocks.json``.
"""

from __future__ import annotations

import os
from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.dilated_blocks.study import COMMAND, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "dilated_blocks.json"

if __name__ == "__main__":
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True, workers=os.cpu_count() or 1))
