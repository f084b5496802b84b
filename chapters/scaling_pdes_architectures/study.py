"""Channels and dimensions (paper 2, §3.7–3.8).

Channels: when the equations collapse to one, and what scale of weights Eq. 27 of paper 2 asks for. Rates are those of
three taps, −1, 0 and 1, from each channel above to each channel below.

Several axes: layers against the lattice law, that against Eq. 28, and kernel sizes under Eq. 29.
"""

import numpy as np

from capcore import ConvolutionTransport, Segment, evolve, propagate_equal
from capcore.propagation.generator import LimitCoefficients, displacement, jumps, lumped, residual
from capcore.propagation.laws import heat_kernel

TAP_TOTALS = (1.0, 0.5, 1.0)
"""Total rates at the offsets −1, 0, 1 of mixing that can be lumped, over the whole network."""
EIGHT_NEIGHBOURS = np.full((1, 3, 3, 1), 0.5)
"""Rates ½ to each of eight neighbours (what stands in the middle is left to the layer)."""
DIAGONAL = np.array([[[1.0, 0.3, 0.1], [0.4, 0.0, 0.4], [0.1, 0.3, 1.0]]])[..., None] / 4
"""Rates that spread more along one diagonal, without drift."""


def mixing_rates(kind: str, channels: int, rng: np.random.Generator) -> ConvolutionTransport:
    """Jump rates (C, 3, C) over the whole network; what stays in its channel and position is left to the layer.

    Parameters
    ----------
    kind : ``uniform``: every channel sends ``TAP_TOTALS``, evenly to all channels. ``lumpable``: the same totals,
        shared at random. ``free``: independent exponential rates with the same sum on average.

    >>> mixing_rates("uniform", 2, np.random.default_rng(0)).weights[:, :, 0].tolist()
    [[0.5, 0.25, 0.5], [0.5, 0.25, 0.5]]
    """
    totals = np.array(TAP_TOTALS)[None, :, None]
    if kind == "uniform":
        return ConvolutionTransport(np.tile(totals / channels, (channels, 1, channels)))
    draws = rng.exponential(size=(channels, 3, channels))
    if kind == "lumpable":
        return ConvolutionTransport(totals * draws / draws.sum(axis=0))
    return ConvolutionTransport(draws * sum(TAP_TOTALS) / (3 * channels))


def collapse_gap(rates: ConvolutionTransport, n_layers: int, rng: np.random.Generator) -> float:
    """Largest difference between the sum over channels and the one-channel equation (Eqs 25–26), random output.

    Raises ``ValueError`` for rates that are not lumpable: there is no such equation then.

    >>> rng = np.random.default_rng(0)
    >>> collapse_gap(mixing_rates("uniform", 2, rng), 8, rng) < 1e-15
    True
    """
    output = rng.exponential(size=(64, rates.weights.shape[-1]))
    output /= output.sum()
    layer = residual(rates, n_layers)
    many = propagate_equal(output, layer, n_layers).sum(axis=1)
    one = propagate_equal(output.sum(axis=1), lumped(layer), n_layers)[:, 0]
    return float(np.abs(many - one).max())


def other_channel(rates: ConvolutionTransport, n_layers: int) -> tuple[np.ndarray, np.ndarray]:
    """(64,) twice: capacity of the input summed over channels, where the output had it in channel 0 and in 1.

    >>> a, b = other_channel(mixing_rates("uniform", 2, np.random.default_rng(0)), 8)
    >>> bool(np.allclose(a, b))
    True
    """
    layer = residual(rates, n_layers)
    ends = []
    for channel in range(2):
        output = np.zeros((64, rates.weights.shape[-1]))
        output[32, channel] = 1
        ends.append(propagate_equal(output, layer, n_layers).sum(axis=1))
    return ends[0], ends[1]


def xavier_variance(channels: int, taps: int) -> float:
    """2/(fan-in + fan-out), where a fan is channels times taps.

    >>> xavier_variance(8, 3) * 24
    1.0
    """
    return 1 / (channels * taps)


def squared_sum(channels: int, taps: int, variance: float, rng: np.random.Generator) -> float:
    """Mean over outputs of Σ w² for drawn Gaussian kernels (C, taps, C): the capacity one output passes on.

    At least 200,000 weights are drawn, in as many kernels as that takes.

    >>> 0.98 < squared_sum(8, 3, xavier_variance(8, 3), np.random.default_rng(0)) < 1.02
    True
    """
    kernels = -(-200_000 // (channels * taps * channels))
    kernel = rng.normal(size=(kernels, channels, taps, channels)) * np.sqrt(variance)
    return float((kernel**2).sum(axis=(1, 2)).mean())


def random_rates(ndim: int, rng: np.random.Generator) -> ConvolutionTransport:
    """Random rates on the 3^d neighbours that sum to 4, drift included.

    >>> random_rates(2, np.random.default_rng(0)).sums.round(12)
    array([4.])
    """
    pattern = ConvolutionTransport(rng.exponential(size=(1, *(3,) * ndim, 1)))
    return jumps(pattern).normalised().scaled(4.0)


def point(ndim: int, width: int) -> np.ndarray:
    """(*width) one unit of capacity in the middle of ``width`` positions along each of d axes.

    >>> point(1, 3).tolist()
    [0.0, 1.0, 0.0]
    """
    values = np.zeros((width,) * ndim)
    values[(width // 2,) * ndim] = 1
    return values


def covariance(capacity: np.ndarray) -> np.ndarray:
    """(d, d) covariance of capacity (*positions), in pixels squared, by summing over all positions.

    >>> covariance(np.array([0.25, 0.5, 0.25]))
    array([[0.5]])
    """
    x = np.indices(capacity.shape).reshape(capacity.ndim, -1).astype(float)
    weights = capacity.reshape(-1) / capacity.sum()
    away = x - (x @ weights)[:, None]
    return (away * weights) @ away.T


def covariance_gap(rates: ConvolutionTransport, n_layers: int, width: int = 65) -> float:
    """Largest difference between the covariance of what arrives and 2D − vvᵀ/N, over the largest variance.

    >>> covariance_gap(random_rates(1, np.random.default_rng(0)), 16) < 1e-12
    True
    """
    arrived = propagate_equal(point(rates.ndim, width), residual(rates, n_layers), n_layers)[..., 0]
    limit = LimitCoefficients.of_rates(rates)
    expected = 2 * limit.diffusion - np.outer(limit.drift, limit.drift) / n_layers
    return float(np.abs(covariance(arrived) - expected).max() / np.diag(expected).max())


def lattice_distance(rates: ConvolutionTransport, n_layers: int) -> float:
    """Total variation distance between what arrives below N layers and exp(Δ), its limit of many layers.

    >>> rates = random_rates(1, np.random.default_rng(0))
    >>> 1.9 < lattice_distance(rates, 512) / lattice_distance(rates, 1024) < 2.1
    True
    """
    start = point(rates.ndim, 65)
    arrived = propagate_equal(start, residual(rates, n_layers), n_layers)
    return float(np.abs(arrived - evolve(start, [Segment(1.0, rates)]).final).sum() / 2)


def heat_gap(rates: ConvolutionTransport, width: int = 161) -> float:
    """Relative gap between the lattice law and the Gaussian of Eq. 28 at the origin.

    >>> round(heat_gap(ConvolutionTransport.of_offsets({-1: 8.0, 1: 8.0}), 81) * 16 * 8, 2)
    1.04
    """
    lattice = origin_by_transform(rates, width)
    origin = np.zeros(rates.ndim) if rates.ndim > 1 else 0.0
    return float(lattice / heat_kernel(origin, 1.0, LimitCoefficients.of_rates(rates)) - 1)


def origin_by_transform(rates: ConvolutionTransport, width: int) -> float:
    """Capacity that exp(Δ) leaves at the origin, on a periodic range of ``width`` positions along every axis."""
    final = evolve(point(rates.ndim, width), [Segment(1.0, rates)]).final[..., 0]
    return float(final[(width // 2,) * rates.ndim])


def origin_by_quadrature(rates: ConvolutionTransport) -> float:
    """The same on unbounded positions: the mean of exp(Σ_j a_j (cos k·j − 1 − i sin k·j)) over all wave numbers k.

    >>> round(origin_by_quadrature(ConvolutionTransport.of_offsets({-1: 1.0, 1: 1.0})), 10)
    0.3085083226
    """
    points, weights = np.polynomial.legendre.leggauss(60)
    k = np.stack(np.meshgrid(*[np.pi * points] * rates.ndim, indexing="ij"), axis=-1)
    share = np.prod(np.meshgrid(*[weights / 2] * rates.ndim, indexing="ij"), axis=0)
    phases = k @ rates.offsets.T
    symbol = (np.exp(-1j * phases) - 1) @ jumps(rates).weights.reshape(-1)
    return float(np.sum(share * np.exp(symbol)).real)


def variance_per_axis(size: int, ndim: int, n_layers: int) -> float:
    """Variance along an axis of N layers of r^d taps, all with squared weights 1/(r^d N), as Eq. 29 asks: (r² − 1)/12.

    >>> round(variance_per_axis(5, 2, 64), 12)
    2.0
    """
    rates = ConvolutionTransport(np.full((1, *(size,) * ndim, 1), 1 / size**ndim))
    return float(displacement([residual(rates, n_layers)] * n_layers).covariance[0, 0])
