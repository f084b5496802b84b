"""Every experiment once more at settings so small that it ends in seconds: what is executed is the same code."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from capcore.spectra import read_checkpoint

ROOT = Path(__file__).parents[2]
TABLE = ROOT.parent / "shared" / "data" / "published" / "published_osmr_joined.csv"
LBFGS = {"channels": [1, 2], "max_iterations": 5}
MIMICRY = {"seeds": [0], "n_steps": 2, "n_segments": 2}

SETTINGS: dict[str, dict[str, Any]] = {
    "along_training": {
        "n_images": 40,
        "n_lines": 5,
        "n_epochs": 1,
        "snapshots": [0, 1],
        "levels": [2, 1],
        "seeds": [0],
        "activations": ["relu"],
    },
    "audio_scale": {"channels": [1], "lengths": [6], "paper": {"lengths": [6], "max_iterations": 3, "seed": 0}},
    "capacity_vs_expressivity": {
        "models": ["order-aware"],
        "extra_models": [],
        "targets": ["order", "orbit-closed"],
        "sizes": [256],
        "n_train": 64,
        "n_test": 64,
        "n_pairs": 8,
        "n_steps": 2,
        "seeds": [0],
    },
    "dilated_blocks": {
        "small": {
            "n_dilations": 2,
            "n_blocks": 2,
            "channels": 2,
            "seeds": {"PowerLaw": [0], "AR1": [0]},
            "stages": [2, 4],
            "lbfgs_stages": [2],
        }
    },
    "double_descent": {
        "steps": {"sizes": [32], "steps": [2], "epochs": 1, "n_trials": 1},
        "widths": {"widths": [2], "max_iter": 2, "n_seeds": 1, "n": 50},
    },
    "effective_complexity": {
        "n_images": 60,
        "width": 8,
        "n_epochs": 1,
        "snapshots": [0, 1],
        "seeds": [0],
        "factorial_seeds": 1,
        "equal_loss": 10.0,
    },
    "eigenvalue_counts": {"channels": [1, 2], "n_layers": 4},
    "expressivity_ranks": {
        "models": ["order-aware"],
        "extra_models": [],
        "kappa_size": 32,
        "n_train": 64,
        "n_test": 64,
        "n_steps": 2,
        "n_examples": 40,
        "seeds": [0],
    },
    "layer_redundancy": {
        "n_layers": 4,
        "weights": {"channels": 2, "n_draws": 1, "n_starts": 1, "max_iterations": 5},
        "layers": {"channels": [2], "n_draws": 1, "n_starts": 1, "max_iterations": 5},
    },
    "layer_seeds": {"networks": {"one": {"width": 32, "epochs": 1}}, "seeds": [3]},
    "lbfgs_stopping": {"n_layers": 4, "stops": [5], "n_runs": 2, "family_stop": 5, "family_n_runs": 2},
    "lbfgs_sweep": {
        **LBFGS,
        "n_layers": 4,
        "seeds": [0],
        "nudged_channels": [2],
        "n_nudges": 1,
        "family_channels": [1, 2],
        "family_max_iterations": 5,
        "large_channels": 4,
        "large_max_iterations": 5,
    },
    "linear_regions": {"n_train": 40, "epochs": [0, 1], "n_segments": 2, "n_circles": 2},
    "mimicry": MIMICRY,
    "multidimensional": {
        "channels": {"PowerLaw": {"1": [2], "4": [2]}, "AR1": {"1": [2]}},
        "random_starts": {"4": [2]},
        "n_layers": 3,
        "max_iterations": 20,
    },
    "random_starts": {"channels": [2], "n_layers": 3, "n_starts": 1, "max_iterations": 20},
    "recurrent_lbfgs": {**LBFGS, "n_inputs": 4, "seeds": [0]},
    "recurrent_memory": {"lengths": [4], "n_steps": 2, "learning_rates": [1e-3], "extensions": 0, "seeds": [0]},
    "residual_delay": {"depths": [4], "rates": [1e-3], "seeds": [0], "n_steps": 20},
    "residual_scale": {
        "depths": [2],
        "rates": [1e-3],
        "extensions": 0,
        "seeds": [0],
        "exponents": [0.5],
        "digits": {"width": 8, "batch_size": 8, "n_steps": 2},
        "zero_start": [2],
        "transport": {"width": 4, "positions": 8, "batch": 2, "n_steps": 2, "distance": 2},
        "transport_depths": {"tanh": [2], "relu": [2], "two-layer": [2]},
        "other_distances": {"n_layers": 2, "distances": [2]},
        "normalised": {"n_layers": 2, "exponents": [0.25]},
    },
    "resnet_fits": {"n_simulations": 2, "n_resamples": 2},
    "side_inputs": {
        "untrained": {"forms": ["divided", "same"], "exponents": [0, 1], "depths": [4], "width": 8, "draws": 2},
        "trained": {"depths": [4], "width": 8, "steps": 2, "rates": [0.001], "extensions": 0, "seeds": [0]},
        "parity": {"divided": [0.5]},
        "digit": {"divided random": [0], "undivided zero": [0.5]},
        "alone": {"depth": 4, "exponent": 0.5, "seen": ["X"]},
    },
    "trained_spectra": {
        "widths": [40],
        "depths": [1],
        "rates": [1e-2],
        "noises": [0.0],
        "decays": [0.1],
        "seeds": [0],
        "epochs": 1,
        "n_null": 1,
    },
}
"""What is different from the stored settings."""
PARTED = {
    "double_descent": ("steps", "widths"),
    "residual_scale": ("digits", "transport"),
    "side_inputs": ("untrained", "trained"),
}
"""Settings of which only some entries are given above."""


def quick_run(
    name: str, entry: str, stored: Mapping[str, Any], patch: Any, folder: Path
) -> Callable[[], object] | None:
    """The experiment ``name`` at small settings, ready to be called; None if it needs data that are not here.

    entry : of its stored code. stored : its settings. patch : pytest's ``monkeypatch``. folder : for its files.
    """
    module = importlib.import_module(entry.split(":")[0])
    settings = _merged(name, stored)
    if name == "published_metrics":
        return (lambda: module.run(TABLE, n_shuffles=9)) if TABLE.exists() else None
    if name == "resnet_spectra":
        weights = {"conv.weight": np.random.default_rng(0).normal(size=(40, 40, 3, 3)).astype("f4")}
        patch.setattr(module, "SOURCES", {"dense": module.SOURCES["dense"]})
        return lambda: module.run(lambda _: read_checkpoint(weights), folder / "x.npz", {**settings, "n_null": 1})
    if name == "resnet_fits":
        networks = importlib.import_module("chapters.spectra_resnets.stored_spectra").stored_networks
        return lambda: module.run({"dense": networks()["dense"]}, settings)
    if name in ("double_descent", "linear_regions"):  # their run takes no settings
        patch.setattr(module, "SETTINGS", settings)
        return (lambda: module.run([0])) if name == "linear_regions" else module.run
    return lambda: module.run(settings)


def _merged(name: str, old: Mapping[str, Any]) -> dict[str, Any]:
    """The stored settings with those above in their place; of parts that are tables of settings, entry by entry."""
    new = SETTINGS.get(name, {})
    parts = {key: {**old[key], **new[key]} for key in PARTED.get(name, ())}
    return {**({} if name == "dilated_blocks" else old), **new, **parts}
