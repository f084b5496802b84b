"""Second routes of the chapter on training and every measure, and what it trains again to look closer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from capcore.complexity import Network, boundary_density, expected_boundary_density, fisher_rao, random_network
from capcore.complexity.data_rank_bound import rank_bound_on_data
from chapters.along_training.along_summaries import Interval, Kinds, equal_loss_ratio, interval
from chapters.along_training.exact_rank import exact_rank, pattern_rank
from chapters.along_training.jacobian_rank import quick_rank
from chapters.along_training.study import KINDS, Places, places, table
from chapters.effective_complexity.study import fit, trained
from chapters.linear_regions.coarea import ball_points, coarea_density


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


def pattern_ranks(networks: Sequence[Network], inputs: np.ndarray, seed: int = 0) -> list[int]:
    """For each ReLU network the exact rank with random weights in place of its own, units on where they are."""
    rng = np.random.default_rng([23, seed])
    return [pattern_rank(network, inputs, rng) for network in networks]


def rare_units(settings: Mapping[str, Any], epoch: int = 3) -> dict[str, float]:
    """Mean number of ReLU units that are on for some images, but fewer than what their layer reads has dimensions.

    Such a unit adds less than one that is on for many. "start", and "right" and "shuffled" after ``epoch`` passes; the
    networks of the stored experiment, trained again that far.
    """
    x = places(settings["n_images"]).data.x
    found: dict[str, float] = {}
    for kind in KINDS:
        for name, nets in zip(("start", kind), _early(settings, kind, [0, epoch]), strict=True):
            found[name] = float(np.mean([_rare(net, x) for net in nets]))
    return found


def dead_share(settings: Mapping[str, Any], kinds: Kinds) -> dict[str, float]:
    """Kind of labels → share of the rank lost after three epochs that comes with dead units.

    That is: units that are dead by then are silenced in the networks of the start, and the rank's ceiling
    (:func:`~capcore.complexity.data_rank_bound.rank_bound_on_data`) is counted again. The loss of the ceiling by
    silencing over its whole loss, sums over seeds.
    """
    x, at = places(settings["n_images"]).data.x, settings["snapshots"].index(3)
    found: dict[str, float] = {}
    for kind in KINDS:
        starts, later = _early(settings, kind, [0, 3])
        left = [rank_bound_on_data(_silenced(*pair, x), x).total for pair in zip(starts, later, strict=True)]
        ceiling = kinds[kind]["ceiling"]
        found[kind] = float((ceiling[0].sum() - sum(left)) / (ceiling[0] - ceiling[at]).sum())
    return found


def finer_equal_loss(settings: Mapping[str, Any], kinds: Kinds, activation: str, n: int = 25) -> Interval:
    """Ratio of the Fisher–Rao norm at equal loss, as stored for shuffled labels, with ``n`` snapshots for right ones.

    The stored snapshots are up to 3.3-fold apart; these are between 10 and 150 epochs, and about a tenth apart.
    """
    data = places(settings["n_images"]).data
    epochs = [0, 3, *map(int, np.unique(np.geomspace(10, 150, n).round()))]
    rows = [
        [{"loss": fit(net, data, data.y)["loss"], "fisher": fisher_rao(net, data.x)} for net in nets]
        for nets in _early(settings, "right", epochs, activation)
    ]
    finer = {"right": table(rows, slice(None)), "shuffled": kinds["shuffled"]}
    return interval(equal_loss_ratio(finer, "fisher"))


def _early(
    settings: Mapping[str, Any], kind: str, epochs: list[int], activation: str = "relu"
) -> list[Sequence[Network]]:
    """The networks of the stored experiment at the first epochs, trained again, seed by seed."""
    data, seeds = places(settings["n_images"]).data, settings["seeds"]
    options = activation, settings["width"], settings["learning_rate"], epochs[-1], epochs
    return list(trained(data, seeds, [kind] * len(seeds), *options)[1])


def _rare(network: Network, x: np.ndarray) -> int:
    """Units that are on somewhere, but for fewer of x (n, d) than the dimension of what they read with a constant."""
    levels, n_rare = network.pre_activations(x)[:-1], 0
    for reads, z in zip((x, *map(network.phi.value, levels)), levels, strict=False):
        on = (z > 0).sum(axis=0)
        n_rare += int(np.sum((on > 0) & (on < np.linalg.matrix_rank(np.column_stack([reads, np.ones(len(x))])))))
    return n_rare


def _silenced(network: Network, later: Network, x: np.ndarray) -> Network:
    """The network without the hidden units that are off for all of x in the later one."""
    weights, biases = [w.copy() for w in network.weights], [b.copy() for b in network.biases]
    for w, b, z in zip(weights, biases, later.pre_activations(x)[:-1], strict=False):
        off = np.all(z <= 0, axis=0)
        w[:, off], b[off] = 0.0, -1.0
    return Network(tuple(weights), tuple(biases), network.activation, network.slope)
