"""Double descent: test error by number of random features and by width, and which complexity finds its peak."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chapters.double_descent.effective import ModelComplexity, Sample, least_squares
from chapters.double_descent.experiment import digits, one_hot, relabelled, split, squared_error, wrong_share
from chapters.kit.stored import stored
from chapters.shared.intervals import geometric_interval

PENALTIES = tuple(np.geomspace(1e-6, 1e6, 13).tolist())
ERRORS = ("train", "train_wrong", "test", "ridge")


@dataclass(frozen=True, eq=False)
class ErrorCurves:
    """Errors by number of features, or of hidden units.

    Attributes
    ----------
    counts : (K,) numbers of features, or of hidden units. n : training images.
    errors : name → (K, n_seeds): ``train`` and ``test`` mean squares of least norm, ``train_wrong`` the share of wrong
        training digits, ``ridge`` the test mean square of the penalty for which it is least.
    most_missed : training images with a squared error above 1e-6 where there are n features, most of all seeds; −1
        where n is not among the counts.
    """

    counts: np.ndarray
    n: int
    errors: Mapping[str, np.ndarray]
    most_missed: int = -1

    def mean(self, name: str) -> np.ndarray:
        """(K,) geometric means over seeds of a mean square, arithmetic ones of a share."""
        values = self.errors[name]
        if name.endswith("wrong"):
            return values.mean(axis=1)
        return np.exp(np.log(np.maximum(values, 1e-300)).mean(axis=1))

    @property
    def peak(self) -> int:
        """Number of features at which the test mean square is largest."""
        return int(self.counts[self.mean("test").argmax()])

    def first_within(self, name: str, limit: float) -> int | None:
        """The least count whose mean training error is at most ``limit``; None where there is none."""
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
        inputs, _ = digits()
        self.means = inputs.mean(axis=0)
        self.scale = float(np.sqrt(((inputs - self.means) ** 2).sum(axis=1).mean()))
        self.weights, self.offsets = rng.standard_normal((64, n_features)), rng.uniform(-1.0, 1.0, n_features)

    def __call__(self, inputs: np.ndarray) -> np.ndarray:
        """(n, n_features)."""
        return np.maximum((inputs - self.means) / self.scale @ self.weights + self.offsets, 0.0)


def least_norm_path(
    features: np.ndarray, targets: np.ndarray, test_features: np.ndarray, penalties: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Least squares, of least norm and with penalties, all from one singular value decomposition.

    Features (n, p), targets (n, k), test features (m, p). The penalties count in mean squares of the features.
    Returns the training points (n, r) and the test points (m, r) along the r right singular vectors, and coefficients
    there: (r, k) of least norm, and (n_penalties, r, k). Points times coefficients are predictions.
    """
    u, s, vt = np.linalg.svd(features, full_matrices=False)
    projected = u.T @ targets
    resolved = s > s[0] * max(features.shape) * np.finfo(float).eps
    inverse = np.where(resolved, 1.0 / np.where(resolved, s, 1.0), 0.0)
    shrunk = s / (s**2 + np.mean(features**2) * np.array(penalties)[:, None])
    return u * s, test_features @ vt.T, inverse[:, None] * projected, shrunk[:, :, None] * projected


def feature_curves(
    counts: Sequence[int], n: int, kinds: Sequence[str], n_seeds: int, seed: int, share: float = 0.2
) -> dict[str, ErrorCurves]:
    """Kind of labels → :class:`ErrorCurves` of least squares on random features of digits.

    Every seed draws training images and features, the same for all ``kinds`` of
    ``relabelled``, which ``share`` of wrong labels is for. ``counts`` : numbers of
    features.
    """
    errors = {kind: {name: np.empty((len(counts), n_seeds)) for name in ERRORS} for kind in kinds}
    missed = dict.fromkeys(kinds, -1)
    for j in range(n_seeds):
        rng = np.random.default_rng([seed, j])
        data, draw = split(n, "right", rng), RandomFeatures(max(counts), rng)
        labels = {kind: relabelled(data.y, kind, rng, share) for kind in kinds}
        train, test = draw(data.x), draw(data.x_test)
        targets = np.hstack([one_hot(digit) for digit in labels.values()])
        for i, count in enumerate(counts):
            points, test_points, least, shrunk = least_norm_path(train[:, :count], targets, test[:, :count], PENALTIES)
            gram, aim = test_points.T @ test_points, test_points.T @ one_hot(data.y_test)
            for k, kind in enumerate(kinds):
                mine = slice(10 * k, 10 * k + 10)
                fitted, predicted = points @ least[:, mine], test_points @ least[:, mine]
                by_penalty = shrunk[:, :, mine]
                squares = np.sum(by_penalty * (gram @ by_penalty - 2 * aim), axis=(1, 2))  # less those of 0
                best = by_penalty[np.argmin(squares)]
                values = {
                    "train": squared_error(fitted, labels[kind]),
                    "train_wrong": wrong_share(fitted, labels[kind]),
                    "test": squared_error(predicted, data.y_test),
                    "ridge": squared_error(test_points @ best, data.y_test),
                }
                for name, value in values.items():
                    errors[kind][name][i, j] = value
                if count == n:
                    distances = np.sum((fitted - targets[:, mine]) ** 2, axis=1)
                    missed[kind] = max(missed[kind], int(np.count_nonzero(distances > 1e-6)))
    return {kind: ErrorCurves(np.array(counts), n, errors[kind], missed[kind]) for kind in kinds}


def feature_sample(n_features: int, kind: str, rng: np.random.Generator, share: float = 0.2) -> Sample:
    """Samples of all digits as random features (n, n_features) and one-hot targets (n, 10), labels of a ``kind``."""
    inputs, labels = digits()
    features = RandomFeatures(n_features, rng)(inputs)

    def sample(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        chosen = rng.permutation(len(labels))[:n]
        return features[chosen], one_hot(relabelled(labels[chosen], kind, rng, share))

    return sample


def wrong_digits(inputs: np.ndarray, targets: np.ndarray, rng: np.random.Generator) -> float:
    """The share of training digits, one-hot targets (n, 10), that least squares have wrong: a procedure's error."""
    return wrong_share(least_squares(inputs, targets, rng)(inputs), targets.argmax(axis=1))


class StoredDescent:
    """What is stored of ``experiment.run``.

    ``steps`` : of training, after which errors were taken. ``by_width`` : ``train``, ``train_wrong``, ``test`` and
    ``test_wrong`` errors by the number of hidden units.
    """

    def __init__(self) -> None:
        content = stored("double_descent")
        steps, widths = content["settings"]["steps"], content["settings"]["widths"]
        self.steps, self.sizes, self.values = steps["steps"], steps["sizes"], content["values"]
        errors = {name: np.array(rows) for name, rows in self.values["widths"].items()}
        self.by_width = ErrorCurves(np.array(widths["widths"]), widths["n"], errors)

    def by_steps(self, kind: str, epsilon: float) -> list[ModelComplexity]:
        """Complexity after each number of steps, labels of a kind; one of the sizes run."""
        errors = np.array(self.values["steps"][kind]["steps"])
        return [self._complexity(errors[:, :, i], epsilon) for i in range(len(self.steps))]

    def by_epochs(self, kind: str, epsilon: float) -> ModelComplexity:
        """Complexity after a fixed number of epochs."""
        return self._complexity(self.values["steps"][kind]["epochs"], epsilon)

    def _complexity(self, errors: Any, epsilon: float) -> ModelComplexity:
        return ModelComplexity(dict(zip(self.sizes, errors, strict=True)), epsilon)
