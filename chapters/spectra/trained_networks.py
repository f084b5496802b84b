"""Small networks that learn handwritten digits in seconds: the ones whose weight spectra two chapters analyse.

They are scikit-learn's multilayer perceptrons, trained by Adam on a third of its digits, with what the chapters vary:
width, depth, weight decay, learning rate and the share of labels that are wrong. Needs scikit-learn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from capcore.validation import finite_number, positive_integer

if TYPE_CHECKING:
    from sklearn.neural_network import MLPClassifier

BATCH = 60
TEST_SHARE = 2 / 3  # of the 1,797 images: with few to learn from, accuracies differ
N_DIGITS = 10


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

    def __post_init__(self) -> None:
        for name, least in (("width", 1), ("depth", 1), ("seed", 0), ("epochs", 0)):
            positive_integer(getattr(self, name), name, least)
        if finite_number(self.decay, "decay") < 0:
            raise ValueError(f"decay: found {self.decay!r}, expected at least 0.")
        if finite_number(self.rate, "rate") <= 0:
            raise ValueError(f"rate: found {self.rate!r}, expected more than 0.")
        if not 0 <= finite_number(self.noise, "noise") <= 1:
            raise ValueError(f"noise: found {self.noise!r}, expected a share between 0 and 1.")


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

    >>> found = train_network(Training(width=16, depth=1, epochs=20))
    >>> {name: w.shape for name, w in found.weights.items()}, found.test_accuracy > 0.5
    ({'layer1': (16, 64), 'layer2': (10, 16)}, True)
    """
    return list(training_path(training, [training.epochs]))[-1]


def training_path(training: Training, epochs: list[int]) -> Iterator[Snapshot]:
    """The network after each of ``epochs``, ascending; 0 is the start, with weights drawn and not trained."""
    from sklearn.neural_network import MLPClassifier

    from chapters.shared.data import digits

    data = digits(TEST_SHARE)
    images, tests = data.x.astype(float), data.x_test.astype(float)
    rng = np.random.default_rng([training.seed, 1])
    labels = wrong_labels(data.y, training.noise, rng)
    network = MLPClassifier(
        (training.width,) * training.depth,
        alpha=training.decay,
        batch_size=BATCH,
        learning_rate_init=training.rate,
        random_state=training.seed,
    )
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
    """(n,) labels of which the share ``noise`` is replaced by one of the nine wrong ones; all shuffled if it is 1.

    >>> labels = np.arange(10)
    >>> int((wrong_labels(labels, 0.3, np.random.default_rng(0)) != labels).sum())
    3
    """
    if noise == 1:
        return rng.permutation(labels)
    changed = labels.copy()
    some = rng.permutation(len(labels))[: round(noise * len(labels))]
    changed[some] = (labels[some] + rng.integers(1, N_DIGITS, len(some))) % N_DIGITS
    return changed


def _untrained(network: MLPClassifier, images: np.ndarray, labels: np.ndarray) -> MLPClassifier:
    """Another network with the same initial weights: scikit-learn draws them with the first step, here of 1e-300."""
    from sklearn.base import clone

    other = clone(network).set_params(learning_rate_init=1e-300)
    return other.partial_fit(images[:BATCH], labels[:BATCH], classes=np.arange(N_DIGITS))
