"""How good the power laws of the shipped spectra are: ``python -m experiments.resnet_fits``.

Takes about five minutes on one core, needs no weights, and writes ``notebooks/results/resnet_fits.json``.
"""

from __future__ import annotations

from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.hierarchical.stored_runs import stored
from chapters.spectra_resnets.resnet_fits import COMMAND, SETTINGS, run
from chapters.spectra_resnets.stored_spectra import stored_networks

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "resnet_fits.json"

if __name__ == "__main__":
    settings = {**SETTINGS, "spectra": stored("resnet_spectra")["values"]["arrays_sha256"]}
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, (run, stored_networks), settings, lambda: run(stored_networks()))
