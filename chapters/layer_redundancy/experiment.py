"""Freezing redundant parameters and refitting the others (paper 1, Appendix D, Conjectures 1 and 2).

The conjectures say that the others can make up for almost any value of a redundant set. Three models are small enough
to decide it by algebra: what is left to solve is a quadratic equation, and it may have no real root. Larger ones are
refitted, from the optimum (Conjecture 1) or from random starts (Conjecture 2), draw by draw.

``python -m chapters run layer_redundancy`` makes the long runs again, in about ten minutes on one core.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.integrate import quad
from scipy.special import k0
from tqdm import tqdm

from capcore.architectures.base import Architecture
from capcore.architectures.frozen import Frozen
from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.recurrent import Recurrent
from capcore.fitting.optimum import fit
from capcore.processes import PowerLaw, Process
from capcore.processes.problem import Problem
from chapters.kit.witness import CHAOTIC, Witness
from chapters.layer_redundancy.redundancy import maximal_redundant_set, parameter_set, redundant_layer_sets

SETTINGS: dict[str, Any] = {
    "n_layers": 6,
    "weights": {"channels": 4, "n_draws": 50, "n_starts": 5, "max_iterations": 300},
    "layers": {"channels": [3, 5], "n_draws": 10, "n_starts": 5, "max_iterations": 300},
    "seed": 0,
}
QUICK: dict[str, Any] = {
    "n_layers": 4,
    "weights": {"channels": 2, "n_draws": 1, "n_starts": 1, "max_iterations": 5},
    "layers": {"channels": [2], "n_draws": 1, "n_starts": 1, "max_iterations": 5},
}
WITNESS = Witness(["layers.channels"], fixed={"weights.n_draws": 1, "layers.n_draws": 1}, **CHAOTIC)
SQUARE_SHARE = 1 / 3
"""Share of the weights w₂ between −3 and 3 for which w₁² + w₂ = 1 has no real w₁."""


def recurrent_discriminant(target: object, weight: object) -> np.ndarray:
    """Sign-deciding discriminant of two poles on three lags when one of them has a given weight w.

    The weight of a pole is the product of its channel's input and output weight.

    A_τ = v r^τ + w s^τ with A₀, A₁, A₂ given leaves a quadratic equation for s; a quarter of its discriminant is
    w (A₀ − w)(A₀A₂ − A₁²). Where it is negative no real v, r, s give the target.

    Parameters
    ----------
    target : (3,) coefficients. weight : (…) values of w.

    >>> recurrent_discriminant([1.0, 0.5, 0.5], [0.5, 2.0]).tolist()
    [0.0625, -0.5]
    """
    a0, a1, a2 = np.asarray(target, dtype=float)
    w = np.asarray(weight, dtype=float)
    hankel = a0 * a2 - a1**2
    if abs(hankel) <= 1e-12 * (abs(a0 * a2) + a1**2):  # one exponential, to rounding: a double root
        hankel = 0.0
    return w * (a0 - w) * hankel


def diagonal_discriminant(target: object, frozen: object) -> np.ndarray:
    """Discriminant of a two-layer, two-channel, four-input model, four of whose weights are given.

    The coefficients are UV with 2 × 2 matrices U (tap, channel) and V (channel, tap). With U₀₀ = a, U₁₁ = d, V₀₀ = e,
    V₁₁ = h given, U₀₁ solves −h A₁₀ p² + (A₀₁A₁₀ + dhα − aeβ) p − dα A₀₁ = 0, where α = A₀₀ − ae, β = A₁₁ − dh.

    Parameters
    ----------
    target : (4,) coefficients, lag 0 first. frozen : (…, 4) values a, d, e, h.

    >>> diagonal_discriminant([2.0, 1.0, 1.0, 2.0], [[1.0, 1.0, 1.0, 1.0]]).tolist()
    [-3.0]
    """
    a00, a10, a01, a11 = np.asarray(target, dtype=float)
    a, d, e, h = np.moveaxis(np.asarray(frozen, dtype=float), -1, 0)
    alpha, beta = a00 - a * e, a11 - d * h
    return (a01 * a10 + d * h * alpha - a * e * beta) ** 2 - 4 * d * h * alpha * a01 * a10


def unsolvable_shares(process: Process, n_values: int, seed: int = 0) -> dict[str, float]:
    """Share of standard normal frozen weights for which no real choice of the others gives the target.

    Entries ``recurrent``: input and output weight of one channel, :func:`unsolvable_pairs`; and ``hierarchical``:
    four weights, ``n_values`` draws (:func:`diagonal_discriminant`).
    """
    rng = np.random.default_rng(seed)
    hierarchical = diagonal_discriminant(process.predictor(4)[0], rng.standard_normal((n_values, 4)))
    return {"recurrent": unsolvable_pairs(process), "hierarchical": float(np.mean(hierarchical < 0))}


def unsolvable_pairs(process: Process) -> float:
    """Probability that two standard normal weights, frozen as a channel's input and output weight, have no solution.

    Their product w has the density K₀(|w|)/π. Where A₀A₂ > A₁² the discriminant is negative for w outside of 0 … A₀,
    where A₀A₂ < A₁² inside (:func:`recurrent_discriminant`).

    >>> from capcore.processes import PowerLaw
    >>> round(unsolvable_pairs(PowerLaw()), 3)
    0.682
    """
    target = process.predictor(3)[0]
    sign = np.sign(recurrent_discriminant(target, target[0] / 2))
    beyond = quad(k0, abs(target[0]), np.inf)[0] / np.pi
    return float({1: 0.5 + beyond, -1: 0.5 - beyond, 0: 0.0}[int(sign)])


def recurrent_losses(process: Process, weights: np.ndarray, n_starts: int = 5, seed: int = 0) -> np.ndarray:
    """(k,) best loss over random starts of two poles on three lags, one of them with each of the given weights (k,)."""
    arch = Recurrent(3, 2)
    problem = Problem.of(arch, process)
    rows = []
    for weight in weights:
        values = arch.assemble([0.0, 0.0], [0.0, weight])
        model = Frozen(arch, values, [0, 2, 3, 4])  # input and output weight of the second channel are fixed
        rows.append(fit(model, problem, start="random", n_starts=n_starts, rng=seed, max_iterations=200).loss)
    return np.array(rows)


@dataclass(frozen=True)
class Refits:
    """What freezing at random values cost; each (n_draws,).

    ``excess`` : loss / loss at the optimum − 1. ``offset`` : relative offset of the run kept, near 1 where it was still
    descending.
    """

    excess: np.ndarray
    offset: np.ndarray

    @property
    def settled(self) -> np.ndarray:
        """(n_draws,) whether the run had converged by Bates & Watts' criterion, a relative offset below 1e-3."""
        return self.offset < 1e-3


def freeze(
    arch: Architecture, process: Process, draws: Iterable[tuple[Generator, np.ndarray]], n_starts: int, **options: Any
) -> Refits:
    """Fits with parameters at random values, as the architecture draws them: of each draw a generator and indices.

    The others start at the optimum if ``n_starts`` is 0, otherwise at so many random points.
    """
    problem = Problem.of(arch, process)
    optimum = fit(arch, problem)
    fits = []
    for rng, frozen in draws:
        free = np.setdiff1d(np.arange(arch.n_params), frozen)
        model = Frozen(arch, arch.init(rng), free)
        starts = {"start": "random", "n_starts": n_starts, "rng": rng} if n_starts else {"start": optimum.params[free]}
        fits.append(fit(model, problem, **starts, **options))
    return Refits(
        np.array([run.loss / optimum.loss - 1 for run in fits]), np.array([run.relative_offset for run in fits])
    )


def freeze_layers(
    arch: Hierarchical, process: Process, n_draws: int, seed: int = 0, n_starts: int = 0, **options: Any
) -> dict[tuple[str, ...], Refits]:
    """Largest redundant set of layers → :class:`Refits` with its layers frozen at ``n_draws`` random values.

    Every layer set of ``redundant_layer_sets``; ``n_starts`` as in :func:`freeze`.
    """
    values = {}
    for names in filter(None, redundant_layer_sets(arch)):
        frozen = parameter_set(arch, names)
        draws = [(np.random.default_rng([seed, i]), frozen) for i in range(n_draws)]
        values[names] = freeze(arch, process, draws, n_starts, **options)
    return values


def freeze_single_weights(
    arch: Hierarchical, process: Process, n_draws: int, seed: int = 0, n_starts: int = 5, **options: Any
) -> Refits:
    """Maximal redundant sets of single weights, filled up in random order, frozen before random starts.

    >>> from capcore.processes import PowerLaw
    >>> freeze_single_weights(Hierarchical(1, 3), PowerLaw(), 2, n_starts=3).offset.size
    2
    """
    rngs = [np.random.default_rng([seed, i]) for i in range(n_draws)]
    draws = [(rng, maximal_redundant_set(arch, rng.permutation(arch.n_params))) for rng in rngs]
    return freeze(arch, process, draws, n_starts, **options)


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Excesses and offsets of single weights frozen, and of layers frozen at further widths; power law, plain types."""
    weights, layers, seed = dict(settings["weights"]), dict(settings["layers"]), settings["seed"]
    arch = Hierarchical(weights.pop("channels"), settings["n_layers"])
    values: dict[str, Any] = {"weights": _plain(freeze_single_weights(arch, PowerLaw(), seed=seed, **weights))}
    values["layers"] = {}
    for c in tqdm(layers.pop("channels"), unit="model", disable=not progress):
        sets = freeze_layers(Hierarchical(c, settings["n_layers"]), PowerLaw(), seed=seed, **layers)
        values["layers"][str(c)] = [{"frozen": list(names), **_plain(entry)} for names, entry in sets.items()]
    return values


def _plain(refits: Refits) -> dict[str, list[float]]:
    return {name: values.tolist() for name, values in vars(refits).items()}
