"""Every experiment once more at settings so small that it ends in seconds: what is executed is the same code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from capcore.checkpoints.tensors import Checkpoint, Tensor
from chapters.kit.running import Experiment
from chapters.kit.stored import path_of

ROOT = Path(__file__).parents[2]
TABLE = ROOT.parent / "shared" / "data" / "published" / "published_osmr_joined.csv"


def quick_run(name: str, patch: Any, folder: Path) -> Callable[[], object] | None:
    """The experiment ``name`` at its ``QUICK`` settings, ready to be called; None if it needs data that are not here.

    Those without such settings are given less to work on. patch : pytest's ``monkeypatch``. folder : for files.
    """
    experiment = Experiment.of(path_of(name))
    run, module = experiment.functions[0], experiment.module
    if name == "published_metrics":
        return (lambda: run(TABLE, n_shuffles=19)) if TABLE.exists() else None
    if name in ("resnet_spectra", "pretrained_spectra"):
        weights = np.random.default_rng(0).normal(size=(40, 40, 3, 3)).astype("f4")
        tensor = Tensor("conv.weight", "float32", weights.shape, lambda: weights)  # readers decide no number
        opened = Checkpoint("quick", "arrays", "", weights.nbytes, {tensor.name: tensor})
        if name == "pretrained_spectra":
            settings = experiment.settings | {"networks": ["minilm"], "n_null": 1, "n_simulations": 2}
            return lambda: run(settings, lambda _: nullcontext(opened))
        patch.setattr(module, "SOURCES", {"dense": module.SOURCES["dense"]})
        settings = experiment.settings | {"n_null": 1}
        return lambda: run(lambda _: opened, folder / "x.npz", settings)
    if name == "resnet_fits":
        networks = module.stored_networks
        return lambda: run({"dense": networks()["dense"]}, experiment.settings | {"n_simulations": 2, "n_resamples": 2})
    return lambda: experiment.values(experiment.quick_settings, progress=False, workers=1, sweep=swept_here)


def swept_here(target: str, settings: Iterable[dict[str, Any]], *_: object, **__: object) -> pd.DataFrame:
    """What the engine's sweep gives, computed in this process, where it can be watched."""
    module, name = target.split(":")
    function = getattr(import_module(module), name)
    return pd.DataFrame([{**each, **function(**each), "error": ""} for each in settings])
