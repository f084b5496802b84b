"""What metrics of weights cannot see: a network, and the same with its answers moved on by one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from capcore.spectra.analysis import analyse_spectra
from capcore.spectra.models import ModelMetrics
from capcore.validation import positive_integer


@dataclass(frozen=True)
class PermutedNetwork:
    """Test accuracies and metrics of a network, ``intact`` and ``permuted``."""

    intact_accuracy: float
    permuted_accuracy: float
    intact: ModelMetrics
    permuted: ModelMetrics

    @property
    def largest_change(self) -> float:
        """Largest relative difference over all metrics that are finite numbers."""
        pairs = [(value, getattr(self.permuted, name)) for name, value in vars(self.intact).items()]
        return max(abs(a - b) / max(abs(a), 1e-300) for a, b in pairs if math.isfinite(a) and (a or b))


def permuted_network(width: int = 64, seed: int = 0) -> PermutedNetwork:
    """A multilayer perceptron trained on scikit-learn's digits, and the same giving each digit's answer for the next.

    Half of the digits are kept for testing. width : units of its one hidden layer. Needs scikit-learn.
    """
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier

    inputs, labels = load_digits(return_X_y=True)
    parts = train_test_split(inputs / 16, labels, test_size=0.5, random_state=seed, stratify=labels)
    model = MLPClassifier((positive_integer(width, "width", 10),), max_iter=1000, random_state=seed)
    model.fit(parts[0], parts[2])
    weights = {f"layer{i}.weight": matrix.T.copy() for i, matrix in enumerate(model.coefs_, 1)}
    accuracy = float(model.score(parts[1], parts[3]))
    model.coefs_[-1] = np.roll(model.coefs_[-1], 1, axis=1)
    model.intercepts_[-1] = np.roll(model.intercepts_[-1], 1)
    moved = {f"layer{i}.weight": matrix.T.copy() for i, matrix in enumerate(model.coefs_, 1)}
    found = [analyse_spectra(network).model for network in (weights, moved)]
    return PermutedNetwork(accuracy, float(model.score(parts[1], parts[3])), *found)
