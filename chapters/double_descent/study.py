"""Double descent with random features: test error by number of features, and which complexity finds its peak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from capcore.complexity.effective import Procedure, Sample
from capcore.validation import positive_integer
from chapters.double_descent.noisy_digits import digits, one_hot, relabelled, split, squared_error, wrong_share
from chapters.shared.intervals import geometric_interval

PENALTIES = tuple(np.geomspace(1e-6, 1e6, 13).tolist())
ERRORS = ("train", "train_wrong", "test", "test_wrong", "ridge", "ridge_train")


@dataclass(frozen=True, eq=False)
class FeatureCurves:
    """Errors by number of features.

    Attributes
    ----------
    counts : (K,) numbers of features. n : training images.
    errors : name → (K, n_seeds): ``train`` and ``test`` mean squares of least norm, ``train_wrong`` and
        ``test_wrong`` shares of wrong digits, ``ridge`` the test mean square of the penalty for which it is least,
        ``ridge_train`` its training mean square.
    most_missed : training images with a squared error above 1e-6 where there are n features, most of all seeds; −1
        where n is not among the counts.
    """

    counts: np.ndarray
    n: int
    errors: Mapping[str, np.ndarray]
    most_missed: int

    def mean(self, name: str) -> np.ndarray:
        """(K,) geometric means over seeds of a mean square, arithmetic ones of a share."""
        values = self.errors[name]
        return (
            values.mean(axis=1) if name.endswith("wrong") else np.exp(np.log(np.maximum(values, 1e-300)).mean(axis=1))
        )

    @property
    def peak(self) -> int:
        """Number of features at which the test mean square is largest."""
        return int(self.counts[self.mean("test").argmax()])

    def first_within(self, name: str, limit: float) -> int | None:
        """Fewest features whose mean training error is at most ``limit``; None where there are none."""
        within = self.counts[self.errors[name].mean(axis=1) <= limit]
        return int(within[0]) if len(within) else None

    def height(self, below: int) -> tuple[float, float, float]:
        """Test mean square at n features over that at ``below``: geometric mean over seeds, ends of its interval."""
        i, j = (self.counts.tolist().index(count) for count in (self.n, below))
        mean, low, high = geometric_interval(self.errors["test"][i] / self.errors["test"][j])
        return float(mean), float(low), float(high)


class RandomFeatures:
    """Random ReLU features of images (n, 64): max(0, ⟨w, x⟩ + b), with x the pixels less their means over all images.

    The normal ⟨w, x⟩ has variance one in the mean over images, and b is uniform between −1 and 1, so that no feature is
    zero on all of them, which would make the rank smaller than the number of features. The first k are those of k.
    """

    def __init__(self, n_features: int, rng: np.random.Generator) -> None:
        number = positive_integer(n_features, "n_features")
        inputs, _ = digits()
        self.means = inputs.mean(axis=0)
        self.scale = float(np.sqrt(((inputs - self.means) ** 2).sum(axis=1).mean()))
        self.weights, self.offsets = rng.standard_normal((64, number)), rng.uniform(-1.0, 1.0, number)

    def __call__(self, inputs: np.ndarray) -> np.ndarray:
        """(n, n_features)."""
        return np.maximum((inputs - self.means) / self.scale @ self.weights + self.offsets, 0.0)


def least_norm_path(
    features: np.ndarray, targets: np.ndarray, test_features: np.ndarray, penalties: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Predictions of least squares, of least norm and with penalties, all from one singular value decomposition.

    Features (n, p), targets (n, k), test features (m, p). The penalties count in mean squares of the features.
    Returns predictions at the training and at the test points of least norm, and lists of both by penalty.
    """
    u, s, vt = np.linalg.svd(features, full_matrices=False)
    projected, test = u.T @ targets, test_features @ vt.T
    kept = s > s[0] * max(features.shape) * np.finfo(float).eps
    inverse = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)[:, None] * projected
    scale = float(np.mean(features**2))
    shrunk = [(s / (s**2 + penalty * scale))[:, None] * projected for penalty in penalties]
    return (
        u @ (s[:, None] * inverse),
        test @ inverse,
        [u @ (s[:, None] * each) for each in shrunk],
        [test @ each for each in shrunk],
    )


def feature_curves(
    counts: Sequence[int], n: int, kinds: Sequence[str], n_seeds: int, seed: int, share: float = 0.2
) -> dict[str, FeatureCurves]:
    """Kind of labels → :class:`FeatureCurves` of least squares on random features of digits.

    Every seed draws training images and features, the same for all ``kinds`` of
    ``relabelled``, which ``share`` of wrong labels is for. ``counts`` : numbers of
    features.
    """
    found = {kind: {name: np.empty((len(counts), n_seeds)) for name in ERRORS} for kind in kinds}
    missed = dict.fromkeys(kinds, -1)
    for j in range(positive_integer(n_seeds, "n_seeds", 2)):
        rng = np.random.default_rng([seed, j])
        data, draw = split(n, "right", rng), RandomFeatures(max(counts), rng)
        labels = {kind: relabelled(data.digits, kind, rng, share) for kind in kinds}
        train, test = draw(data.inputs), draw(data.test_inputs)
        targets = np.hstack([one_hot(each) for each in labels.values()])
        for i, count in enumerate(counts):
            path = least_norm_path(train[:, :count], targets, test[:, :count], PENALTIES)
            for k, kind in enumerate(kinds):
                mine = slice(10 * k, 10 * k + 10)
                fitted, predicted = path[0][:, mine], path[1][:, mine]
                by_penalty = [squared_error(each[:, mine], data.test_digits) for each in path[3]]
                best = int(np.argmin(by_penalty))
                values = {
                    "train": squared_error(fitted, labels[kind]),
                    "train_wrong": wrong_share(fitted, labels[kind]),
                    "test": squared_error(predicted, data.test_digits),
                    "test_wrong": wrong_share(predicted, data.test_digits),
                    "ridge": by_penalty[best],
                    "ridge_train": squared_error(path[2][best][:, mine], labels[kind]),
                }
                for name, value in values.items():
                    found[kind][name][i, j] = value
                if count == n:
                    distances = np.sum((fitted - targets[:, mine]) ** 2, axis=1)
                    missed[kind] = max(missed[kind], int(np.count_nonzero(distances > 1e-6)))
    return {kind: FeatureCurves(np.array(counts), n, found[kind], missed[kind]) for kind in kinds}


def feature_sample(n_features: int, kind: str, rng: np.random.Generator, share: float = 0.2) -> Sample:
    """Samples of all digits as random features (n, n_features) and one-hot targets (n, 10), labels of a ``kind``."""
    inputs, labels = digits()
    features = RandomFeatures(n_features, rng)(inputs)

    def sample(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        chosen = rng.permutation(len(labels))[:n]
        return features[chosen], one_hot(relabelled(labels[chosen], kind, rng, share))

    return sample


def wrong_digits(procedure: Procedure) -> Procedure:
    """The share of training digits that a procedure's predictor (n, 10) has wrong, as its training error."""

    def error(inputs: np.ndarray, targets: np.ndarray, rng: np.random.Generator) -> float:
        predict = procedure(inputs, targets, rng)
        if not callable(predict):
            raise ValueError(f"procedure: found {predict!r}, expected a function from inputs to predictions.")
        return wrong_share(predict(inputs), targets.argmax(axis=1))

    return error
