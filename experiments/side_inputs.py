"""Side inputs and biases at several scales and depths: ``python -m experiments.side_inputs``.

Takes about twenty minutes on one core and writes ``notebooks/results/side_inputs.json``.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import jax
from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.scaling_conjecture_side_inputs.side_experiment import COMMAND, PACKAGES, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "side_inputs.json"

if __name__ == "__main__":
    with threadpool_limits(1), TemporaryDirectory() as cache:
        jax.config.update("jax_compilation_cache_dir", cache)  # networks that differ in a scale are compiled once
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True), packages=PACKAGES)
