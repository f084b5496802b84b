"""scikit-learn's handwritten digits with some wrong labels, split into a small training set and a large test set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capcore.validation import finite_number, one_of, positive_integer

LABELS = ("right", "wrong", "shuffled")


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test images; pixels (n, 64) from −1 to 1, digits (n,) from 0 to 9; test digits are all right."""

    inputs: np.ndarray
    digits: np.ndarray
    test_inputs: np.ndarray
    test_digits: np.ndarray


def digits() -> tuple[np.ndarray, np.ndarray]:
    """All 1,797 images (1797, 64), pixels from −1 to 1, and their digits (1797,). Needs scikit-learn."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return images / 8.0 - 1.0, labels


def relabelled(labels: np.ndarray, kind: str, rng: np.random.Generator, share: float = 0.2) -> np.ndarray:
    """Digits (n,) as they are (``right``), a ``share`` of them each replaced by one of the nine others (``wrong``), or
    permuted (``shuffled``).

    >>> relabelled(np.arange(10), "wrong", np.random.default_rng(0), 1.0).tolist() == list(range(10))
    False
    """
    one_of(kind, "kind", LABELS)
    if not 0 <= finite_number(share, "share") <= 1:
        raise ValueError(f"share: found {share!r}, expected a share between 0 and 1.")
    if kind == "right":
        return labels.copy()
    if kind == "shuffled":
        return rng.permutation(labels)
    found = labels.copy()
    chosen = rng.permutation(len(labels))[: round(share * len(labels))]
    found[chosen] = (labels[chosen] + rng.integers(1, 10, len(chosen))) % 10
    return found


def split(n: int, kind: str, rng: np.random.Generator, share: float = 0.2) -> Split:
    """A ``Split`` into n training images, relabelled, and all others as test."""
    inputs, labels = digits()
    if positive_integer(n, "n") >= len(labels):
        raise ValueError(f"n: found {n}, expected fewer than the {len(labels)} images, so that some are left to test.")
    order = rng.permutation(len(labels))
    train, test = order[:n], order[n:]
    return Split(inputs[train], relabelled(labels[train], kind, rng, share), inputs[test], labels[test])


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
