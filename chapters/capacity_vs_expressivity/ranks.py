"""κ of networks as the rank of the parameter Jacobian: on examples of sets, and beside paper 1's where both exist.

The other experiment takes κ on pairs of examples, where an invariant model has no more dimensions than there are pairs.
Here the same networks are trained once more and asked on as many examples as there were in those pairs, all different.
``python -m chapters run expressivity_ranks`` makes it again, in about three minutes on one core.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.architectures import Hierarchical
from capcore.capacity.allocation import allocate
from capcore.capacity.constraints import ConstraintSpace
from capcore.fitting.optimum import fit
from capcore.processes import PowerLaw
from chapters.capacity_vs_expressivity.experiment import SETTINGS as TRAINING
from chapters.capacity_vs_expressivity.experiment import random_labels, target_data, train_on
from chapters.capacity_vs_expressivity.sets import ITEM_DIM, MODELS, N_ITEMS, accuracies
from chapters.kit.witness import CHAOTIC, Witness
from chapters.shared.complexity import tangent_space

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
WITNESS = Witness(["models seeds", "extra_models seeds"], **CHAOTIC)
PACKAGES = ("jax", "optax")


def ranks_after(name: str, items: np.ndarray, labels: np.ndarray, settings: Mapping[str, Any]) -> dict[str, list[Any]]:
    """κ of a model after training, one per seed, and its training accuracy, to compare with the other experiment.

    κ is that on normal items (n_examples, 4, 3) drawn for the seed.
    """
    models, ranks = train_on(name, items, labels, settings), []
    for model, seed in zip(models, settings["seeds"], strict=True):
        fresh = np.random.default_rng([seed, 4]).normal(size=(settings["n_examples"], N_ITEMS, ITEM_DIM))
        ranks.append(tangent_space(model, MODELS[name].prepared(fresh)).dimension)
    return {"rank": ranks, "train": accuracies(name, models, items, labels)}


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """{"random labels": model → …, "order": model → …}; see :func:`ranks_after`."""
    seeds = settings["seeds"]
    names = [*settings["models"], *settings["extra_models"]]
    table: dict[str, Any] = {"random labels": {}, "order": {}}
    for name in tqdm(names, unit="model", disable=not progress):
        table["random labels"][name] = ranks_after(name, *random_labels(settings["kappa_size"], seeds), settings)
        if name in settings["models"]:
            table["order"][name] = ranks_after(name, *target_data("order", settings["n_train"], seeds, 0), settings)
    return table


def exact_examples(covariance: np.ndarray, n_examples: int, rng: np.random.Generator) -> np.ndarray:
    """(n_examples, n) rows with XᵀX/n_examples equal to ``covariance`` (n, n), otherwise random.

    >>> x = exact_examples(np.diag([4.0, 1.0]), 5, np.random.default_rng(0))
    >>> (x.T @ x / 5).round(12).tolist()
    [[4.0, 0.0], [0.0, 1.0]]
    """
    n = len(covariance)
    orthonormal = np.linalg.qr(rng.normal(size=(n_examples, n)))[0]
    return np.sqrt(n_examples) * orthonormal @ np.linalg.cholesky(covariance).T


class Comparison:
    """A hierarchical model at its optimum for a power law: κ from Σ, and from examples.

    Attributes
    ----------
    kappa : by :func:`capcore.capacity.allocation.allocate`. rank : of the parameter Jacobian on normal examples.
    per_input_gap : largest difference of κ per input between 𝒦 and the column space of XᵀD, for examples X whose sample
        covariance is Σ.
    """

    def __init__(self, channels: int, n_examples: int, rng: np.random.Generator, n_layers: int = 6) -> None:
        arch, process = Hierarchical(channels=channels, n_layers=n_layers), PowerLaw()
        params = fit(arch, process).params
        allocation = allocate(arch, params, process)
        tangents = np.hstack(list(arch.tangents(params).values()))
        drawn = rng.multivariate_normal(np.zeros(len(tangents)), allocation.covariance, n_examples, method="cholesky")
        exact = exact_examples(allocation.covariance, n_examples, rng)
        seen = ConstraintSpace.from_columns(exact.T @ (exact @ tangents)).per_input()
        self.kappa, self.rank = allocation.total, ConstraintSpace.from_columns(drawn @ tangents).dimension
        self.per_input_gap = float(np.abs(seen - allocation.per_input).max())
