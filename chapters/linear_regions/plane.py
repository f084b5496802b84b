"""Two networks on one plane along their training, small enough for a page: what cuts the plane into polygons.

On a plane x = origin + u e₁ + v e₂ a network with 64 inputs is one with two, u and v: its first layer is multiplied by
the directions, the others stay. Sixteen bits for each weight leave eight kilobytes for a network. The page cuts the
plane itself, as ``partition_slice`` does; all counts are those of the rounded network.

``python -m chapters run plane_networks`` makes them again, in about a minute on one core.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np

from chapters.gaussian_prediction.experiment import plain
from chapters.kit.witness import CHAOTIC, Witness
from chapters.linear_regions import experiment
from chapters.shared.complexity import Network, SlicePartition, partition_slice

SETTINGS: dict[str, Any] = {
    "seed": 0,
    "learning_rate": 3e-3,
    "batch_size": 50,
    "epochs": [0, 1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300],
    "margin": 1.4,
}
QUICK: dict[str, Any] = {"epochs": [0, 1]}
WITNESS = Witness([""], fixed={"epochs": [0, 1, 2]}, **CHAOTIC)
PACKAGES = ("scikit-learn",)
STEPS = 2**15 - 1
"""Of a weight, from zero to the largest of its layer."""
MEASURES = ("linear", "circle", "train", "test")


def on_plane(network: Network, plane: np.ndarray) -> Network:
    """The network as a function of the places (u, v) on a plane (3, d): its origin and two directions.

    >>> net = Network([np.ones((3, 1))], [[0.5]])
    >>> on_plane(net, np.array([[0, 0, 1.0], [1, 0, 0], [0, 2, 0]]))([[1.0, 1.0]]).tolist()
    [[4.5]]
    """
    first, *others = network.weights
    below, *biases = network.biases
    return Network((plane[1:] @ first, *others), (plane[0] @ first + below, *biases))


def packed(network: Network) -> dict[str, Any]:
    """The network in whole numbers from −STEPS to STEPS: all layers as base64 of little-endian 16-bit integers.

    ``widths`` : of inputs and layers. ``scales`` : what a layer's numbers are multiplied by. ``weights`` : of each
    layer the weights (fan_in, fan_out) row by row, then the biases.
    """
    layers = [np.vstack([w, b]) for w, b in zip(network.weights, network.biases, strict=True)]
    scales = [float(f"{np.abs(layer).max() / STEPS:.9g}") for layer in layers]
    whole = [np.round(layer / scale).astype("<i2").ravel() for layer, scale in zip(layers, scales, strict=True)]
    text = b64encode(np.concatenate(whole).tobytes()).decode("ascii")
    return {"widths": list(network.widths), "scales": scales, "weights": text}


def unpacked(content: Mapping[str, Any]) -> Network:
    """The network of :func:`packed`, with its weights rounded.

    >>> unpacked(packed(Network([[[1.0, -0.5]]], [[0.0, 0.25]]))).biases[0].round(4).tolist()
    [0.0, 0.25]
    """
    numbers, widths = np.frombuffer(b64decode(content["weights"]), "<i2"), content["widths"]
    layers = []
    for fan_in, fan_out, scale in zip(widths, widths[1:], content["scales"], strict=False):
        size = (fan_in + 1) * fan_out
        layers.append(numbers[:size].reshape(-1, fan_out) * scale)
        numbers = numbers[size:]
    return Network(tuple(layer[:-1] for layer in layers), tuple(layer[-1] for layer in layers))


def cut(network: Network, half: float) -> SlicePartition:
    """The polygons of the square from −half to half on which a network of two inputs is affine."""
    return partition_slice(network, [0.0, 0.0], [1.0, 0.0], [0.0, 1.0], half * experiment.SQUARE)


def run(settings: Mapping[str, Any] = SETTINGS) -> dict[str, Any]:
    """The square with its three images, and kind of labels → networks and measures at the epochs of the settings.

    ``half`` : of the square's side. ``images`` : digit and place (u, v). Of each kind ``networks`` (:func:`packed`),
    ``polygons``, how many are in the square, and the measures of the whole network.
    """
    plane, places = experiment.plane_through(experiment.three_images())
    half = float(f"{settings['margin'] * np.abs(places).max():.6g}")
    seed = settings["seed"]
    kinds = {}
    for kind, (path,) in experiment.train_digits(experiment.LABELS, [seed], settings).items():
        networks = [packed(on_plane(network, plane)) for network in path]
        measured = [experiment.measures(network, experiment.labels(kind, seed)) for network in path]
        polygons = [cut(unpacked(network), half).n_patterns for network in networks]
        columns = {name: plain([row[name] for row in measured]) for name in MEASURES}
        kinds[kind] = {"networks": networks, "polygons": polygons, **columns}
    images = [[digit, *np.round(place, 6).tolist()] for digit, place in zip((0, 1, 4), places, strict=True)]
    return {"half": half, "images": images, "epochs": list(settings["epochs"]), "kinds": kinds}
