"""Hundreds of small networks, trained and measured: exponents and norms of their weights beside their accuracy.

A family is an architecture, a width with a depth. Within each, half of the networks are trained without weight decay.

``python -m chapters run trained_spectra`` makes it again, in about five minutes on one core.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.checkpoints.arrays import of_arrays
from capcore.spectra.analysis import analyse_spectra
from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.spectra.results import SpectraReport
from chapters.gaussian_prediction.experiment import plain
from chapters.kit.witness import Witness
from chapters.spectra.experiment import Training, train_network

SETTINGS: dict[str, Any] = {
    "widths": [64, 128, 256],
    "depths": [1, 2, 3],
    "rates": [1e-3, 1e-2],
    "noises": [0.0, 0.15, 0.3],
    "decays": [0.1, 0.3, 1.0],
    "seeds": [0, 1, 2],
    "epochs": 60,
    "minimum": 32,
    "n_null": 10,
}
QUICK: dict[str, Any] = {"widths": [40], "depths": [1], "rates": [1e-2], "noises": [0.0], "epochs": 2, "n_null": 3}
WITNESS = Witness(
    ["widths depths rates noises seeds"],
    fixed={"widths": [64], "depths": [1, 2]},
    elsewhere={"": 1e-3},
    reason="Training magnifies rounding.",
)
PACKAGES = ("scikit-learn",)
LAYER = ("alpha", "log_spectral", "log_frobenius")
DIGITS = 8  # significant ones that are stored


def trainings(settings: Mapping[str, Any] = SETTINGS) -> list[Training]:
    """All networks of the experiment, family by family; in each, those without decay first.

    Without decay there are all seeds; with decay each strength has one seed, so that both halves are as many.

    >>> networks = trainings()
    >>> len(networks), sum(training.decay == 0 for training in networks)
    (324, 162)
    """
    decayed = zip(settings["decays"], SETTINGS["seeds"], strict=True)
    arms = [(0.0, seed) for seed in settings["seeds"]] + [arm for arm in decayed if arm[1] in settings["seeds"]]
    return [
        Training(width, depth, decay, rate, noise, seed, settings["epochs"])
        for width, depth in product(settings["widths"], settings["depths"])
        for decay, seed in arms
        for rate, noise in product(settings["rates"], settings["noises"])
    ]


def measure(training: Training, settings: Mapping[str, Any] = SETTINGS, draw_from: int = 0) -> dict[str, Any]:
    """One network, trained: accuracies, and a list over its layers for each of ``LAYER`` and for the null.

    ``null_alpha`` and ``null_alpha_hat`` are means over draws of its own weights, shuffled within the layer: same
    entries, same Frobenius norm, no order. ``draw_from`` numbers the draws, so that networks do not share them.
    """
    end = train_network(training)
    rows = _analysed(end.weights, settings).spectra
    nulls = [_analysed(end.weights, settings, draw=draw_from + draw).spectra for draw in range(settings["n_null"])]
    means = {
        f"null_{name}": [float(np.mean([getattr(row, name) for row in layer])) for layer in zip(*nulls, strict=True)]
        for name in ("alpha", "alpha_hat")
    }
    layers = {name: [getattr(row, name) for row in rows] for name in LAYER} | means
    return dict(plain({"train": end.train_accuracy, "test": end.test_accuracy, **layers}, DIGITS))


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Name of a quantity → its values, network by network in the order of :func:`trainings`."""
    numbers = {training: number for number, training in enumerate(trainings())}
    rows = [
        measure(training, settings, draw_from=numbers.get(training, 0) * settings["n_null"])
        for training in tqdm(trainings(settings), unit="network", disable=not progress)
    ]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _analysed(weights: Mapping[str, np.ndarray], settings: Mapping[str, Any], draw: int | None = None) -> SpectraReport:
    null: dict[str, Any] = {} if draw is None else {"null": "shuffled", "draw": draw}
    density = DensityOptions(minimum=settings["minimum"], **null)
    return analyse_spectra(of_arrays(weights), SpectraOptions(density, alternatives=()))
