"""Every measure of complexity on the same networks, along training: digits, right and shuffled labels, several seeds.

Only training accuracy was looked at to choose the width, the rate and the number of epochs. The rules by which the
measures are read are in ``study``. Needs scikit-learn for its digits, imported when they are read.

``python -m chapters run along_training`` makes it again, in about ten minutes on one core.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import variation
from tqdm import tqdm

from chapters.along_training.ranks import jacobian_rank, participation_ratio
from chapters.effective_complexity import experiment as effective_complexity
from chapters.effective_complexity.experiment import DIGITS, by_kind
from chapters.effective_complexity.images import images
from chapters.effective_complexity.tangent_networks import tangent_network
from chapters.gaussian_prediction.experiment import plain
from chapters.kit.stored import arrays, stored
from chapters.kit.witness import Witness
from chapters.shared.complexity.curves import Curves, circle_through, segments
from chapters.shared.complexity.fisher_norm import fisher_rao
from chapters.shared.complexity.network import Network, sensitivity
from chapters.shared.complexity.parameter_rank import parameter_jacobian, tangent_space
from chapters.shared.complexity.regions import boundary_density, curve_regions
from chapters.shared.complexity.trace import layer_lengths, trace_curves

SETTINGS: dict[str, Any] = {
    "n_images": 300,
    "n_lines": 2000,
    "activations": ["relu", "tanh"],
    "width": 16,
    "learning_rate": 0.005,
    "n_epochs": 600,
    "snapshots": [0, 1, 3, 10, 30, 100, 300, 600],
    "levels": [2, 1, 1, 1, 1, 1, 1, 2],
    "seeds": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    "error": 0.1,
}
QUICK: dict[str, Any] = {
    "n_images": 40,
    "n_lines": 5,
    "activations": ["relu"],
    "n_epochs": 1,
    "snapshots": [0, 1],
    "levels": [2, 1],
    "seeds": [0],
}
WITNESS = Witness(
    ["activations seeds"],
    fixed={"snapshots": [0, 1], "levels": [2, 1], "n_epochs": 1},
    elsewhere={"": 1e-3},
    reason="Training magnifies rounding.",
)
PACKAGES = ("scikit-learn",)
N_NEAR, N_CIRCLES = 40, 20
SHARE = 0.1  # radius of a small ball, over that of the large one


class Places:
    """Where the measures are taken, the same for all networks: drawn from a fixed seed.

    Attributes
    ----------
    data : images, labels, and pairs of test images of different digits.
    centre, radius : of the ball of the images: their mean (64,), and their rms distance from it.
    near : (n_near, 64) test images, the centres of small balls, whose radius is ``SHARE`` of the other.
    lines : through the large ball, and through all small ones.
    segments, circles : between two, and through three, test images of different digits.
    """

    def __init__(self, n_images: int = 300, n_lines: int = 2_000) -> None:
        self.data, rng = images(n_images), np.random.default_rng(11)
        self.centre, self.lines = self.data.x.mean(axis=0), n_lines
        self.radius = float(np.sqrt(np.square(self.data.x - self.centre).sum(axis=1).mean()))
        tests = self.data.x_test
        self.near = tests[rng.permutation(len(tests))[:N_NEAR]]
        self.circles: list[Curves] = []
        while len(self.circles) < N_CIRCLES:
            chosen = rng.choice(len(tests), 3, replace=False)
            if len(set(self.data.y_test[chosen])) == 3:
                self.circles.append(circle_through(*tests[chosen]))
        self.segments = segments(self.data.starts, self.data.ends)


places = cache(Places)


def densities(network: Network, at: Places) -> dict[str, float]:
    """Boundary per volume of a piecewise linear network, counted on the same lines for all networks.

    "boundary.ball" in the ball of the images, "boundary.near" the mean over the small balls around test images.
    """
    ball = boundary_density(network, at.centre, at.radius, at.lines, np.random.default_rng(12))
    lines, rng = max(at.lines // len(at.near), 2), np.random.default_rng(13)
    near = [boundary_density(network, point, SHARE * at.radius, lines, rng).value for point in at.near]
    return {"boundary.ball": ball.value, "boundary.near": float(np.mean(near))}


def on_curves(network: Network, at: Places) -> dict[str, float]:
    """Mean linear pieces and activation patterns on the segments, and of the circles: transitions and length.

    "transitions" are switches of any unit, a mean; "length" is of the images in the logits, a geometric mean.
    """
    regions = curve_regions(network, at.segments)
    around = [trace_curves(network, circle) for circle in at.circles]
    return {
        "pieces": float(regions.linear.mean()),
        "patterns": float(regions.patterns.mean()),
        "transitions": float(np.mean([len(course.stages[-1].start) - 1 for course in around])),
        "length": float(np.exp(np.mean([np.log(layer_lengths(course)[-1, 0]) for course in around]))),
    }


def measures(network: Network, labels: np.ndarray, at: Places, level: int, error: float) -> dict[str, float]:
    """Measures of one network by name.

    Parameters
    ----------
    labels : (n_images,) that the network learns.
    level : 0 for what is quick, 1 with rank and participation ratio at training images, 2 with the leverage too.
    error : of tangents, over the standard deviation of the logits; see
        ``tangent_network``.
    """
    data = at.data
    values = {
        **effective_complexity.fit(network, data, labels),
        "logits": float(sensitivity(network, data.x_test, "logits").mean()),
        "probabilities": float(sensitivity(network, data.x_test, "probabilities").mean()),
        "fisher": fisher_rao(network, data.x),
    }
    if network.phi.piecewise_linear:
        values |= densities(network, at) | on_curves(network, at)
    else:
        values["curve"] = tangent_network(network, data.x, error * float(network(data.x).std())).complexity
    if level > 0:
        jacobian = parameter_jacobian(network, data.x)
        values |= {"rank": jacobian_rank(jacobian), "participation": participation_ratio(jacobian)}
    if level > 1 and network.phi.piecewise_linear:
        values["unevenness"] = float(variation(tangent_space(network, data.x).per_input(network.widths[-1])))
    return values


def along_training(at: Places, activation: str, settings: Mapping[str, Any]) -> dict[str, dict[str, np.ndarray]]:
    """Kind of labels → measure → (n_snapshots that have it, n_seeds).

    settings : of the experiment; ``levels``, of :func:`measures`, are those of the ``snapshots``, of which the first
    is 0 and the last one ``n_epochs``.
    """
    training = (settings[name] for name in ("width", "learning_rate", "n_epochs", "snapshots"))
    networks, targets = effective_complexity.trained_in_pairs(at.data, settings["seeds"], activation, *training)
    n, error, (level, *levels) = len(settings["seeds"]), settings["error"], settings["levels"]
    first = [measures(net, y, at, level, error) for net, y in zip(networks[0][:n], targets[:n], strict=True)]
    moved = zip(first, networks[0][n:], targets[n:], strict=True)  # the same start: the labels matter to the fit alone
    rows = [[*first, *(start | effective_complexity.fit(net, at.data, y) for start, net, y in moved)]]
    for nets, level in zip(networks[1:], levels, strict=True):
        rows.append([measures(net, y, at, level, error) for net, y in zip(nets, targets, strict=True)])
    return by_kind(rows)


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Activation → kind of labels → measure → values over snapshots and seeds, as plain lists."""
    at = places(settings["n_images"], settings["n_lines"])
    bar = tqdm(settings["activations"], unit="activation", disable=not progress)
    return dict(plain({activation: along_training(at, activation, settings) for activation in bar}, DIGITS))


class Stored:
    """The stored experiment, as arrays.

    Attributes
    ----------
    settings : what it was made with.
    values : activation → kind of labels → measure → (n_snapshots, n_seeds), or (2, n_seeds) for measures that are taken
        at the first and the last snapshot only.
    """

    def __init__(self) -> None:
        content = stored("along_training")
        self.settings: dict[str, Any] = content["settings"]
        self.values: dict[str, dict[str, dict[str, np.ndarray]]] = arrays(content["values"])
