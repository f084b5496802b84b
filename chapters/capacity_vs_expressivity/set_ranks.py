"""κ of the models of sets on examples of which no two are reorderings of each other.

The other experiment takes κ on pairs of examples, where an invariant model has no more dimensions than there are pairs.
Here the same networks are trained once more and asked on as many examples as there were in those pairs, all different.

``python -m chapters run expressivity_ranks`` makes it again, in about three minutes on one core.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.complexity.parameter_rank import parameter_rank
from chapters.capacity_vs_expressivity.set_experiment import SETTINGS as TRAINING
from chapters.capacity_vs_expressivity.set_experiment import random_labels, target_data, train_on
from chapters.capacity_vs_expressivity.set_models import ITEM_DIM, MODELS, N_ITEMS, TrainedModel, accuracy

SETTINGS: dict[str, Any] = {
    **{key: TRAINING[key] for key in ("models", "extra_models", "kappa_size", "n_train", "n_test", "seeds")},
    **{key: TRAINING[key] for key in ("learning_rate", "n_steps", "batch_size")},
    "n_examples": 1200,
}
QUICK: dict[str, Any] = {
    "models": ["order-aware"],
    "extra_models": [],
    "kappa_size": 32,
    "n_train": 64,
    "n_test": 64,
    "seeds": [0],
    "n_steps": 2,
    "n_examples": 40,
}
PACKAGES = ("numpy", "scipy", "jax", "optax")


def rank_on_fresh(name: str, model: TrainedModel, n_examples: int, seed: int) -> int:
    """κ on normal items (n_examples, 4, 3) drawn for that seed."""
    items = np.random.default_rng([seed, 4]).normal(size=(n_examples, N_ITEMS, ITEM_DIM))
    return parameter_rank(model, MODELS[name].prepared(items)).rank


def ranks_after(name: str, items: np.ndarray, labels: np.ndarray, settings: Mapping[str, Any]) -> dict[str, list[Any]]:
    """κ of a model after training, one per seed, and its training accuracy, to compare with the other experiment."""
    models = train_on(name, items, labels, settings)
    return {
        "rank": [
            rank_on_fresh(name, m, settings["n_examples"], s) for m, s in zip(models, settings["seeds"], strict=True)
        ],
        "train": [accuracy(name, m, x, y) for m, x, y in zip(models, items, labels, strict=True)],
    }


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """{"random labels": model → …, "order": model → …}; see :func:`ranks_after`."""
    seeds = settings["seeds"]
    names = [*settings["models"], *settings["extra_models"]]
    found: dict[str, Any] = {"random labels": {}, "order": {}}
    for name in tqdm(names, unit="model", disable=not progress):
        found["random labels"][name] = ranks_after(name, *random_labels(settings["kappa_size"], seeds), settings)
        if name in settings["models"]:
            found["order"][name] = ranks_after(name, *target_data("order", settings["n_train"], seeds, 0), settings)
    return found
