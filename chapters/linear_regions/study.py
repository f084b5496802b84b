"""Counts of linear regions in random networks, against the slides' |S|·T·M and T·M and against the laws behind them.

The expected density of boundaries, over random biases, is the sum over units of E‖∇z‖ρ(z), with ρ the density of the
unit's bias: the slides' T·M, with T spelled out. For independent normal weights the expected number of breakpoints that
a ReLU layer adds to a curve is an angle, exact at any finite width.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm

from chapters.shared.complexity.curves import Curves, ellipse, segments
from chapters.shared.complexity.network import Network, random_network
from chapters.shared.complexity.regions import boundary_density, crofton_factor, curve_regions, regions_of
from chapters.shared.complexity.slices import SlicePartition
from chapters.shared.complexity.trace import Trace, layer_transitions, trace_curves


def expected_boundary_density(net: Network, inputs: object, bias_scale: float) -> np.ndarray:
    """(n, n_hidden) what every unit's boundary has per volume at inputs (n, d), expected over its own normal bias.

    ‖∇z‖ρ(z₀ − kink), summed over kinks: z₀ is the pre-activation without its own bias and ρ the normal density of
    standard deviation ``bias_scale``. The mean over networks with such biases, summed over units, is the expected
    boundary per volume there; divided by their number it is the slides' T.

    >>> one = Network([[[3.0], [4.0]], [[1.0]]], [[7.0], [0.0]])
    >>> expected_boundary_density(one, [[0.0, 0.0]], 1.0).round(4).tolist()
    [[1.9947]]
    """
    levels = net.pre_activations(inputs)[:-1]
    gradients, densities = net.weights[0].T[None], []  # (n or 1, width, d), of a layer's pre-activations
    for layer, z in enumerate(levels):
        if layer:
            gradients = net.weights[layer].T @ (net.phi.derivative(levels[layer - 1])[:, :, None] * gradients)
        own = z - net.biases[layer]
        density = sum(norm.pdf(kink - own, scale=bias_scale) for kink in net.phi.kinks)
        densities.append(np.linalg.norm(gradients, axis=2) * density)
    return np.concatenate(densities, axis=1)


def spherical_lengths(course: Trace, weight_scale: float, bias_scale: float) -> np.ndarray:
    """(n_hidden_layers, n_curves) angles through which the augmented inputs (σ_w h/√n, σ_b) of the layers turn.

    A unit with normal weights of standard deviation σ_w/√n and a normal bias of σ_b switches where its normal vector is
    orthogonal to that path, so that a layer of ``width`` ReLU units adds width · angle/π breakpoints on average.

    Of segments: images of ellipses are not straight, and their angles not elementary.
    """
    angles = []
    for stage in course.stages[: len(course.network.weights) - 1]:
        h = stage.coefficients
        scale = weight_scale / h.shape[2] ** 0.5
        ends = [scale * (h[:, 0] + t[:, None] * h[:, 1]) for t in (stage.start, stage.end)]
        ends = [np.column_stack([end, np.full(len(end), bias_scale)]) for end in ends]
        norms = [np.linalg.norm(end, axis=1, keepdims=True) for end in ends]
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second = (np.nan_to_num(end / size) for end, size in zip(ends, norms, strict=True))
        angle = 2 * np.arctan2(np.linalg.norm(second - first, axis=1), np.linalg.norm(second + first, axis=1))
        angle[(norms[0] * norms[1])[:, 0] == 0] = 0.0  # a layer that is silent turns nowhere
        angles.append(np.bincount(stage.curve, angle, minlength=len(course.curves)))
    return np.array(angles)


HE = 2**0.5


def random_networks(
    widths: Sequence[int], n_networks: int, bias_scale: float, rng: np.random.Generator
) -> list[Network]:
    """``n_networks`` networks of He weights, each from its own generator: more of them leave the first as they are."""
    return [random_network(widths, child, HE, bias_scale) for child in rng.spawn(n_networks)]


def grid_mismatches(rng: np.random.Generator, n_networks: int = 10, n_points: int = 50_001) -> tuple[int, int]:
    """Intervals of a grid in which the switches seen on it differ from the exact breakpoints, and all breakpoints.

    Networks of 3 inputs and hidden layers of 7, 6 and 5 units, for three activations, on a segment and an ellipse each.
    """
    wrong = total = 0
    for name in ("relu", "leaky_relu", "hard_tanh"):
        for _ in range(n_networks):
            network = random_network([3, 7, 6, 5, 1], rng, 1.8, 0.4, name)
            vectors = 2 * rng.normal(size=(3, 3))
            for curves in (segments(*vectors[:2]), ellipse(*vectors)):
                t = np.linspace(0, curves.period, n_points)
                hidden = network.pre_activations(curves.points(np.zeros(n_points, int), t))[:-1]
                seen = sum(np.abs(np.diff(network.phi.piece(z), axis=0)).sum(axis=1) for z in hidden)
                exact = np.histogram(curve_regions(network, curves).t, t)[0]
                wrong, total = wrong + int(np.sum(seen != exact)), total + int(exact.sum())
    return wrong, total


def silent_share(rng: np.random.Generator) -> float:
    """The share of breakpoints of the pattern that do not bend the output of narrow networks (four layers of 4)."""
    networks = random_networks([3, 4, 4, 4, 4, 1], 100, 0.3, rng)
    bends = [curve_regions(network, segments(*rng.normal(size=(2, 10, 3)))).bends for network in networks]
    return float(1 - np.concatenate(bends).mean())


def isotropic_segments(length: float, centres: np.ndarray, directions: np.ndarray) -> Curves:
    """Segments of a length about centres (n, d) along unit vectors (n, d)."""
    return segments(centres - length / 2 * directions, centres + length / 2 * directions)


def regions_by_length(
    networks: Sequence[Network], lengths: Sequence[float], bias_scale: float, n_segments: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(n_lengths, n_networks) mean linear regions − 1 on nested isotropic segments, and what angles say of them.

    The centres are standard normal points. The second array is the sum over layers of width × angle over π, for the
    angles that the layers' augmented inputs turn through in the same network (:func:`angle_gaps`).
    """
    counted, expected = np.empty((2, len(lengths), len(networks)))
    for j, network in enumerate(networks):
        centres, directions = _places(network, n_segments, rng)
        for i, length in enumerate(lengths):
            course = trace_curves(network, isotropic_segments(length, centres, directions))
            counted[i, j] = regions_of(course).linear.mean() - 1
            expected[i, j] = _expected_breakpoints(course, bias_scale).sum()
    return counted, expected


def _places(network: Network, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(n, d) standard normal points, and isotropic unit vectors (n, d)."""
    centres, directions = rng.normal(size=(2, n, network.widths[0]))
    return centres, directions / np.linalg.norm(directions, axis=1, keepdims=True)


def _expected_breakpoints(course: Trace, bias_scale: float) -> np.ndarray:
    """(n_hidden_layers,) width × angle over π with He's weights, means over the curves."""
    angles = spherical_lengths(course, HE, bias_scale).mean(axis=1)
    return np.array(course.network.widths[1:-1]) * angles / np.pi


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """The power of x that y grows with, between the first and the last entry.

    >>> round(exponent([1, 2, 4], [3, 0, 48]), 12)
    2.0
    """
    if min(y[0], y[-1]) <= 0:
        raise ValueError(f"y: found {y[0]:g} and {y[-1]:g}, expected counts above 0. Use more networks or segments.")
    return float(np.log(y[-1] / y[0]) / np.log(x[-1] / x[0]))


def in_standard_errors(gaps: np.ndarray) -> np.ndarray:
    """|mean| over the first axis of gaps (m, …), in its standard errors; (…)."""
    return np.abs(gaps.mean(axis=0)) / (gaps.std(axis=0, ddof=1) / len(gaps) ** 0.5)


def gained_by_stretching(networks: Sequence[Network], factor: float, n_segments: int, rng: np.random.Generator) -> int:
    """Sum of absolute differences of linear regions between segments of normal points and ``factor`` times them."""
    gained = 0
    for network in networks:
        ends = rng.normal(size=(2, n_segments, network.widths[0]))
        near, far = (curve_regions(network, segments(*(scale * ends))).linear for scale in (1, factor))
        gained += int(np.abs(far - near).sum())
    return gained


def angle_gaps(
    networks: Sequence[Network], bias_scale: float, n_segments: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(n_networks, n_hidden_layers) mean breakpoints by layer on segments between normal points, and what angles say.

    The latter is width × angle of the layer's augmented input over π, along the segment in the same network.
    """
    counted, expected = [], []
    for network in networks:
        course = trace_curves(network, segments(*rng.normal(size=(2, n_segments, network.widths[0]))))
        counted.append(layer_transitions(course).mean(axis=1))
        expected.append(_expected_breakpoints(course, bias_scale))
    return np.array(counted), np.array(expected)


def first_angle_counts(networks: Sequence[Network], n_segments: int, rng: np.random.Generator) -> np.ndarray:
    """(n_networks, 2) mean breakpoints on segments between normal points, and mean of M·θ/π, θ between their ends."""
    means = []
    for network in networks:
        first, second = rng.normal(size=(2, n_segments, network.widths[0]))
        cosine = np.sum(first * second, axis=1) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
        counts = curve_regions(network, segments(first, second)).linear - 1
        means.append((counts.mean(), network.n_hidden * np.arccos(cosine).mean() / np.pi))
    return np.array(means)


def prefactor_counts(
    networks: Sequence[Network], bias_scale: float, length: float, n_segments: int, rng: np.random.Generator
) -> np.ndarray:
    """(n_networks, 2) mean breakpoints on short isotropic segments, and length·Σ‖∇z‖ρ over the Crofton factor."""
    means = []
    for network in networks:
        centres, directions = _places(network, n_segments, rng)
        counts = curve_regions(network, isotropic_segments(length, centres, directions)).patterns - 1
        points = centres + length * (rng.random((n_segments, 1)) - 0.5) * directions
        density = expected_boundary_density(network, points, bias_scale).sum(axis=1).mean()
        means.append((counts.mean(), length * density / crofton_factor(network.widths[0])))
    return np.array(means)


def ball_points(centre: np.ndarray, radius: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, d) points, uniform in a ball around ``centre`` (d,)."""
    points = rng.normal(size=(n, len(centre)))
    points *= rng.random((n, 1)) ** (1 / len(centre)) / np.linalg.norm(points, axis=1, keepdims=True)
    return centre + radius * points


def densities(
    networks: Sequence[Network], bias_scale: float, n_lines: int, rng: np.random.Generator, n_points: int = 100
) -> tuple[np.ndarray, np.ndarray]:
    """(n_networks,) boundary per volume of the unit ball counted on lines, and the mean over points of Σ‖∇z‖ρ."""
    dim, counted, expected = networks[0].widths[0], [], []
    for network in networks:
        counted.append(boundary_density(network, np.zeros(dim), 1.0, n_lines, rng).value)
        points = ball_points(np.zeros(dim), 1.0, n_points, rng)
        expected.append(expected_boundary_density(network, points, bias_scale).sum(axis=1).mean())
    return np.array(counted), np.array(expected)


def polygons_met(partition: SlicePartition, start: np.ndarray, end: np.ndarray) -> int:
    """How many polygons of a slice the segment from ``start`` (2,) to ``end`` (2,) passes through, by clipping.

    >>> square = SlicePartition([np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])], np.ones(1), None, None)
    >>> polygons_met(square, np.array([-1, 0.5]), np.array([2, 0.4])), polygons_met(square, np.zeros(2), np.ones(2) - 2)
    (1, 0)
    """
    corners = np.concatenate(partition.polygons)
    first = np.r_[0, np.cumsum([len(polygon) for polygon in partition.polygons])]
    after = np.arange(1, len(corners) + 1)
    after[first[1:] - 1] = first[:-1]  # the last corner of a polygon is followed by its first
    sides = corners[after] - corners
    inward = np.column_stack([-sides[:, 1], sides[:, 0]])
    here, step = np.sum((start - corners) * inward, axis=1), inward @ (end - start)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = -here / step
    first = first[:-1]
    enters = np.maximum.reduceat(np.where(step > 0, t, np.where((step == 0) & (here < 0), np.inf, 0.0)), first)
    leaves = np.minimum.reduceat(np.where(step < 0, t, 1.0), first)
    return int(np.sum(np.minimum(leaves, 1) - np.maximum(enters, 0) > 1e-12))


def chord_mismatches(
    network: Network, partition: SlicePartition, plane: np.ndarray, n_chords: int, rng: np.random.Generator
) -> int:
    """Chords of a slice whose pieces, counted on the chord, are not as many as the polygons that it passes through.

    Parameters
    ----------
    plane : (3, d) the slice's origin and directions.
    """
    low, high = partition.outline.min(axis=0), partition.outline.max(axis=0)
    ends = rng.uniform(low, high, (2, n_chords, 2))
    inputs = plane[0] + ends @ plane[1:]
    counted = curve_regions(network, segments(*inputs)).patterns
    return int(sum(polygons_met(partition, a, b) != n for a, b, n in zip(*ends, counted, strict=True)))
