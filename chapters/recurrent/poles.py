"""The poles of a trained recurrent model, merged and beyond one; and the complex pairs that Eq. 21 leaves out.

Eq. 21 of paper 1 has real recurrent weights. Its models are the impulse responses of order c whose poles are real and
distinct: not a closed set. Where the best response of order c has a complex pair, two real poles merge, their weights
grow without bound with opposite signs, and there is no optimum, only an infimum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from capcore.architectures import Recurrent
from capcore.optimum import Problem
from capcore.processes import FromAutocovariance
from capcore.separable import Columns, minimise_projected
from capcore.validation import finite_array
from capcore.variable_projection import pencil_poles, pole_limit
from chapters.shared.survey import attains

MERGED = 0.01
"""Poles closer than this count as merged."""


@dataclass(frozen=True, eq=False)
class PoleReport:
    """The poles of a recurrent model, in ascending order.

    Attributes
    ----------
    poles, weights : (c,) recurrent weights, and the product of input and output weight of each channel.
    merged : groups of two or more poles, as slices, whose neighbours are closer than a tolerance.
    growing : (c,) whether the modulus is above one: the response grows with the lag, to the end of the window.
    """

    poles: np.ndarray
    weights: np.ndarray
    merged: list[slice]
    growing: np.ndarray = field(repr=False)

    @classmethod
    def of(cls, arch: Recurrent, params: np.ndarray, tolerance: float = MERGED) -> PoleReport:
        """The report of a model at given parameters (n_params,).

        >>> arch = Recurrent(8, 3)
        >>> PoleReport.of(arch, arch.assemble([0.5, 1.5, 0.501], [9.0, 1.0, -9.0])).merged
        [slice(0, 2, None)]
        """
        order = np.argsort(arch.poles(params), kind="stable")
        poles, weights = arch.poles(params)[order], arch.weights(params)[order]
        starts = [0, *(np.flatnonzero(np.diff(poles) >= tolerance) + 1), poles.size]
        groups = [slice(int(a), int(b)) for a, b in pairwise(starts) if b - a > 1]
        return cls(poles, weights, groups, np.abs(poles) > 1)

    @property
    def n_merged(self) -> int:
        """Number of poles that are merged with another."""
        return sum(group.stop - group.start for group in self.merged)


@dataclass(frozen=True, eq=False)
class Response:
    """A response of order c with any poles, real, merged or in complex pairs: A_τ obeys a recursion of order c.

    Attributes
    ----------
    poles : (c,) complex, by descending modulus. coefficients : (n,). loss : its excess prediction variance.
    """

    poles: np.ndarray
    coefficients: np.ndarray = field(repr=False)
    loss: float


def report_all(models: Mapping[int, Recurrent], params: Mapping[int, np.ndarray]) -> dict[int, PoleReport]:
    """Channels → report, in the order of the models."""
    return {c: PoleReport.of(arch, params[c]) for c, arch in models.items()}


def pole_table(
    problems: Mapping[str, Problem],
    reports: Mapping[str, Mapping[int, PoleReport]],
    losses: Mapping[str, Mapping[int, float]],
) -> dict[str, dict[str, str]]:
    """What the poles of the best models look like, in words: "name, c = channels" → column → text.

    Parameters
    ----------
    problems : name → problem. reports, losses : name → channels → report and loss of the best model with real poles.

    The last column is that loss divided by the one of :func:`best_response`. Models that attain the target have no row:
    their poles are arbitrary.
    """
    rows = {}
    for name, problem in problems.items():
        for c, report in reports[name].items():
            if not attains(losses[name][c], problem):
                gain = losses[name][c] / best_response(problem, report.poles).loss
                rows[f"{name}, c = {c}"] = {
                    "loss": f"{losses[name][c]:.2g}",
                    "poles beyond ±1": f"{report.growing.sum()}",
                    "merged poles": f"{report.n_merged}",
                    "complex pairs gain": f"{gain:.3f}",
                }
    return rows


def oscillating_process(n_inputs: int, modulus: float = 0.9, period: float = 8.0) -> FromAutocovariance:
    """A moving average of order two whose best predictor oscillates: its coefficients have a complex pair of poles.

    y_t = e_t − 2ρ cos(2π/T) e_{t−1} + ρ² e_{t−2}; for a long window A* decays like ρ^τ with period T.

    >>> oscillating_process(16).autocovariance(4).round(3).tolist()[2:]
    [0.247, 0.0]
    """
    taps = np.array([1.0, -2 * modulus * np.cos(2 * np.pi / period), modulus**2])
    covariances = np.correlate(taps, taps, "full")[2:]
    return FromAutocovariance(np.append(covariances / covariances[0], np.zeros(n_inputs)))


def best_response(problem: Problem, poles: np.ndarray, max_iterations: int = 100) -> Response:
    """The best response of order c that was found with complex pairs allowed; real models are among them.

    A pair of poles is searched as the roots of x² − s x + p with real s and p, so that it passes from real to merged
    to complex without a kink. Starts: the matrix pencil, and the given poles with each pair of neighbours in turn set
    free, as it stands and as a complex pair between them. The weights are eliminated as for real poles.

    Parameters
    ----------
    problem : target A* and covariance Σ. poles : (c,) those of the best real model.

    >>> lags = np.arange(12)
    >>> problem = Problem(0.8**lags * np.cos(lags), np.eye(12), np.eye(12), 1.0)
    >>> found = best_response(problem, np.array([0.1, 0.6]))
    >>> np.abs(found.poles).round(6).tolist(), bool(found.loss < 1e-20)
    ([0.8, 0.8], True)
    """
    real = np.sort(finite_array(poles, "poles", 1))
    pencil = pencil_poles(problem.target, real.size)
    upper, single = pencil[pencil.imag > 1e-9], pencil[np.abs(pencil.imag) <= 1e-9].real
    fillers = np.linspace(0, 0.9, real.size - pencil.size)
    free: list[tuple[float, float]] = [(2 * z.real, abs(z) ** 2) for z in upper]
    starts = [([], real), (free, np.append(single, fillers))]
    for k in range(real.size - 1):
        (a, b), rest = real[k : k + 2], np.delete(real, [k, k + 1])
        centre = (a + b) / 2
        starts += [([(a + b, a * b)], rest), ([(2 * centre, centre**2 + 0.01)], rest)]
    found = [_search(problem, pairs, singles, max_iterations) for pairs, singles in starts]
    return min(found, key=lambda each: each.loss)


def _search(problem: Problem, pairs: list[tuple[float, float]], singles: np.ndarray, max_iterations: int) -> Response:
    """The local optimum from these quadratic factors (s, p) and real poles."""
    n, m = problem.target.size, len(pairs)
    limit = pole_limit(n)
    # A pair within its bounds has a modulus of at most (1 + √5)/4 of the limit.
    bound = np.array([limit / 2, limit**2 / 4] * m + [limit] * singles.size)
    begin = np.clip(np.array([value for pair in pairs for value in pair] + singles.tolist()), -bound, bound)
    columns = pair_columns(n, m)

    def weighted(parameters: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        matrix, steer = columns(parameters)
        return problem.root @ matrix, lambda weights: problem.root @ steer(weights)

    end = minimise_projected(weighted, problem.root @ problem.target, begin, (-bound, bound), max_iterations)
    coefficients = columns(end.searched)[0] @ end.weights
    roots = [root for s, p in end.searched[: 2 * m].reshape(-1, 2) for root in np.roots([1.0, -s, p])]
    poles = np.array([*roots, *end.searched[2 * m :]], complex)
    return Response(poles[np.argsort(-np.abs(poles), kind="stable")], coefficients, problem.loss(coefficients))


def pair_columns(n: int, n_pairs: int) -> Columns:
    """Responses of the quadratic factors and of the real poles; see :data:`capcore.separable.Columns`.

    A factor h = 1/(1 − s z + p z²) gives two columns, h and z h, that span the responses of its two poles. Their
    derivatives follow from dh/ds = z h² and dh/dp = −z² h².

    Parameters
    ----------
    n : number of inputs. n_pairs : number of factors; the parameters are s and p of each, then the real poles.

    >>> pair_columns(4, 1)(np.array([1.0, 0.0, 0.5]))[0].T.tolist()
    [[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0], [1.0, 0.5, 0.25, 0.125]]
    """

    def columns(parameters: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        factors = [_second_order(n, s, p) for s, p in parameters[: 2 * n_pairs].reshape(-1, 2)]
        powers = np.vander(parameters[2 * n_pairs :], n, increasing=True)
        squares = [np.convolve(h, h)[:n] for h in factors]

        def steer(weights: np.ndarray) -> np.ndarray:
            moved = []
            for k, square in enumerate(squares):
                by_s = weights[2 * k] * _shift(square, 1) + weights[2 * k + 1] * _shift(square, 2)
                moved += [by_s, -_shift(by_s, 1)]
            for power, weight in zip(powers, weights[2 * n_pairs :], strict=True):
                moved.append(weight * np.arange(n) * _shift(power, 1))
            return np.array(moved).T

        return np.array([*(column for h in factors for column in (h, _shift(h, 1))), *powers]).T, steer

    return columns


def _second_order(n: int, s: float, p: float) -> np.ndarray:
    h = np.zeros(n)
    h[0] = 1.0
    for t in range(1, n):
        h[t] = s * h[t - 1] - (p * h[t - 2] if t > 1 else 0.0)
    return h


def _shift(values: np.ndarray, lags: int) -> np.ndarray:
    return np.concatenate([np.zeros(min(lags, values.size)), values[: max(values.size - lags, 0)]])
