"""Seven models on random labels and on four targets: the experiment of the chapter on capacity and expressivity.

``python -m chapters run capacity_vs_expressivity`` makes it again, in about ten minutes on one core.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from chapters.capacity_vs_expressivity import sets
from chapters.kit.witness import CHAOTIC, Witness
from chapters.shared.complexity import odd_share, tangent_space

SETTINGS: dict[str, Any] = {
    "models": ["invariant", "invariant + places", "order-aware", "narrow", "linear"],
    "extra_models": ["small invariant", "small order-aware"],  # random labels only
    "targets": ["order", "simple order", "invariant", "orbit-closed"],
    "sizes": [16, 32, 64, 128, 256, 512, 1024],
    "n_train": 4000,
    "n_test": 4000,
    "n_pairs": 600,
    "kappa_size": 256,
    "learning_rate": 0.01,
    "n_steps": 3000,
    "batch_size": 256,
    "seeds": [0, 1, 2, 3, 4],
}
QUICK: dict[str, Any] = {
    "models": ["order-aware", "linear"],
    "extra_models": [],
    "targets": ["order"],
    "sizes": [256],
    "n_train": 64,
    "n_test": 64,
    "n_pairs": 30,
    "n_steps": 2,
    "seeds": [3],
}
WITNESS = Witness(["models sizes seeds", "models targets seeds", "extra_models sizes seeds"], **CHAOTIC)
PACKAGES = ("jax", "optax")


def random_labels(size: int, seeds: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Normal items (seeds, size, 4, 3) and fair labels (seeds, size) of ±1."""
    rngs = [np.random.default_rng([seed, 1, size]) for seed in seeds]
    items = np.stack([rng.normal(size=(size, sets.N_ITEMS, sets.ITEM_DIM)) for rng in rngs])
    return items, np.stack([rng.choice([-1.0, 1.0], size) for rng in rngs])


def target_data(name: str, n: int, seeds: list[int], part: int) -> tuple[np.ndarray, np.ndarray]:
    """Items (seeds, n, 4, 3) and labels (seeds, n) of a target; ``part`` 0 is to train on, 1 to test."""
    pairs = [sets.draw_target(name, n, np.random.default_rng([seed, 2, part])) for seed in seeds]
    return np.stack([items for items, _ in pairs]), np.stack([labels for _, labels in pairs])


def odd_shares(name: str, models: list[sets.TrainedModel], settings: Mapping[str, Any]) -> list[float]:
    """The share of κ on functions that see the exchange, one per seed, on fresh pairs.

    The pairs are normal items, then the same with items 1 and 2 exchanged.
    """
    shares, n = [], settings["n_pairs"]
    for model, seed in zip(models, settings["seeds"], strict=True):
        items = np.random.default_rng([seed, 3]).normal(size=(n, sets.N_ITEMS, sets.ITEM_DIM))
        pairs = sets.MODELS[name].prepared(sets.closed_under_exchange(items, np.ones(n))[0])
        shares.append(odd_share(tangent_space(model, pairs)))
    return shares


def train_on(name: str, items: np.ndarray, labels: np.ndarray, settings: Mapping[str, Any]) -> list[sets.TrainedModel]:
    """One model per seed, trained with these settings."""
    options = {key: settings[key] for key in ("learning_rate", "n_steps", "batch_size", "seeds")}
    return sets.train_models(name, items, labels, **options)


def memorise(name: str, size: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Training sets.accuracies on ``size`` random labels, one per seed; at the size for κ also its shares."""
    data = random_labels(size, settings["seeds"])
    models = train_on(name, *data, settings)
    row = {"train": sets.accuracies(name, models, *data)}
    return row | ({"odd_share": odd_shares(name, models, settings)} if size == settings["kappa_size"] else {})


def express(name: str, task: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Accuracies on a target, one per seed: training and test set; of "order" with the shares of κ."""
    drawn = {n: target_data(task, settings[f"n_{n}"], settings["seeds"], k) for k, n in enumerate(("train", "test"))}
    models = train_on(name, *drawn["train"], settings)
    row = {n: sets.accuracies(name, models, *data) for n, data in drawn.items()}
    return row | ({"odd_share": odd_shares(name, models, settings)} if task == "order" else {})


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """{"random labels": model → size → …, "targets": model → target → …}; see :func:`memorise` and :func:`express`."""
    names = [*settings["models"], *settings["extra_models"]]
    bar = tqdm(names, unit="model", disable=not progress)
    table: dict[str, Any] = {"random labels": {}, "targets": {}}
    for name in bar:
        table["random labels"][name] = {str(size): memorise(name, size, settings) for size in settings["sizes"]}
        if name in settings["models"]:
            table["targets"][name] = {task: express(name, task, settings) for task in settings["targets"]}
    return table
