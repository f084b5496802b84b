"""Every measure of complexity on the same networks, along training: digits, right and shuffled labels, several seeds.

Written down before any measure of these networks was computed; only training accuracy had been looked at, to choose the
width, the rate and the number of epochs. Intervals are Student's at 95 %, over seeds, of the mean logarithm.

1. *Goes up* or *goes down* in training: the interval of the ratio end/start, paired by seed, excludes 1; for right
   and for shuffled labels separately.
2. *Tells memorised from learnt*: the interval of the ratio shuffled/right excludes 1, of networks from the same start,
   at the end of training. At equal training loss: the same with the right labels' network at the loss at which the
   shuffled one ended, the logarithm of the measure interpolated between snapshots in the logarithm of the loss.
3. *Agree*: the interval of Spearman's ρ over the final networks of one activation excludes 0. Over all of them the two
   kinds of labels decide; so also within each kind, and two measures agree beyond the labels if both of those
   intervals exclude 0 on the same side.
4. *The rank is known*: the measured rank of the parameter Jacobian equals
   :func:`~capcore.complexity.data_rank_bound.rank_bound_on_data` at every snapshot of every network. If not, by how
   much it falls short.
   Added after a first run, in which it fell short in most networks (of 18 for every tanh network): the sharper
   ``rank_ceiling``, called "limit", which was thought of because of that.
5. *Where the rank lies*: the standard deviation over images of their leverage, over its mean, compared as in 2.

Needs scikit-learn for its digits, imported when they are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from capcore.complexity import (
    Curves,
    Network,
    boundary_density,
    circle_through,
    curve_regions,
    fisher_rao,
    layer_lengths,
    rank_bound,
    segments,
    sensitivity,
    trace_curves,
)
from capcore.complexity.data_rank_bound import without_common_shift
from chapters.along_training.jacobian_rank import example_leverage, participation_ratio, quick_rank
from chapters.along_training.rank_ceiling import rank_ceiling
from chapters.effective_complexity import study
from chapters.effective_complexity.curve_activations import tangent_network

KINDS = ("right", "shuffled")


@dataclass(frozen=True, eq=False)
class Places:
    """Where the measures are taken, the same for all networks.

    Attributes
    ----------
    data : images, labels, and pairs of test images of different digits.
    centre, radius : of the ball of the images: their mean (64,), and their rms distance from it.
    near : (n_near, 64) test images, the centres of small balls.
    near_radius : of those.
    lines : through the large ball, and through all small ones.
    segments, circles : between two, and through three, test images of different digits.
    """

    data: study.Images
    centre: np.ndarray
    radius: float
    near: np.ndarray
    near_radius: float
    lines: int
    segments: Curves
    circles: tuple[Curves, ...]


@cache
def places(
    n_images: int = 300, n_lines: int = 2_000, n_near: int = 40, share: float = 0.1, n_circles: int = 20
) -> Places:
    """The images, and lines, balls, segments and circles drawn from a fixed seed.

    Parameters
    ----------
    share : radius of a small ball, over that of the large one.
    """
    data, rng = study.images(n_images), np.random.default_rng(11)
    centre = data.x.mean(axis=0)
    radius = float(np.sqrt(np.square(data.x - centre).sum(axis=1).mean()))
    near = data.x_test[rng.permutation(len(data.x_test))[:n_near]]
    circles: list[Curves] = []
    while len(circles) < n_circles:
        chosen = rng.choice(len(data.x_test), 3, replace=False)
        if len(set(data.y_test[chosen])) == 3:
            circles.append(circle_through(*data.x_test[chosen]))
    pairs = segments(data.starts, data.ends)
    return Places(data, centre, radius, near, share * radius, n_lines, pairs, tuple(circles))


def densities(network: Network, at: Places) -> dict[str, float]:
    """Boundary per volume of a piecewise linear network, counted on the same lines for all networks.

    "boundary.ball" in the ball of the images, "boundary.near" the mean over the small balls around test images.
    """
    ball = boundary_density(network, at.centre, at.radius, at.lines, np.random.default_rng(12))
    each, rng = max(at.lines // len(at.near), 2), np.random.default_rng(13)
    near = [boundary_density(network, point, at.near_radius, each, rng).value for point in at.near]
    return {"boundary.ball": ball.value, "boundary.near": float(np.mean(near))}


def on_curves(network: Network, at: Places) -> dict[str, float]:
    """Mean linear pieces and activation patterns on the segments, and of the circles: transitions and length.

    "transitions" are switches of any unit, a mean; "length" is of the images in the logits, a geometric mean.
    """
    found = curve_regions(network, at.segments)
    around = [trace_curves(network, circle) for circle in at.circles]
    return {
        "pieces": float(found.linear.mean()),
        "patterns": float(found.patterns.mean()),
        "transitions": float(np.mean([len(course.stages[-1].start) - 1 for course in around])),
        "length": float(np.exp(np.mean([np.log(layer_lengths(course)[-1, 0]) for course in around]))),
    }


def ranks(network: Network, x: np.ndarray) -> dict[str, float]:
    """Rank of the parameter Jacobian at x (n, 64): "rank", "gap", the rank that a softmax sees, and three ceilings.

    "rank.seen" is that of the logits without what they have in common. "bound" counts parameters, "ceiling" what the
    data leave of them, and "limit" is the ceiling that also knows how much single examples hold.
    """
    found, ceiling = quick_rank(network, x), rank_ceiling(network, x)
    return {
        "rank": found.rank,
        "gap": found.gap,
        "bound": rank_bound(network, x),
        "ceiling": ceiling.plain.total,
        "limit": ceiling.total,
        "rank.seen": quick_rank(without_common_shift(network), x).rank,
    }


def idle_units(network: Network, x: np.ndarray) -> dict[str, float]:
    """ReLU units that are off ("dead") or on ("never off") for all of x (n, 64)."""
    on = np.concatenate([z > 0 for z in network.pre_activations(x)[:-1]], axis=1).sum(axis=0)
    return {"dead": float(np.sum(on == 0)), "never off": float(np.sum(on == len(x)))}


def unevenness(leverage: np.ndarray) -> float:
    """Standard deviation over images of their leverage (n,), over its mean."""
    return float(leverage.std() / leverage.mean())


def measures(network: Network, labels: np.ndarray, at: Places, level: int, error: float = 0.1) -> dict[str, float]:
    """Measures of one network by name.

    Parameters
    ----------
    labels : (n_images,) that the network learns.
    level : 0 for what is quick, 1 with the rank at training images and its companions, 2 with the rank at as many test
        images and with the leverage too.
    error : of tangents, over the standard deviation of the logits; see
        ``tangent_network``.
    """
    data = at.data
    found = {
        **study.fit(network, data, labels),
        "logits": float(sensitivity(network, data.x_test, "logits").mean()),
        "probabilities": float(sensitivity(network, data.x_test, "probabilities").mean()),
        "fisher": fisher_rao(network, data.x),
    }
    if network.phi.piecewise_linear:
        found |= densities(network, at) | on_curves(network, at) | idle_units(network, data.x)
    else:
        found["curve"] = tangent_network(network, data.x, error * float(network(data.x).std())).complexity
    if level > 0:
        found |= ranks(network, data.x) | {"participation": participation_ratio(network, data.x)}
    if level > 1:
        found |= {f"test {name}": value for name, value in ranks(network, data.x_test[: len(data.x)]).items()}
    if level > 1 and network.phi.piecewise_linear:
        found["unevenness"] = unevenness(example_leverage(network, data.x))
    return found


def along_training(
    at: Places,
    seeds: Sequence[int],
    snapshots: Sequence[int],
    levels: Sequence[int],
    activation: str,
    width: int,
    learning_rate: float,
    n_epochs: int,
    error: float = 0.1,
) -> dict[str, dict[str, np.ndarray]]:
    """Kind of labels → measure → (n_snapshots that have it, n_seeds).

    Parameters
    ----------
    snapshots : epochs, ascending, the first one 0 and the last one ``n_epochs``.
    levels : for each of them, of :func:`measures`.
    """
    runs = [seed for _ in KINDS for seed in seeds], [kind for kind in KINDS for _ in seeds]
    _, networks, targets = study.trained(at.data, *runs, activation, width, learning_rate, n_epochs, snapshots)
    n = len(seeds)
    first = [measures(net, y, at, levels[0], error) for net, y in zip(networks[0][:n], targets[:n], strict=True)]
    moved = zip(first, networks[0][n:], targets[n:], strict=True)  # the same start: the labels matter to the fit alone
    rows = [[*first, *(found | study.fit(net, at.data, y) for found, net, y in moved)]]
    for nets, level in zip(networks[1:], levels[1:], strict=True):
        rows.append([measures(net, y, at, level, error) for net, y in zip(nets, targets, strict=True)])
    return {kind: table(rows, slice(i * n, (i + 1) * n)) for i, kind in enumerate(KINDS)}


def table(rows: Sequence[Sequence[Mapping[str, float]]], part: slice) -> dict[str, np.ndarray]:
    """Measure → (n_rows that have it, n_runs of the part)."""
    names = dict.fromkeys(name for row in rows for name in row[0])
    return {name: np.array([[each[name] for each in row[part]] for row in rows if name in row[0]]) for name in names}
