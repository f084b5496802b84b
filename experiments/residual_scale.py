"""Residual networks of scale L^-a, trained: ``python -m experiments.residual_scale``.

Takes about a quarter of an hour on one core and writes ``notebooks/results/residual_scale.json``. Arms that differ in
their exponent alone compile to the same program, which is kept in a temporary folder for the length of the run.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import jax
from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.scaling_conjecture.experiment import COMMAND, PACKAGES, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "residual_scale.json"

if __name__ == "__main__":
    with threadpool_limits(1), TemporaryDirectory() as folder:
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(progress=True), packages=PACKAGES)
