"""What passes through an untrained residual network x ← x + s f(x), s = L^-a: sizes, gradients, and how they shatter.

NumPy in double precision, apart from the trained networks of ``tasks``, whose blocks these are. All
exponents are followed at once, through the same draws of the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from capcore.validation import finite_array, one_of, positive_integer

BLOCKS = ("tanh", "relu", "two-layer")
PATHS = ("arc", "line")
EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Those of the chapter's figures and claims."""
LAG = 32
"""Steps of the arc, of 256 points from −2 to 2 radians, at which the claims take the correlation: half a radian."""


@dataclass(frozen=True, eq=False)
class Signals:
    """Sizes after L layers; every array (exponents, draws).

    Attributes
    ----------
    forward : |x_L|²/|x_0|². backward : ‖J‖²_F/n for the Jacobian J of x_L by x_0, the factor by which the mean
        square of a random gradient grows on its way back. distance : ‖J − I‖²_F/n, zero where nothing is changed.
    """

    forward: np.ndarray
    backward: np.ndarray
    distance: np.ndarray


def signals(
    kind: str, n_layers: int, exponents: Sequence[float], *, width: int = 32, n_draws: int = 32, shared: bool = False,
    rng: np.random.Generator,
) -> Signals:  # fmt: skip
    """Sizes of states and Jacobians over fresh draws of weights and of one normal input each.

    Parameters
    ----------
    kind : see ``tasks``. shared : the same weights in every layer.

    >>> found = signals("two-layer", 256, [0.5, 2.0], rng=np.random.default_rng(0))
    >>> found.backward.mean(axis=1).round(1).tolist()  # e, within sampling error, and 1
    [2.7, 1.0]
    """
    scales = _scales(n_layers, exponents)
    n, draws = positive_integer(width, "width"), positive_integer(n_draws, "n_draws")
    start = rng.standard_normal((draws, 1, n))
    x = np.broadcast_to(start, (len(scales), *start.shape))
    tangents = np.broadcast_to(np.eye(n), (len(scales), draws, n, n))
    x, tangents = _through(kind, n_layers, x, tangents, scales, shared, rng)
    return Signals(
        (x**2).sum(axis=(-2, -1)) / (start**2).sum(axis=(-2, -1)),
        (tangents**2).sum(axis=(-2, -1)) / n,
        ((tangents - np.eye(n)) ** 2).sum(axis=(-2, -1)) / n,
    )


def gradient_correlation(
    kind: str, n_layers: int, exponents: Sequence[float], *, width: int = 32, n_draws: int = 16, n_points: int = 256,
    span: float = 2.0, path: str = "arc", rng: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """Correlation of input gradients against the lag along a path of inputs, (exponents, draws, n_points).

    The network's Jacobian, applied to one direction at ``n_points`` inputs z = −span … span, is correlated with itself
    along the path: the sum over all directions of a random linear read-out, over the mean square of the same
    draw. One everywhere for the identity; one at lag zero and zero elsewhere for white noise.

    Parameters
    ----------
    path : ``arc``, inputs v cos z + u sin z and a direction w across, u, v, w being normal vectors; or ``line``,
        inputs v + z u and the direction u along it, the scalar input of Balduzzi et al. (2017). There a network of
        ReLU blocks without biases, which is homogeneous, keeps the part of u that points along the input correlated.

    Raises ``ValueError`` for an unknown path.

    >>> gradient_correlation("tanh", 4, [0.5], n_draws=1, n_points=8, rng=np.random.default_rng(0))[0, 0, 0].item()
    1.0
    """
    scales = _scales(n_layers, exponents)
    n, draws = positive_integer(width, "width"), positive_integer(n_draws, "n_draws")
    points = positive_integer(n_points, "n_points", 2)
    u, v, across = rng.standard_normal((3, draws, 1, n))
    z = np.linspace(-span, span, points)[:, None]
    arc = one_of(path, "path", PATHS) == "arc"
    inputs, direction = (v * np.cos(z) + u * np.sin(z), across) if arc else (v + z * u, u)
    x, slope = (np.broadcast_to(each, (len(scales), draws, points, n)) for each in (inputs, direction))
    return _autocorrelation(_through(kind, n_layers, x, slope, scales, False, rng)[1])


def shattering_law(time: np.ndarray | float, angle: float) -> np.ndarray:
    """(1 + T angle/3π)^-3: the correlation of gradients after a time T = L s²/(1 + s²), in the limit of many layers.

    The angle between two states obeys dθ/dT = −θ²/3π, so θ = 3π/(T + 3π/θ_0); gradients lose the share θ/π of their
    correlation per unit of time. It never vanishes at a finite T, and its time is of order one for s of order 1/√L.

    >>> float(shattering_law(1.0, 0.5).round(2))
    0.86
    """
    return (1 + np.asarray(time) * angle / (3 * np.pi)) ** -3


def layer_time(n_layers: int, exponent: float) -> float:
    """T = L s²/(1 + s²) for s = L^-a, what the layers add up to.

    >>> round(layer_time(512, 0.5), 3)
    0.998
    """
    (s,) = _scales(n_layers, [exponent])
    return float(n_layers * s**2 / (1 + s**2))


def _scales(n_layers: int, exponents: Sequence[float]) -> np.ndarray:
    return float(positive_integer(n_layers, "n_layers")) ** -finite_array(exponents, "exponents", 1)


def _through(
    kind: str, n_layers: int, x: np.ndarray, tangents: np.ndarray, scales: np.ndarray, shared: bool,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """States x (exponents, draws, points, n) and tangents, rows for every point or n of them, after all layers."""
    one_of(kind, "kind", BLOCKS)
    draws, n = x.shape[1], x.shape[-1]
    s = scales[:, None, None, None]
    x, tangents = np.array(x), np.array(tangents)  # of its own: both are added to in place
    W = V = np.empty(0)
    for layer in range(n_layers):
        if layer == 0 or not shared:
            W = rng.standard_normal((draws, n, n)) * np.sqrt((1 if kind == "tanh" else 2) / n)
            V = rng.standard_normal((draws, n, n)) / np.sqrt(n) if kind == "two-layer" else V
        value, change = x @ W, tangents @ W
        if kind == "tanh":
            np.tanh(value, out=value)
            change *= 1 - value**2
        else:
            change *= value > 0
            np.maximum(value, 0, out=value)
        if kind == "two-layer":
            value, change = value @ V, change @ V
        value *= s
        change *= s
        x += value
        tangents += change
    return x, tangents


def _autocorrelation(slope: np.ndarray) -> np.ndarray:
    """(…, points, n) → (…, points): mean product at every lag over the mean square, without wrapping around."""
    points = slope.shape[-2]
    slope = slope / np.sqrt(np.mean(slope**2, axis=(-2, -1), keepdims=True))
    spectrum = np.fft.rfft(slope, 2 * points, axis=-2)
    sums = np.fft.irfft((np.abs(spectrum) ** 2).sum(axis=-1), 2 * points, axis=-1)[..., :points]
    means = sums / np.arange(points, 0, -1)
    return means / means[..., :1]


@dataclass(frozen=True, eq=False)
class Untrained:
    """What passes through untrained networks of depths L = 8, 16, …

    Attributes
    ----------
    depths : (d,). sizes : kind of block → forward, backward, distance, each (exponents, d), means over draws.
    law : (exponents, d) backward second moment of two-layer blocks in expectation, (1 + L^-2a)^L.
    shared : exponents ½ and 1 → the like as ``sizes``, (1, d), for two-layer blocks that are the same in all layers.
    correlations : kind → depth → (exponents, draws, points); see ``gradient_correlation``. angles : (points,).
    times : (exponents, d), T = L s²/(1 + s²).
    """

    depths: tuple[int, ...]
    sizes: dict[str, dict[str, np.ndarray]]
    law: np.ndarray
    shared: dict[float, dict[str, np.ndarray]]
    correlations: dict[str, dict[int, np.ndarray]]
    angles: np.ndarray
    times: np.ndarray

    def at_lag(self, kind: str) -> np.ndarray:
        """(exponents, depths) correlation of gradients half a radian apart, means over draws."""
        return np.stack([runs[:, :, LAG].mean(axis=1) for runs in self.correlations[kind].values()], axis=1)

    def growth(self, row: np.ndarray, factor: int = 8) -> float:
        """``row`` (depths,) at the largest depth, over its value at the depth smaller by ``factor``."""
        return float(row[-1] / row[self.depths.index(self.depths[-1] // factor)])


def untrained(deepest: int, width: int, n_draws: int, seed: int) -> Untrained:
    """All of :class:`Untrained`, up to a depth that is a power of two.

    Correlations take half as many draws, those of tanh blocks, which serve comparison, an eighth.

    Raises ``ValueError`` for other depths, below 128, where the claims compare nothing, and for a single draw.
    """
    if positive_integer(deepest, "deepest", 128) & (deepest - 1):
        raise ValueError(f"deepest: found {deepest}, expected a power of two.")
    depths = tuple(2**k for k in range(3, deepest.bit_length()))
    options: dict[str, Any] = {"width": width, "n_draws": positive_integer(n_draws, "n_draws", 2)}
    arcs = {
        kind: {
            depth: gradient_correlation(
                kind, depth, EXPONENTS, width=width, n_draws=max(2, n_draws // share), rng=np.random.default_rng(seed)
            )
            for depth in depths
        }
        for kind, share in (("two-layer", 2), ("tanh", 8))
    }
    return Untrained(
        depths,
        size_curves(BLOCKS, depths, EXPONENTS, seed, **options),
        np.array([[(1 + depth ** (-2 * a)) ** depth for depth in depths] for a in EXPONENTS]),
        {a: size_curves(["two-layer"], depths, [a], seed, shared=True, **options)["two-layer"] for a in (0.5, 1.0)},
        arcs,
        np.linspace(0, 4, 256),
        np.array([[layer_time(depth, a) for depth in depths] for a in EXPONENTS]),
    )


def size_curves(
    kinds: Sequence[str], depths: Sequence[int], exponents: Sequence[float], seed: int, **options: Any
) -> dict[str, dict[str, np.ndarray]]:
    """Kind → forward, backward and distance of ``signals``, means over draws.

    Each (exponents, depths). ``options`` go on to that function. Every depth starts from the same seed.
    """
    found: dict[str, dict[str, np.ndarray]] = {}
    for kind in kinds:
        each = [signals(kind, depth, exponents, rng=np.random.default_rng(seed), **options) for depth in depths]
        found[kind] = {
            name: np.stack([getattr(one, name).mean(axis=1) for one in each], axis=1)
            for name in ("forward", "backward", "distance")
        }
    return found
