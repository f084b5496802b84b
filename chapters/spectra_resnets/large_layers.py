"""Layers of 256 to 1,024 columns, trained here: exponents with true and with shuffled targets, and of shuffled weights.

Two kinds of networks: perceptrons of three hidden layers that name digits, and small causal transformers that read the
same images pixel by pixel and predict the next one. In half of them the targets are shuffled.

``python -m chapters run large_layers`` makes it again, in about half an hour on two cores.
"""

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

import numpy as np

from capcore.spectra.eigenvalues import gram_spectra
from capcore.spectra.inference import goodness_of_fit
from capcore.spectra.noise import layer_generator, null_weights
from capcore.spectra.power_law import fit_power_law, fit_power_laws
from chapters.gaussian_prediction.experiment import plain
from chapters.kit.witness import Witness
from chapters.shared.swept import values_of
from chapters.spectra.experiment import Training, train_network
from chapters.spectra_resnets.transformer import Transformer, train_transformer

SETTINGS: dict[str, Any] = {
    "perceptron": {"size": 1024, "depth": 3, "steps": 80},
    "transformer": {"size": 256, "depth": 2, "steps": 1000},
    "seeds": [0, 1, 2],
    "n_null": 20,
    "n_simulations": 200,
}
QUICK: dict[str, Any] = {
    "perceptron": {"size": 48, "depth": 1, "steps": 2},
    "transformer": {"size": 40, "depth": 1, "steps": 2},
    "seeds": [0],
    "n_null": 2,
    "n_simulations": 2,
}
WITNESS = Witness(
    [""], weekly=True, reason="A trained network of up to 1,024 units takes minutes.", elsewhere={"": inf}
)
PACKAGES = ("scikit-learn", "jax", "optax")
TARGETS = ("true", "shuffled")
SMALLEST = 32  # eigenvalues of a layer that is analysed
COLUMNS = ("alpha", "distance", "n_tail", "p_value", "null_low", "null_high")


def one_network(
    kind: str = "perceptron",
    targets: str = "true",
    size: int = 64,
    depth: int = 2,
    steps: int = 20,
    seed: int = 0,
    n_null: int = 20,
    n_simulations: int = 200,
) -> dict[str, Any]:
    """One network, trained: its layers' names and shapes, ``COLUMNS`` for each, and how well it does.

    steps : epochs of a perceptron, batches of a transformer. ``train`` and ``test`` are accuracies of a perceptron,
    and mean losses of a transformer, in nats a pixel; training ones on the targets that it was given.
    """
    if kind == "perceptron":
        noise = 1.0 if targets == "shuffled" else 0.0
        end = train_network(Training(width=size, depth=depth, noise=noise, seed=seed, epochs=steps))
        weights, train, test = end.weights, end.train_accuracy, end.test_accuracy
    else:
        weights, train, test = train_transformer(Transformer(size, depth), steps, seed, targets == "shuffled")
    large = {name: matrix for name, matrix in weights.items() if min(matrix.shape) >= SMALLEST}
    rows = [one_layer(name, matrix, n_null, n_simulations) for name, matrix in large.items()]
    return {
        "layers": list(large),
        "shapes": [list(matrix.shape) for matrix in large.values()],
        **plain({name: [row[name] for row in rows] for name in COLUMNS}),
        **plain({"train": train, "test": test}, 4),
    }


def one_layer(name: str, weights: np.ndarray, n_null: int, n_simulations: int) -> dict[str, float]:
    """``COLUMNS`` of one matrix, as ``analyse_spectra`` with a shuffled null gives them.

    >>> list(one_layer("fc", np.random.default_rng(0).normal(size=(32, 40)), 2, 2)) == list(COLUMNS)
    True
    """
    eigenvalues = gram_spectra(weights[None]).eigenvalues[0]
    fit = fit_power_law(eigenvalues)
    tested = goodness_of_fit(eigenvalues, layer_generator(0, name, "goodness of fit"), n_simulations=n_simulations)
    shuffled = [null_weights(weights, "shuffled", seed=0, name=name, draw=draw) for draw in range(n_null)]
    null = [fitted.alpha for fitted in fit_power_laws([gram_spectra(one[None]).eigenvalues[0] for one in shuffled])]
    values = (fit.alpha, fit.distance, fit.n_tail, tested.p_value, min(null), max(null))
    return dict(zip(COLUMNS, values, strict=True))


def run(
    settings: Mapping[str, Any], sweep: Callable[..., Any], progress: bool = False, workers: int = 1
) -> dict[str, Any]:
    """Kind → targets → list over seeds of what :func:`one_network` gives; ``sweep`` is that of the engine."""
    shared = {name: settings[name] for name in ("n_null", "n_simulations")}
    jobs = [
        {"kind": kind, "targets": targets, "seed": seed, **settings[kind], **shared}
        for kind in ("transformer", "perceptron")
        for targets in TARGETS
        for seed in settings["seeds"]
    ]
    table: dict[str, Any] = {}
    for job, row in zip(jobs, values_of(one_network, jobs, sweep, progress=progress, workers=workers), strict=True):
        values = {name: row[name] for name in ("layers", "shapes", *COLUMNS, "train", "test")}
        table.setdefault(job["kind"], {}).setdefault(job["targets"], []).append(values)
    return table
