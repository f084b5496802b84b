"""Small networks on few digits, some labels wrong: the samples that they fit by training time, test error by width.

What the chapter on double descent shows of trained networks; random features share the digits. scikit-learn trains.
``python -m chapters run double_descent`` makes it again, in about eight minutes on one core.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor
from tqdm import tqdm

from chapters.gaussian_prediction.experiment import plain
from chapters.kit.witness import CHAOTIC, Witness
from chapters.shared.data import Digits
from chapters.spectra.experiment import wrong_labels

SETTINGS: dict[str, Any] = {
    "steps": {
        "hidden": 32,
        "batch": 32,
        "learning_rate": 0.001,
        "sizes": [16, 32, 64, 128, 256, 512, 1024],
        "steps": [30, 100, 300, 1000, 3000],
        "epochs": 5,
        "n_trials": 5,
        "labels": ["right", "shuffled"],
    },
    "widths": {
        "n": 200,
        "widths": [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128],
        "max_iter": 2000,
        "n_seeds": 6,
        "wrong": 0.2,
    },
}
QUICK: dict[str, Any] = {
    "steps": {**SETTINGS["steps"], "sizes": [32], "steps": [2], "epochs": 1, "n_trials": 1},
    "widths": {**SETTINGS["widths"], "n": 50, "widths": [2], "max_iter": 2, "n_seeds": 1},
}
WITNESS = Witness(["steps.sizes", "widths.widths"], fixed={"steps.steps": [30, 100, 300]}, **CHAOTIC)
PACKAGES = ("scikit-learn",)


def digits() -> tuple[np.ndarray, np.ndarray]:
    """All 1,797 images (1797, 64), pixels from −1 to 1, and their digits (1797,). Needs scikit-learn."""
    images, labels = load_digits(return_X_y=True)
    return images / 8.0 - 1.0, labels


def relabelled(labels: np.ndarray, kind: str, rng: np.random.Generator, share: float = 0.2) -> np.ndarray:
    """Digits (n,) as they are (``right``), a ``share`` of them each replaced by one of the nine others (``wrong``), or
    permuted (``shuffled``).

    >>> relabelled(np.arange(10), "wrong", np.random.default_rng(0), 1.0).tolist() == list(range(10))
    False
    """
    if kind == "shuffled":
        return rng.permutation(labels)
    return wrong_labels(labels, share, rng) if kind == "wrong" else labels


def split(n: int, kind: str, rng: np.random.Generator, share: float = 0.2) -> Digits:
    """A split into n training images, relabelled, and all others, with their right labels; pixels from −1 to 1."""
    inputs, labels = digits()
    order = rng.permutation(len(labels))
    train, test = order[:n], order[n:]
    return Digits(inputs[train], relabelled(labels[train], kind, rng, share), inputs[test], labels[test])


def one_hot(labels: np.ndarray) -> np.ndarray:
    """Targets (n, 10) of digits (n,): one in the column of the digit, less the mean of one tenth.

    >>> one_hot(np.array([1])).round(1).tolist()
    [[-0.1, 0.9, -0.1, -0.1, -0.1, -0.1, -0.1, -0.1, -0.1, -0.1]]
    """
    return np.eye(10)[labels] - 0.1


def squared_error(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Mean over images of the square summed over the ten outputs (n, 10): 0.9 where all predictions are zero."""
    return float(np.mean(np.sum((predictions - one_hot(labels)) ** 2, axis=1)))


def wrong_share(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Share of images whose largest output (n, 10) is not that of their digit (n,)."""
    return float(np.mean(predictions.argmax(axis=1) != labels))


def training_errors(n: int, kind: str, seed: int, settings: Mapping[str, Any]) -> list[float]:
    """Share of wrong training labels after so many ``steps`` of Adam, and at last after ``epochs``, of one network.

    ``n`` images drawn by ``seed``, with labels of a ``kind`` of :func:`relabelled`;
    ``settings`` : steps and epochs, hidden units, batch, learning rate. An epoch is n / batch steps, at least one.
    """
    rng = np.random.default_rng([seed, n])
    inputs, labels = digits()
    chosen = rng.permutation(len(labels))[:n]
    inputs, labels = inputs[chosen], relabelled(labels[chosen], kind, rng)
    batch = min(settings["batch"], n)
    options = {"learning_rate_init": settings["learning_rate"], "alpha": 0.0, "random_state": seed}
    network = MLPClassifier((settings["hidden"],), **options)
    after = [*settings["steps"], settings["epochs"] * (n // batch)]
    errors: dict[int, float] = {}
    order = np.empty(0, dtype=int)
    for step in range(1, max(after) + 1):
        if len(order) < batch:
            order = rng.permutation(n)
        network.partial_fit(inputs[order[:batch]], labels[order[:batch]], classes=range(10))
        order = order[batch:]
        if step in after:
            errors[step] = float(np.mean(network.predict(inputs) != labels))
    return [errors[step] for step in after]


def width_errors(width: int, data: Digits, seed: int, max_iter: int) -> dict[str, float]:
    """Training and test errors of one network with ``width`` hidden units, fitted by L-BFGS to one-hot labels."""
    options = {"solver": "lbfgs", "alpha": 0.0, "tol": 1e-10, "max_iter": max_iter, "max_fun": 100 * max_iter}
    network = MLPRegressor(hidden_layer_sizes=(width,), random_state=seed, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the iterations are the setting
        network.fit(data.x, one_hot(data.y))
    train, test = network.predict(data.x), network.predict(data.x_test)
    return {
        "train": squared_error(train, data.y),
        "train_wrong": wrong_share(train, data.y),
        "test": squared_error(test, data.y_test),
        "test_wrong": wrong_share(test, data.y_test),
    }


def run_steps(settings: Mapping[str, Any], progress: bool = False) -> dict[str, Any]:
    """Kind of labels → ``steps`` (n_sizes, n_trials, n_steps) and ``epochs`` (n_sizes, n_trials) training errors."""
    table: dict[str, Any] = {}
    for kind in settings["labels"]:
        sizes = tqdm(settings["sizes"], kind, disable=not progress)
        seeds = range(settings["n_trials"])
        curves = [[training_errors(n, kind, seed, settings) for seed in seeds] for n in sizes]
        errors = np.reshape(curves, (len(curves), len(seeds), -1 if curves else 1)).round(5)
        table[kind] = {"steps": errors[..., :-1].tolist(), "epochs": errors[..., -1].tolist()}
    return table


def run_widths(settings: Mapping[str, Any], progress: bool = False) -> dict[str, Any]:
    """Name of an error → (n_widths, n_seeds), five significant digits."""
    rngs = [np.random.default_rng([7, seed]) for seed in range(settings["n_seeds"])]
    splits = [split(settings["n"], "wrong", rng, settings["wrong"]) for rng in rngs]
    table: dict[str, list[list[float]]] = {}
    for width in tqdm(settings["widths"], "widths", disable=not progress):
        errors = [width_errors(width, data, seed, settings["max_iter"]) for seed, data in enumerate(splits)]
        for name in errors[0]:
            table.setdefault(name, []).append(plain([error[name] for error in errors], 5))
    return table


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """All that is stored."""
    return {"steps": run_steps(settings["steps"], progress), "widths": run_widths(settings["widths"], progress)}
