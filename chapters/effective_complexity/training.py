"""Digits and networks that learn them, right and shuffled labels; and measures of complexity of each network.

Needs scikit-learn for its digits, imported when they are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from capcore.complexity import Network, fisher_rao, random_network, sensitivity
from capcore.complexity.fisher_norm import homogeneous_form
from capcore.complexity.gradients import output_errors
from capcore.validation import finite_array, finite_number, positive_integer
from chapters.effective_complexity.tangent_networks import segment_pieces, tangent_network, uniform_tangents
from chapters.shared.adam import train

PLACES = ("training", "test", "midpoints", "pixels", "box")
"""Where sensitivity is measured: images, points between two of them, independent pixels, a uniform box."""

WEIGHT_SCALES = {"relu": 2**0.5, "tanh": 1.0}
"""Standard deviations of initial weights times √fan_in, which keep signals from vanishing or exploding."""


@dataclass(frozen=True, eq=False)
class Images:
    """Digits and points around them.

    Attributes
    ----------
    x, x_test : (n, 64) pixels; mean 0 and variance 1 over all pixels of all training images.
    y, y_test : (n,) labels 0 … 9.
    places : for each of ``PLACES`` points (m, 64).
    starts, ends : (n_segments, 64) pairs of test images of different digits.
    """

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    places: Mapping[str, np.ndarray]
    starts: np.ndarray
    ends: np.ndarray


def midpoints(inputs: object, labels: object, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, d) points halfway between two of ``inputs`` (m, d) of different ``labels`` (m,), pairs drawn at random."""
    x, y = finite_array(inputs, "inputs", 2), finite_array(labels, "labels", 1)
    if y.shape != x.shape[:1] or np.all(y == y[0]):
        raise ValueError(f"labels: found {len(np.unique(y))} kind(s) in {y.size}, expected two or more in {len(x)}.")
    first = rng.integers(0, len(x), positive_integer(n, "n"))
    second = np.array([rng.choice(np.flatnonzero(y != y[i])) for i in first])
    return (x[first] + x[second]) / 2


def shuffled_features(inputs: object, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, d) points with every feature drawn from those of ``inputs`` (m, d) by itself.

    Each feature keeps its distribution, and nothing is left of how features go together: off the data manifold, at
    the same mean distance from the mean.
    """
    x = finite_array(inputs, "inputs", 2)
    rows = rng.integers(0, len(x), (positive_integer(n, "n"), x.shape[1]))
    return x[rows, np.arange(x.shape[1])]


def uniform_box(inputs: object, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, d) points uniform between the least and the largest value of each feature of ``inputs`` (m, d)."""
    x = finite_array(inputs, "inputs", 2)
    return rng.uniform(x.min(axis=0), x.max(axis=0), (positive_integer(n, "n"), x.shape[1]))


@cache
def images(n_images: int = 600, n_points: int = 360, n_segments: int = 30) -> Images:
    """The first ``n_images`` of 1,437 training images, 360 test images, and points drawn from a fixed seed."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    if positive_integer(n_images, "n_images", 20) > 1437:
        raise ValueError(f"n_images: found {n_images}, expected at most 1437: the other 360 digits are test images.")
    x, y = load_digits(return_X_y=True)
    x, x_test, y, y_test = train_test_split(x, y, test_size=0.2, random_state=0, stratify=y)
    mean, scale = x.mean(), x.std()
    x, x_test = (x - mean) / scale, (x_test - mean) / scale
    x, y, rng = x[:n_images], y[:n_images], np.random.default_rng(7)
    places = {
        "training": x[rng.permutation(n_images)[:n_points]],
        "test": x_test[:n_points],
        "midpoints": midpoints(x, y, n_points, rng),
        "pixels": shuffled_features(x, n_points, rng),
        "box": uniform_box(x, n_points, rng),
    }
    first = rng.permutation(len(x_test))[:n_segments]
    second = np.array([rng.choice(np.flatnonzero(y_test != y_test[i])) for i in first])
    return Images(x, y, x_test, y_test, places, x_test[first], x_test[second])


def shuffled(labels: np.ndarray, seed: int) -> np.ndarray:
    """(n,) the same labels in another order, which belongs to the seed."""
    return np.random.default_rng([1, seed]).permutation(labels)


def trained(
    data: Images,
    seeds: Sequence[int],
    labels: Sequence[str],
    activation: str = "relu",
    width: int = 64,
    learning_rate: float | Sequence[float] = 0.002,
    n_epochs: int = 100,
    snapshots: Sequence[int] = (),
) -> tuple[tuple[int, ...], tuple[tuple[Network, ...], ...], np.ndarray]:
    """Epochs, networks of every snapshot, and the labels (n_runs, n) they learn; two hidden layers of ``width`` units.

    Parameters
    ----------
    seeds, labels : one for each run; labels are "right" or "shuffled". Runs of one seed start from the same weights.
    """
    rngs = [np.random.default_rng([0, seed]) for seed in seeds]
    widths, scale = [64, width, width, 10], WEIGHT_SCALES[activation]
    networks = [random_network(widths, rng, scale, activation=activation) for rng in rngs]
    kinds = zip(seeds, labels, strict=True)
    targets = np.stack([data.y if kind == "right" else shuffled(data.y, seed) for seed, kind in kinds])
    run = train(
        networks,
        data.x,
        targets,
        rngs,
        learning_rate=learning_rate,
        n_epochs=n_epochs,
        batch_size=50,
        snapshots=snapshots,
    )
    return run.epochs, run.networks, targets


def fit(network: Network, data: Images, labels: np.ndarray) -> dict[str, float]:
    """Training loss (nats), training accuracy on the labels that were learnt, and test accuracy on the right ones."""
    logits = network(data.x)
    return {
        "loss": float(output_errors(logits, labels, "cross_entropy")[0].mean()),
        "accuracy": float(np.mean(logits.argmax(axis=1) == labels)),
        "test_accuracy": float(np.mean(network(data.x_test).argmax(axis=1) == data.y_test)),
    }


def sensitivities(network: Network, data: Images) -> dict[str, float]:
    """Mean norms "probabilities.test" and so on for both outputs and all places; mean logs as "log probabilities.…"."""
    found = {}
    for of in ("probabilities", "logits"):
        for place, points in data.places.items():
            norms = sensitivity(network, points, of)
            found[f"{of}.{place}"] = float(norms.mean())
            found[f"log {of}.{place}"] = float(np.log(np.maximum(norms, 1e-300)).mean())
    return found


def norms(network: Network, data: Images, labels: np.ndarray) -> dict[str, float]:
    """Squared Fisher–Rao norms at the training images, what the closed form gives, and at twice the parameters."""
    model = fisher_rao(network, data.x)
    twice = Network(tuple(2 * w for w in network.weights), tuple(2 * b for b in network.biases), network.activation)
    return {
        "fisher": model,
        "empirical_fisher": fisher_rao(network, data.x, labels, "empirical"),
        "closed_form": homogeneous_form(network, data.x),
        "doubled_fisher": fisher_rao(twice, data.x),
    }


def pieces(network: Network, data: Images, error: float = 0.1) -> dict[str, float]:
    """Mean number of linear pieces on the segments, and the complexity of Hu et al.

    Of a ReLU network itself; of others with tangents, within ``error`` standard deviations of the logits on average.
    """
    if network.phi.piecewise_linear:
        linear = uniform_tangents(network)
    else:
        linear = tangent_network(network, data.x, finite_number(error, "error") * float(network(data.x).std()))
    return {
        "pieces": float(segment_pieces(linear, data.starts, data.ends).mean()),
        "curve_complexity": linear.complexity,
    }


def measures(network: Network, data: Images, labels: np.ndarray, error: float = 0.1) -> dict[str, float]:
    """All measures of one network, by name."""
    return {
        **fit(network, data, labels),
        **sensitivities(network, data),
        **norms(network, data, labels),
        **pieces(network, data, error),
    }


def along_training(
    data: Images,
    seeds: Sequence[int],
    snapshots: Sequence[int],
    activation: str = "relu",
    width: int = 64,
    learning_rate: float = 0.002,
    n_epochs: int = 100,
    error: float = 0.1,
) -> dict[str, dict[str, np.ndarray]]:
    """Labels ("right", "shuffled") → measure → (n_snapshots, n_seeds); see :func:`trained` and :func:`measures`."""
    kinds = ("right", "shuffled")
    runs = [seed for _ in kinds for seed in seeds], [kind for kind in kinds for _ in seeds]
    _, networks, targets = trained(data, *runs, activation, width, learning_rate, n_epochs, snapshots)
    rows = [[measures(net, data, y, error) for net, y in zip(nets, targets, strict=True)] for nets in networks]
    found = {name: np.array([[each[name] for each in row] for row in rows]) for name in rows[0][0]}
    split = {kind: slice(i * len(seeds), (i + 1) * len(seeds)) for i, kind in enumerate(kinds)}
    return {kind: {name: values[:, part] for name, values in found.items()} for kind, part in split.items()}
