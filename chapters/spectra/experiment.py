"""Small networks that learn digits in seconds, and what becomes of their layers: exponents, moves and spikes.

The ones whose weight spectra two chapters analyse: scikit-learn's multilayer perceptrons, trained by Adam on a third of
its digits, with what the chapters vary: width, depth, weight decay, learning rate and the share of labels that are
wrong. The chapter trains one seed; the others are stored.

``python -m chapters run layer_seeds`` makes them again, in about 40 seconds on one core.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.neural_network import MLPClassifier
from tqdm import tqdm

from capcore.checkpoints.arrays import of_arrays
from capcore.spectra.analysis import analyse_spectra
from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.spectra.results import SpectraReport
from chapters.kit.witness import Witness
from chapters.shared.data import digits

BATCH = 60
TEST_SHARE = 2 / 3  # of the 1,797 images: with few to learn from, accuracies differ
N_DIGITS = 10
MINIMUM = 32
"""Fewest eigenvalues of a layer that is analysed: the output layers of the book's networks have ten."""


@dataclass(frozen=True)
class Training:
    """What a network is and how it is trained.

    Attributes
    ----------
    width : units of each hidden layer. depth : hidden layers.
    decay : scikit-learn's ``alpha``; a batch of 60 adds decay/120·‖W‖²_F to the loss. rate : Adam's learning rate.
    noise : share of the training labels that are replaced by wrong ones; 1 shuffles all labels instead.
    seed : of the initial weights, the batches and the wrong labels. epochs : passes over the training images.
    """

    width: int = 128
    depth: int = 2
    decay: float = 0.0
    rate: float = 1e-3
    noise: float = 0.0
    seed: int = 0
    epochs: int = 100


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A network after some epochs.

    Attributes
    ----------
    epoch : passes so far. weights : name of the layer → (out, in) array, as files of weights hold them.
    train_accuracy : on the labels it is trained on, wrong ones included. test_accuracy : on 1,198 other images, with
    their right labels.
    """

    epoch: int
    weights: dict[str, np.ndarray]
    train_accuracy: float
    test_accuracy: float


def train_network(training: Training) -> Snapshot:
    """The network at the end of its training.

    >>> end = train_network(Training(width=16, depth=1, epochs=20))
    >>> {name: w.shape for name, w in end.weights.items()}, end.test_accuracy > 0.5
    ({'layer1': (16, 64), 'layer2': (10, 16)}, True)
    """
    return list(training_path(training, [training.epochs]))[-1]


def training_path(training: Training, epochs: list[int]) -> Iterator[Snapshot]:
    """The network after each of ``epochs``, ascending; 0 is the start, with weights drawn and not trained."""
    data = digits(TEST_SHARE)
    images, tests = data.x.astype(float), data.x_test.astype(float)
    rng = np.random.default_rng([training.seed, 1])
    labels = rng.permutation(data.y) if training.noise == 1 else wrong_labels(data.y, training.noise, rng)
    options = {"alpha": training.decay, "learning_rate_init": training.rate, "random_state": training.seed}
    network = MLPClassifier((training.width,) * training.depth, batch_size=BATCH, **options)
    for epoch in range(max(epochs) + 1):
        if epoch:
            network.partial_fit(images, labels, classes=np.arange(N_DIGITS))
        if epoch in epochs:
            shown = network if epoch else _untrained(network, images, labels)
            accuracies = float(shown.score(images, labels)), float(shown.score(tests, data.y_test))
            yield Snapshot(epoch, weights_of(shown), *accuracies)


def weights_of(network: MLPClassifier) -> dict[str, np.ndarray]:
    """Name of the layer → (out, in) weights of scikit-learn's perceptrons, which store (in, out)."""
    return {f"layer{i}": w.T.copy() for i, w in enumerate(network.coefs_, 1)}


def wrong_labels(labels: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """(n,) labels of which the share ``noise`` is replaced by one of the nine wrong ones.

    >>> labels = np.arange(10)
    >>> int((wrong_labels(labels, 0.3, np.random.default_rng(0)) != labels).sum())
    3
    """
    changed = labels.copy()
    some = rng.permutation(len(labels))[: round(noise * len(labels))]
    changed[some] = (labels[some] + rng.integers(1, N_DIGITS, len(some))) % N_DIGITS
    return changed


def _untrained(network: MLPClassifier, images: np.ndarray, labels: np.ndarray) -> MLPClassifier:
    """Another network with the same initial weights: scikit-learn draws them with the first step, here of 1e-300."""
    other = clone(network).set_params(learning_rate_init=1e-300)
    return other.partial_fit(images[:BATCH], labels[:BATCH], classes=np.arange(N_DIGITS))


def networks(width: int, epochs: int, decay: float, rate: float, seed: int = 0) -> dict[str, Training]:
    """The chapter's networks: one to compare with, and others that differ from it in one thing each.

    width, epochs : of the first; a quarter of fewer than 128 units leaves too few eigenvalues. decay, rate : of those
    that differ in these.
    """
    base = Training(width, 2, epochs=epochs, seed=seed)
    return {
        "right labels": base,
        "fast": replace(base, rate=rate),
        "shuffled labels": replace(base, noise=1.0),
        "weight decay": replace(base, decay=decay),
        "half as wide": replace(base, width=width // 2),
        "a quarter as wide": replace(base, width=width // 4),
    }


def analysed(weights: Mapping[str, np.ndarray], **options: Any) -> SpectraReport:
    """The report on a network's weights as the chapters take it: layers with at least 32 eigenvalues."""
    return analyse_spectra(of_arrays(weights), SpectraOptions(DensityOptions(minimum=MINIMUM), **options))


SETTINGS: dict[str, Any] = {
    "networks": {name: asdict(each) for name, each in networks(width=256, epochs=60, decay=1.0, rate=1e-2).items()},
    "seeds": [0, 1, 2, 3, 4],
}
QUICK: dict[str, Any] = {"networks": {"one": {"width": 32, "epochs": 1}}, "seeds": [3, 4]}
COLUMNS = ["network", "seed", "layer", "shape", "start", "alpha", "moved", "spikes", "test"]
WITNESS = Witness(
    ["networks seeds"],
    fixed={"networks": {"a quarter as wide": SETTINGS["networks"]["a quarter as wide"]}},
    elsewhere={"": 0.01},
    reason="Training magnifies rounding.",
)
PACKAGES = ("scikit-learn",)


def outcomes(paths: Mapping[str, Sequence[Snapshot]], seed: int) -> pd.DataFrame:
    """One row per network and layer, from the first and last snapshot of its path.

    Columns: ``network``, ``seed``, ``layer``, ``shape``; ``start`` and ``alpha``, the exponent before and after;
    ``moved`` = ‖W − W₀‖_F / ‖W₀‖_F; ``spikes``; ``test``, the accuracy on test images at the end.
    """
    rows = []
    for network, path in paths.items():
        first, last = path[0], path[-1]
        ends = (analysed(shot.weights, alternatives=()).spectra for shot in (first, last))
        for before, after in zip(*ends, strict=True):
            start, end = first.weights[after.name], last.weights[after.name]
            moved = float(np.linalg.norm(end - start) / np.linalg.norm(start))
            what = (network, seed, after.name, (after.rows, after.columns))
            rows.append((*what, before.alpha, after.alpha, moved, after.n_spikes, last.test_accuracy))
    return pd.DataFrame(rows, columns=COLUMNS)


def trained_outcomes(networks: Mapping[str, Training], seed: int) -> pd.DataFrame:
    """:func:`outcomes` of networks that are trained now."""
    return outcomes({name: list(training_path(one, [0, one.epochs])) for name, one in networks.items()}, seed)


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Column of :func:`outcomes` → its values over all networks, layers and seeds."""
    seeds = tqdm(settings["seeds"], unit="seed", disable=not progress)
    tables = [trained_outcomes(trainings(settings, seed), seed) for seed in seeds]
    return dict(pd.concat(tables).to_dict("list"))


def trainings(settings: Mapping[str, Any], seed: int) -> dict[str, Training]:
    """Name → how the network is trained in the experiment, with one of its seeds."""
    return {name: Training(**{**one, "seed": seed}) for name, one in settings["networks"].items()}
