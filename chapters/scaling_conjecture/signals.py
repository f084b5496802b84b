"""What passes through an untrained residual network x ← x + s f(x), s = L^-a: sizes, gradients, and how they shatter.

NumPy in double precision, apart from the trained networks of ``experiment``, whose blocks these are. All
exponents are followed at once, through the same draws of the weights.

``python -m chapters run residual_signals`` makes the stored curves again, in about half a minute on one core.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from tqdm import tqdm

from chapters.kit.stored import arrays
from chapters.kit.witness import Witness

BLOCKS = ("tanh", "relu", "two-layer")
LAG = 32
"""Steps of the arc, of 256 points from −2 to 2 radians, at which the claims take the correlation: half a radian."""
SETTINGS: dict[str, Any] = {
    "exponents": [0.0, 0.25, 0.5, 0.75, 1.0],
    "depths": [8, 16, 32, 64, 128, 256, 512],
    "width": 32,
    "n_draws": 32,
    "n_draws_arc": {"two-layer": 16, "tanh": 4},
    "seed": 0,
}
QUICK: dict[str, Any] = {"exponents": [0.5], "depths": [2, 4], "width": 4, "n_draws": 2, "n_draws_arc": {"tanh": 2}}
WITNESS = Witness(["exponents depths"])


class Signals(NamedTuple):
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
    kind : see ``experiment``. shared : the same weights in every layer.

    >>> shares = signals("two-layer", 256, [0.5, 2.0], rng=np.random.default_rng(0))
    >>> shares.backward.mean(axis=1).round(1).tolist()  # e, within sampling error, and 1
    [2.7, 1.0]
    """
    scales = _scales(n_layers, exponents)
    n, draws = width, n_draws
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
    rng: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """Correlation of input gradients against the angle between inputs, (exponents, draws, n_points).

    The network's Jacobian, applied to one direction at ``n_points`` inputs v cos z + u sin z, z = −2 … 2, is
    correlated with itself along this arc: the sum over all directions of a random linear read-out, over the mean square
    of the same draw; u, v and the direction are normal vectors. One everywhere for the identity; one at lag zero and
    zero elsewhere for white noise.

    >>> gradient_correlation("tanh", 4, [0.5], n_draws=1, n_points=8, rng=np.random.default_rng(0))[0, 0, 0].item()
    1.0
    """
    scales = _scales(n_layers, exponents)
    n, draws = width, n_draws
    u, v, across = rng.standard_normal((3, draws, 1, n))
    z = np.linspace(-2, 2, n_points)[:, None]
    inputs = v * np.cos(z) + u * np.sin(z)
    x, slope = (np.broadcast_to(array, (len(scales), draws, n_points, n)) for array in (inputs, across))
    return _autocorrelation(_through(kind, n_layers, x, slope, scales, False, rng)[1])


def shattering_law(time: np.ndarray | float, angle: np.ndarray | float) -> np.ndarray:
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


def one_power(constant: float, exponent: float, n_layers: int) -> float:
    """The exponent a' for which c L^-a is L^-a', at this number of layers.

    >>> one_power(4.0, 1.0, 16)
    0.5
    """
    return float(exponent - np.log(constant) / np.log(n_layers))


def _scales(n_layers: int, exponents: Sequence[float]) -> np.ndarray:
    return float(n_layers) ** -np.asarray(exponents, dtype=float)


def _through(
    kind: str, n_layers: int, x: np.ndarray, tangents: np.ndarray, scales: np.ndarray, shared: bool,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """States x (exponents, draws, points, n) and tangents, rows for every point or n of them, after all layers."""
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


def size_curves(kind: str, settings: Mapping[str, Any], shared: bool = False) -> dict[str, list[list[float]]]:
    """forward, backward and distance of ``signals``, each (exponents, depths): means over draws.

    Every depth starts from the same seed.
    """
    given = {"width": settings["width"], "n_draws": settings["n_draws"], "shared": shared}
    at_depths = [
        signals(kind, depth, settings["exponents"], rng=np.random.default_rng(settings["seed"]), **given)
        for depth in settings["depths"]
    ]
    return dict(zip(Signals._fields, np.mean(at_depths, axis=-1).transpose(1, 2, 0).tolist(), strict=True))


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Sizes of all blocks, correlations half a radian apart, and the arcs of the deepest network.

    ``sizes`` and ``shared`` (the same two-layer block in all layers; exponents ½ and 1) are those of ``size_curves``.
    ``half_radian``: kind → (exponents, depths). ``arc``: (exponents, draws, angles), two-layer blocks or the first
    kind, at every fourth of the ``angles``.
    """
    bar = partial(tqdm, disable=not progress)
    values: dict[str, Any] = {"sizes": {kind: size_curves(kind, settings) for kind in bar(BLOCKS)}, "half_radian": {}}
    values["shared"] = {
        str(a): size_curves("two-layer", {**settings, "exponents": [a]}, shared=True) for a in (0.5, 1.0)
    }
    for kind, draws in bar(settings["n_draws_arc"].items()):
        options = {"width": settings["width"], "n_draws": draws, "exponents": settings["exponents"]}
        arcs = [
            gradient_correlation(kind, depth, rng=np.random.default_rng(settings["seed"]), **options)
            for depth in settings["depths"]
        ]
        values["half_radian"][kind] = np.stack([arc[:, :, LAG].mean(axis=1) for arc in arcs], axis=1).tolist()
        if settings["depths"][-1] == SETTINGS["depths"][-1]:
            values.setdefault("arc", arcs[-1][:, :, :160:4].round(6).tolist())
    return {**values, "angles": np.linspace(0, 4, 256)[:160:4].round(9).tolist()}


class Untrained(NamedTuple):
    """The stored curves as arrays.

    Attributes
    ----------
    exponents, depths : (e,), (d,). sizes : kind of block → forward, backward, distance, each (e, d), means over draws.
    shared : exponents ½ and 1 → the like as ``sizes``, (1, d), for two-layer blocks that are the same in all layers.
    half_radian : kind → (e, d) correlation of gradients half a radian apart. angles, arc : (m,) and (e, draws, m).
    """

    exponents: np.ndarray
    depths: np.ndarray
    sizes: dict[str, dict[str, np.ndarray]]
    shared: dict[float, dict[str, np.ndarray]]
    half_radian: dict[str, np.ndarray]
    angles: np.ndarray
    arc: np.ndarray

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Self:
        """What ``stored`` opens."""
        values, settings = content["values"], content["settings"]
        shared = {float(a): sizes for a, sizes in values["shared"].items()}
        exponents, depths = arrays(settings["exponents"]), arrays(settings["depths"])
        return cls(exponents, depths, **arrays({**values, "shared": shared}))

    @property
    def times(self) -> np.ndarray:
        """(e, d), T = L s²/(1 + s²)."""
        return np.array([[layer_time(int(depth), a) for depth in self.depths] for a in self.exponents])

    def growth(self, row: np.ndarray, factor: int = 8) -> float:
        """``row`` (depths,) at the largest depth, over its value at the depth smaller by ``factor``."""
        return float(row[-1] / row[self.depths.tolist().index(self.depths[-1] // factor)])
