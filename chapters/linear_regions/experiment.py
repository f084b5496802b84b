"""Linear regions of networks that learn digits, with right and with shuffled labels: the stored experiment, and slices.

The count of regions is a whole number that jumps where rounding moves a boundary across a curve, and training magnifies
rounding. So the numbers on the pages are stored, and a run of one seed shows that the present code still gives them.

``python -m chapters run linear_regions`` makes it again, in about a minute on one core.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from chapters.kit.witness import CHAOTIC, Witness
from chapters.shared.adam import train
from chapters.shared.complexity.curves import circle_through, segments
from chapters.shared.complexity.network import Network, random_network
from chapters.shared.complexity.regions import curve_regions, regions_of
from chapters.shared.complexity.slices import SlicePartition, partition_slice
from chapters.shared.complexity.trace import layer_lengths, trace_curves
from chapters.shared.data import digits

PACKAGES = ("scikit-learn",)
SETTINGS: dict[str, Any] = {
    "n_train": 300,
    "hidden": [48, 48],
    "learning_rate": 3e-3,
    "batch_size": 50,
    "epochs": [0, 1, 3, 10, 30, 100, 300],
    "seeds": list(range(10)),
    "n_segments": 100,
    "n_circles": 30,
}
QUICK: dict[str, Any] = {"seeds": [3]}
WITNESS = Witness(["seeds"], **CHAOTIC)
LABELS = ("right", "shuffled")
SQUARE = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
"""Its corners, in turn."""


class Setting:
    """Images (n_train, 64) with their labels, test images with theirs, and the curves on which regions are counted.

    The curves are fixed: ``lines`` between training images of two classes, ``circles`` through three of three.
    """

    def __init__(self) -> None:
        data, n, rng = digits(), SETTINGS["n_train"], np.random.default_rng(0)
        self.x, self.y = data.x[:n].astype(float), data.y[:n]
        self.x_test, self.y_test = data.x_test.astype(float), data.y_test

        def draw(size: int) -> np.ndarray:
            while True:
                chosen = rng.choice(n, size, replace=False)
                if len(set(self.y[chosen])) == size:
                    return self.x[chosen]

        pairs = np.array([draw(2) for _ in range(SETTINGS["n_segments"])])
        self.lines = segments(*pairs.swapaxes(0, 1))
        self.circles = [circle_through(*draw(3)) for _ in range(SETTINGS["n_circles"])]


setting = cache(Setting)


def start(seed: int) -> Network:
    """He weights, no biases: where the runs of a seed start, with right and with shuffled labels."""
    return random_network([64, *SETTINGS["hidden"], 10], np.random.default_rng([seed, 0]))


def labels(kind: str, seed: int) -> np.ndarray:
    """(n_train,) the right labels, or a permutation of them that belongs to the seed."""
    y = setting().y
    return y if kind == "right" else np.random.default_rng([seed, 1]).permutation(y)


def train_digits(
    kinds: Sequence[str], seeds: Sequence[int], settings: Mapping[str, Any] = SETTINGS
) -> dict[str, list[tuple[Network, ...]]]:
    """Kind of labels → for every seed the networks at the epochs of the settings, trained side by side."""
    runs, epochs = [(kind, seed) for kind in kinds for seed in seeds], settings["epochs"]
    starts, rngs = [start(seed) for _, seed in runs], [np.random.default_rng([seed, 2]) for _, seed in runs]
    targets = np.array([labels(kind, seed) for kind, seed in runs])
    options = settings["learning_rate"], epochs[-1], settings["batch_size"], epochs
    by_run = list(zip(*train(starts, setting().x, targets, rngs, *options), strict=True))
    return {kind: [path for run, path in zip(runs, by_run, strict=True) if run[0] == kind] for kind in kinds}


def measures(network: Network, targets: np.ndarray) -> dict[str, float]:
    """What is measured in one network: regions − 1 on segments, bends and lengths of circles, weights, and accuracies.

    "linear", "patterns" and "log" (of linear) are means over segments, "circle" over circles, as is "log length", of
    their images in the logits; "log weights" is of the product of the Frobenius norms of all layers; "train" and "test"
    are shares of right answers, the former of the labels that it was trained on.
    """
    at = setting()
    regions = curve_regions(network, at.lines)
    around = [trace_curves(network, circle) for circle in at.circles]
    return {
        "linear": float(regions.linear.mean() - 1),
        "patterns": float(regions.patterns.mean() - 1),
        "log": float(np.log(regions.linear - 1.0).mean()),
        "circle": float(np.mean([np.sum(regions_of(course).bends) for course in around])),
        "log length": float(np.mean([np.log(layer_lengths(course)[-1, 0]) for course in around])),
        "log weights": float(np.sum([np.log(np.linalg.norm(w)) for w in network.weights])),
        "train": float(np.mean(network(at.x).argmax(axis=1) == targets)),
        "test": float(np.mean(network(at.x_test).argmax(axis=1) == at.y_test)),
    }


def run(settings: Mapping[str, Any] = SETTINGS) -> dict[str, Any]:
    """Kind of labels → measure → one list for each seed, over the epochs of the settings."""
    seeds, values = settings["seeds"], {}
    trained = train_digits(LABELS, seeds)
    for kind in LABELS:
        rows = [
            [measures(network, labels(kind, seed)) for network in snapshots]
            for seed, snapshots in zip(seeds, trained[kind], strict=True)
        ]
        values[kind] = {name: [[row[name] for row in of_seed] for of_seed in rows] for name in rows[0][0]}
    return values


def with_invisible_units(network: Network, n_units: int, share: float, rng: np.random.Generator) -> Network:
    """The network with ``n_units`` random ReLU units beside its first hidden layer that hardly move its logits.

    Their outputs add up in one more unit of the next layer, which never switches off, and from there reach the logits,
    which change by at most ``share`` of their range over the ends of the segments. The sum is convex along a segment,
    so that its change is largest at an end.
    """
    inputs = setting().lines
    ends = np.concatenate([inputs.coefficients[:, 0], inputs.coefficients.sum(axis=1)])
    extra = random_network([64, n_units], rng, bias_scale=1.0)
    sums = np.maximum(ends @ extra.weights[0] + extra.biases[0], 0).sum(axis=1)
    logits = network(ends)
    pull = rng.uniform(-1, 1, logits.shape[1])
    pull *= share * np.ptp(logits) / (sums.max() * np.abs(pull).max())
    first, second, last = network.weights
    weights = (
        np.hstack([first, extra.weights[0]]),
        np.block([[second, np.zeros((len(second), 1))], [np.zeros((n_units, second.shape[1])), np.ones((n_units, 1))]]),
        np.vstack([last, pull]),
    )
    biases = (np.r_[network.biases[0], extra.biases[0]], np.r_[network.biases[1], 0.0], network.biases[2])
    return Network(weights, biases)


def three_images() -> np.ndarray:
    """(3, 64) the first training images of a 0, a 1 and a 4."""
    at = setting()
    return np.array([at.x[np.flatnonzero(at.y == digit)[0]] for digit in (0, 1, 4)])


def plane_through(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(3, d) the middle of three images and two orthonormal directions of their plane, and their places (3, 2)."""
    middle = images.mean(axis=0)
    directions = np.linalg.qr((images[1:] - images[0]).T)[0].T
    return np.vstack([middle, directions]), (images - middle) @ directions.T


def slice_of(network: Network, plane: np.ndarray, places: np.ndarray, margin: float = 1.4) -> SlicePartition:
    """The polygons of a square on the plane that holds the places (3, 2), ``margin`` times as wide as it must be."""
    square = margin * float(np.abs(places).max()) * SQUARE
    return partition_slice(network, plane[0], plane[1], plane[2], square)
