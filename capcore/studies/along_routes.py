"""Second routes of the chapter on training and every measure: boundaries without lines, ranks without rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from capcore.complexity import Network, boundary_density, expected_boundary_density, random_network
from capcore.studies.along_training import KINDS, Places, places
from capcore.studies.coarea import ball_points, coarea_density
from capcore.studies.effective_complexity import trained
from capcore.studies.exact_rank import exact_rank
from capcore.studies.jacobian_rank import quick_rank


@dataclass(frozen=True)
class Routes:
    """Two routes to one number.

    Attributes
    ----------
    first, second : the two.
    error : the standard error of their difference.
    """

    first: float
    second: float
    error: float

    @property
    def gap(self) -> float:
        """The difference in standard errors; 0 where both agree without scatter, as for a network without boundary."""
        gap = abs(self.first - self.second)
        return gap / self.error if self.error else (np.inf if gap else 0.0)


def density_routes(network: Network, at: Places, seed: int, n_points: int = 20_000) -> Routes:
    """Boundary density in the ball of the images: crossings of as many lines as ``at`` says, and the coarea formula."""
    rng = np.random.default_rng([21, seed])
    counted = boundary_density(network, at.centre, at.radius, at.lines, rng)
    mean, error = coarea_density(network, ball_points(at.centre, at.radius, n_points, rng))
    return Routes(counted.value, mean, float(np.hypot(counted.standard_error, error)))


def bias_law(at: Places, width: int, seed: int, n_networks: int = 40, bias_scale: float = 0.3) -> Routes:
    """Boundary density of random networks with normal biases in that ball: counted, and the law of its expectation.

    Means over networks of two hidden layers of ``width`` units; the error is of the differences network by network.
    """
    pairs = []
    for rng in np.random.default_rng([22, seed]).spawn(n_networks):
        network = random_network([len(at.centre), width, width, 10], rng, bias_scale=bias_scale)
        points = ball_points(at.centre, at.radius, 200, rng)
        law = expected_boundary_density(network, points, bias_scale).sum(axis=1).mean()
        pairs.append((boundary_density(network, at.centre, at.radius, 100, rng).value, law))
    counted, expected = np.array(pairs).T
    error = float((counted - expected).std(ddof=1) / n_networks**0.5)
    return Routes(float(counted.mean()), float(expected.mean()), error)


def rank_routes(networks: Sequence[Network], inputs: np.ndarray) -> list[tuple[int, int]]:
    """For each ReLU network the rank of its parameter Jacobian by singular values, and by exact elimination."""
    return [(quick_rank(network, inputs).rank, exact_rank(network, inputs)) for network in networks]


def rare_units(settings: Mapping[str, Any], epoch: int = 3) -> dict[str, float]:
    """Mean number of ReLU units that are on for some images, but fewer than those have dimensions.

    Such a unit adds less than one that is on for many. "start", and "right" and "shuffled" after ``epoch`` passes; the
    networks of the stored experiment, trained again that far.
    """
    data, seeds = places(settings["n_images"]).data, settings["seeds"]
    x = data.x
    dimensions = int(np.linalg.matrix_rank(np.column_stack([x, np.ones(len(x))])))
    found: dict[str, float] = {}
    for kind in KINDS:
        labels, options = [kind] * len(seeds), (settings["width"], settings["learning_rate"], epoch, [0, epoch])
        _, networks, _ = trained(data, seeds, labels, "relu", *options)
        for name, nets in zip(("start", kind), networks, strict=True):
            on = np.array([np.concatenate([(z > 0).sum(axis=0) for z in n.pre_activations(x)[:-1]]) for n in nets])
            found[name] = float(np.sum((on > 0) & (on < dimensions), axis=1).mean())
    return found
