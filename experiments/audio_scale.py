"""Capacity at audio length for several channels, processes and lengths, and the paper's method as far as it goes.

``python -m experiments.audio_scale`` writes notebooks/results/audio_scale.json, in about ten minutes on two cores.
"""

from __future__ import annotations

from pathlib import Path

from chapters import stored as results
from chapters.audio_scale.study import COMMAND, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "audio_scale.json"

if __name__ == "__main__":
    results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True))
