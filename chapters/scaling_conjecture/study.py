"""Reading the stored experiment on the residual scale: medians and intervals over seeds, and which exponents learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from capcore.validation import finite_number, positive_integer
from chapters.scaling_conjecture.residual_signals import gradient_correlation, layer_time, signals
from chapters.shared.intervals import geometric_interval, student_interval

Arms = Mapping[str, Mapping[str, Any]]
"""Exponent → arm, as ``train_arm`` returns it."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Best losses against the exponent.

    Attributes
    ----------
    exponents, median : (m,); infinite where more than half of the seeds diverged at every learning rate.
    low, high : (m,) Student's t interval of 95 per cent for the mean of the logarithm over seeds; ``nan`` where a
        seed diverged.
    """

    exponents: np.ndarray
    median: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def learns(self, threshold: float) -> list[float]:
        """Exponents whose median loss is at most ``threshold``."""
        return self.exponents[self.median <= threshold].tolist()


def curve(arms: Arms) -> Curve:
    """The losses of some arms that differ in their exponent.

    >>> found = curve({"0.5": {"best": [0.1, 0.1, 0.1]}, "1.0": {"best": [1.0, 2.0, None]}})
    >>> found.median.tolist(), found.learns(0.5)
    ([0.1, 2.0], [0.5])
    """
    losses = [loss_of(arm) for arm in arms.values()]
    limits = np.array([interval(each) for each in losses])
    medians = np.array([np.median(each) for each in losses])
    return Curve(np.array([float(a) for a in arms]), medians, limits[:, 0], limits[:, 1])


def loss_of(arm: Mapping[str, Any]) -> np.ndarray:
    """(s,) loss of every seed at the arm's best learning rate, infinite where it diverged."""
    return np.array([np.inf if x is None else x for x in arm["best"]], dtype=float)


def interval(losses: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Student's t interval for the mean of the logarithm over seeds; ``nan`` where one of them diverged.

    >>> low, high = interval(np.array([0.5, 1.0, 2.0]))
    >>> round(low, 2), round(high, 2)
    (0.18, 5.59)
    """
    if len(losses) < 2 or not np.isfinite(losses).all():
        return np.nan, np.nan
    _, low, high = geometric_interval(losses, finite_number(level, "level"))
    return float(low), float(high)


def band(runs: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean over draws, the first axis, with Student's t interval: mean, lower and upper limit, each without that axis.

    >>> [part.round(2).tolist() for part in band(np.array([[0.0], [1.0], [2.0]]))]
    [[1.0], [-1.48], [3.48]]
    """
    mean, half = student_interval(runs, level)
    return mean, mean - half, mean + half


def floored_ratio(loss: float, other: float, floor: float) -> float:
    """``loss`` over ``other``, both counted as ``floor`` where they are lower; infinite where only ``loss`` diverged.

    >>> floored_ratio(0.02, 0.05, 0.1), floored_ratio(0.4, 0.05, 0.1)
    (1.0, 4.0)
    """
    return float(max(loss, floor) / max(other, floor))


def windows(values: Mapping[str, Mapping[str, Mapping[str, Arms]]], thresholds: Mapping[str, float]) -> pd.DataFrame:
    """Which exponents learn, for every task and kind of block (rows) and depth (columns), as text.

    ``values`` are those of the stored experiment, ``thresholds`` the loss of each task that counts as learnt.
    """
    rows = {
        (task, kind): {f"L = {depth}": _listed(curve(arms).learns(limit)) for depth, arms in depths.items()}
        for task, limit in thresholds.items()
        for kind, depths in values[task].items()
    }
    table = pd.DataFrame.from_dict(rows, orient="index").fillna("")
    table.index.names = ["task", "block"]
    return table


def _listed(exponents: Sequence[float]) -> str:
    names = {0.0: "0", 0.25: "¼", 0.5: "½", 0.75: "¾", 1.0: "1"}
    return ", ".join(names.get(a, f"{a:g}") for a in exponents) or "none"


EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Those of the chapter's figures and claims."""
BLOCKS = ("tanh", "relu", "two-layer")
LAG = 32
"""Steps of the arc, of 256 points from −2 to 2 radians, at which the claims take the correlation: half a radian."""


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


def count_word(count: int) -> str:
    """``count`` as a word, up to nine.

    >>> count_word(0), count_word(7)
    ('none', 'seven')
    """
    return ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")[count]


def movement(arms: Arms, names: Mapping[str, str]) -> pd.DataFrame:
    """How far the layers move their input, |x_L − x_0|²/|x_0|², before and after training, and the loss; text.

    Parameters
    ----------
    names : key of an arm → its name in the table. Medians over seeds.
    """
    rows = {}
    for key, name in names.items():
        moved = arms[key]["moved"]
        rows[name] = {
            "moved at the start": f"{np.median(moved['start']):.2g}",
            "moved after training": f"{np.median(moved['trained']):.1f}",
            "loss (nats)": f"{np.median(loss_of(arms[key])):.2f}",
        }
    return pd.DataFrame.from_dict(rows, orient="index")
