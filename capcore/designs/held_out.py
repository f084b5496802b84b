"""Forecast errors that happened: the end of a series is held out in stretches, and models forecast it from the past.

At the beginning of each stretch, its origin, weights are fitted to all values before it; they forecast every value of
the stretch, h steps ahead, from the values up to then. Nothing after an origin enters weights, means or orders.

Errors of one stretch are correlated: those of h steps ahead share h − 1 innovations, and a bad year is bad throughout.
So a stretch counts as one observation, its mean squared error, and intervals are Student's, of as many as there are.

Of a differenced series y = δ(B)x, with 1/δ(B) = Σ ψ_j B^j, what is forecast is Σ_j ψ_j y_{t+h−j}, j < h: that is
x_{t+h} without what past values carry forward, so that its error is that of x_{t+h} itself, in the units of the series.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import toeplitz
from scipy.signal import correlate, lfilter
from scipy.stats import t as student

from capcore import verbs
from capcore.architectures.linear import Linear
from capcore.architectures.taps import AutoRegressiveTaps
from capcore.checks.arguments import positive_integer, quiet
from capcore.fitting.projection import least_squares
from capcore.processes import Process
from capcore.processes.problem import FromCovariance, Problem
from capcore.processes.time_series import LENGTH_PER_LAG, estimate_process, with_gaps

SHARE = 5  # of a series, one in so many values is held out
STRETCHES, ENOUGH = (5, 10), 20  # least and most stretches; values in each, of which more than the least are made
MOST_INPUTS = 256
RIDGE = 1e-10  # of the mean variance: for windows of smooth series, whose second moments are singular
ROWS = 4096  # windows that are unfolded at a time
ORDERS = 24  # numbers of lags that are validated, at most, at even distances in the logarithm
STEPS = 5  # of a fit that starts from the weights of the origin before
LEVEL = 0.01  # probability with which a promise that holds lies outside of its interval
CLEAR, ALIKE = 0.3, 1.25  # autocorrelation of a season; how much less a shorter one may explain, of what is missing


class Routes(NamedTuple):
    """What weights are fitted to at an origin: two problems, each with the means (n + 1,) of inputs and target."""

    covariance: tuple[Problem, np.ndarray]
    least_squares: tuple[Problem, np.ndarray]


def ahead(process: Process, n_inputs: int, future: np.ndarray) -> Problem:
    """The problem of forecasting a weighted sum of the next values, such as the h-th alone.

    Parameters
    ----------
    process : Process
        Of one component.
    n_inputs : int
        n.
    future : (h,) array
        Weights of the next value, the one after it, …

    Examples
    --------
    >>> from capcore.processes import AR1
    >>> problem = ahead(AR1(0.5), 2, np.array([0.0, 1.0]))
    >>> problem.target.round(12).tolist(), round(problem.variance, 12)
    ([0.25, 0.0], 0.9375)
    """
    if future.size == 1:
        return Problem.of(AutoRegressiveTaps(1, n_inputs), process)
    lags = process.autocovariance(n_inputs + future.size)
    cross, variance = np.correlate(lags[1:], future, "valid"), future @ toeplitz(lags[: future.size]) @ future
    return FromCovariance(process.covariance(n_inputs), cross=cross, variance=float(variance))


def future_weights(horizon: int, lags: Sequence[int] = ()) -> np.ndarray:
    """(h,) weights ψ_{h−1}, …, ψ_0 with which the next differences make up the value h steps ahead.

    >>> future_weights(3).tolist(), future_weights(3, [1]).tolist(), future_weights(3, [1, 1]).tolist()
    ([0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [3.0, 2.0, 1.0])
    """
    difference = reduce(np.convolve, [np.r_[1.0, np.zeros(lag - 1), -1.0] for lag in lags], np.ones(1))
    return lfilter([1.0], difference, np.eye(1, horizon)[0])[::-1]


def seasonal_period(values: np.ndarray) -> int | None:
    """The season of a series (m,): the shortest lag at which it repeats as well as at any; None without a clear one.

    Lags are peaks of the autocorrelation about a straight line, after its first trough, up to m/3.

    >>> at = np.arange(120)
    >>> seasonal_period(np.sin(at * np.pi / 6) + 0.1 * at), seasonal_period(0.1 * at)
    (12, None)
    """
    size = len(values)
    rest = values - np.polynomial.Polynomial.fit(np.arange(size), values, 1)(np.arange(size))
    pairs = size - np.arange(size // 3 + 2)
    if len(pairs) < 4 or np.ptp(rest) <= 1e-9 * np.ptp(values):
        return None
    like = correlate(rest, rest)[size - 1 :][: len(pairs)] / pairs / np.mean(rest**2)
    rises = np.diff(like) > 0
    peaks = 1 + np.flatnonzero(rises[:-1] & ~rises[1:])
    most = max(like[peaks], default=0.0)
    if most < max(CLEAR, 4 / np.sqrt(size)):
        return None
    return int(peaks[np.argmax(1 - like[peaks] <= ALIKE * (1 - most))])


def margin(errors: np.ndarray, level: float = 0.05) -> float:
    """Half the interval of the mean of independent values (K,), by Student's law.

    >>> round(margin(np.array([1.0, 2.0, 3.0])), 2)
    2.48
    """
    return float(student.isf(level / 2, len(errors) - 1) * np.std(errors, ddof=1) / np.sqrt(len(errors)))


def root_margin(squares: np.ndarray) -> float:
    """Half the interval of the root of the mean of (K,) squared errors, at 95 %."""
    return margin(squares) / (2 * float(np.sqrt(squares.mean())))


def misses(promise: float, squares: np.ndarray, share: float) -> bool:
    """Whether a promised mean squared error is none that (K,) errors allow, with probability 0.01 if it holds.

    share : number of values held out, over those that the promise was estimated from, which makes it uncertain too.
    """
    return bool(abs(squares.mean() - promise) > margin(squares, LEVEL) * np.sqrt(1 + share))


def clearly_less(one: np.ndarray, other: np.ndarray, level: float | None = None) -> bool:
    """Whether (K,) squared errors are less than others in the same stretches, by more than the difference's error.

    That is one standard error, or as much as a level of probability asks for.
    """
    gain = other - one
    room = margin(gain, 2 * level) if level else np.std(gain, ddof=1) / np.sqrt(len(gain))
    return bool(gain.mean() > room)


class HeldOut:
    """A series whose end is held out: what weights are fitted to at each origin, and the errors that they make.

    Parameters
    ----------
    series : (m,) array_like
        Oldest first. A missing value stands for the last one before it where it is an input, and is no target.
    n_inputs : int, optional
        Longest window; by default the largest power of two up to 256 that the values before the first origin allow.
    horizon : int
        h.
    differences : int
        How often neighbours are subtracted.
    season : int, optional
        Lag of a seasonal difference.
    skip : int
        Oldest values that are left out, with the same origins.

    Attributes
    ----------
    period : int or None
        The season: as given, or that of the values before the first origin, if there is one.
    share : float
        Number of forecasts over that of values before the first origin.
    origins : (K + 1,) int array
        First values not known at each origin; the last ends the last stretch.
    """

    def __init__(
        self,
        series: Any,
        n_inputs: int | None = None,
        horizon: int = 1,
        differences: int = 0,
        season: int | None = None,
        skip: int = 0,
    ) -> None:
        self.horizon = positive_integer(horizon, "horizon")
        lags = [1] * positive_integer(differences, "differences", 0)
        lags += [] if season is None else [positive_integer(season, "season", 2)]
        values, there = with_gaps(series)
        values, there = (part[int(np.argmax(there)) :] for part in (values, there))
        size, self.skip, self.lost = len(values), skip, sum(lags)
        self.differences, self.season = differences, season
        held = max(size // SHARE, min(STRETCHES[0] * horizon, size // 3))
        most = min(STRETCHES[1], max(STRETCHES[0], held // max(ENOUGH, 2 * horizon)), held // horizon)
        first = size - horizon + 1 - held
        longest = (int(there[self.lost + skip : first].sum()) if first > 0 else 0) // LENGTH_PER_LAG - horizon
        if most < 2 or longest < (n_inputs or 2):
            least = "a longer one" if n_inputs is None else f"{LENGTH_PER_LAG * (n_inputs + horizon):,}"
            raise ValueError(
                f"series: found {max(longest + horizon, 0) * LENGTH_PER_LAG:,} values before those held out, expected "
                f"{least}. Give a longer series, or use fewer inputs, a nearer horizon or fewer differences."
            )
        self.n_inputs = n_inputs or min(MOST_INPUTS, 1 << longest.bit_length() - 1)
        self.origins = np.linspace(first, first + held, most + 1).astype(int)
        self.centre = values[:first][there[:first]].mean() if not lags else 0.0
        self.values = values[np.maximum.accumulate(np.where(there, np.arange(size), 0))] - self.centre
        self.there, self.future = there, future_weights(horizon, lags)
        known, self.known = self.values, np.where(there, self.values, np.nan)
        for lag in lags:
            known, self.known = known[lag:] - known[:-lag], self.known[lag:] - self.known[:-lag]
        self._windows = np.lib.stride_tricks.sliding_window_view(known, self.n_inputs)
        self._target = lfilter(self.future[::-1], [1.0], known)
        self.share = held / (first - skip)
        self.period = season or seasonal_period(self.values[:first])
        spans = zip(self.origins, self.origins[1:], strict=False)
        self.stretches = [self._sums(start - 1, end - 1) for start, end in spans]

    def _sums(self, start: int, end: int) -> np.ndarray:
        """(n + 2, n + 2) sums of products of inputs, target and 1, over windows that end at ``start`` … ``end`` − 1."""
        total = np.zeros((self.n_inputs + 2,) * 2)
        for at in range(start, end, ROWS):
            ends = np.arange(at, min(at + ROWS, end))
            ends = ends[self.there[ends + self.horizon]] - self.lost
            inputs, target = self._windows[ends - self.n_inputs + 1, ::-1], self._target[ends + self.horizon]
            rows = np.column_stack([inputs, target, np.ones(len(ends))])
            total += rows.T @ rows
        return total

    def estimated(self, origin: int, n_inputs: int) -> Process:
        """The process of the values before an origin."""
        return estimate_process(self.known[self.skip : origin - self.lost], n_inputs + self.horizon - 1)

    def routes(self, n_inputs: int) -> list[Routes]:
        """What models of n inputs are fitted to at each origin, and at the end of the series."""
        sums, start, posed = 0.0, self.lost + self.skip + self.n_inputs - 1, []
        for origin in [*self.origins[:-1], len(self.values)]:
            sums, start = sums + self._sums(start, origin - self.horizon), origin - self.horizon
            means = sums[-1, :-1] / sums[-1, -1]
            moments = sums[:-1, :-1] / sums[-1, -1] - np.outer(means, means)
            inner = moments[:n_inputs, :n_inputs]
            ridge = RIDGE * float(np.trace(inner)) / n_inputs
            empirical = FromCovariance(inner, cross=moments[:n_inputs, -1], nugget=ridge)
            level = float(np.nanmean(self.known[self.skip : origin - self.lost]))
            with quiet():
                process = ahead(self.estimated(origin, n_inputs), n_inputs, self.future)
            constant = np.append(np.full(n_inputs, level), level * self.future.sum())
            posed.append(Routes((process, constant), (empirical, means[[*range(n_inputs), -1]])))
        return posed

    def errors(self, arch: Any, params: np.ndarray, routes: list[Routes]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """How weights are fitted → (K,) mean squared errors of the stretches, and the weights fitted to all values.

        A model that is not linear in its parameters takes a few steps at each origin, from the weights of the one before
        on; first from ``params``.
        """
        found = {}
        for name in Routes._fields:
            squares, fitted = [], params
            for posed, stretch in zip(routes, [*self.stretches, None], strict=True):
                problem, means = getattr(posed, name)
                fitted = fitted_to(arch, problem, fitted)
                if stretch is not None:
                    weights = arch.coefficients(fitted)
                    squares.append(self._error(weights, means[-1] - weights @ means[:-1], stretch))
            found[name.replace("_", " ")] = np.array(squares), fitted
        return found

    def _error(self, weights: np.ndarray, constant: float, stretch: np.ndarray) -> float:
        """Mean squared error in a stretch of target − weights · inputs − constant."""
        form = np.concatenate([-weights, np.zeros(self.n_inputs - len(weights)), [1.0, -constant]])
        return max(float(form @ stretch @ form), 0.0) / stretch[-1, -1]

    def repeated(self, back: int) -> np.ndarray:
        """(K,) mean squared errors of repeating the value ``back`` before each."""
        squares = np.square(self.values[back:] - self.values[:-back])
        there = self.there[back:]
        spans = zip(self.origins, self.origins[1:], strict=False)
        shift = self.horizon - 1 - back
        return np.array([squares[a + shift : b + shift][there[a + shift : b + shift]].mean() for a, b in spans])

    def lags(self, most: int) -> tuple[np.ndarray, int]:
        """(K,) mean squared errors of least squares with recent lags, at most ``most``, and how many at the last origin.

        The number is chosen at each origin: by the error in the last fifth of the values before it, of weights that are
        fitted to the others.
        """
        squares, count = [], 0
        orders = np.unique(np.geomspace(1, most, ORDERS).round().astype(int)).tolist()
        begin = self.lost + self.skip + self.n_inputs - 1
        for origin, stretch in zip(self.origins, self.stretches, strict=False):
            end = origin - self.horizon
            cut = end - (end - begin) // SHARE
            early, late = self._sums(begin, cut - self.horizon + 1), self._sums(cut, end)
            count = min(orders, key=lambda q: self._error(*_regressed(early, q), late))
            squares.append(self._error(*_regressed(early + late, count), stretch))
        return np.array(squares), count


def baselines(trial: HeldOut, most: int) -> dict[str, np.ndarray]:
    """Name → (K,) mean squared errors of what needs no model: the last value, the last season, and lags by validation."""
    h, period = trial.horizon, trial.period
    found = {"repeating the last value": trial.repeated(h)}
    if period:
        found[f"repeating the last season ({period})"] = trial.repeated(period * -(-h // period))
    squares, count = trial.lags(most)
    return found | {f"{count} lag(s) by validation": squares}


def _regressed(sums: np.ndarray, count: int) -> tuple[np.ndarray, float]:
    """Least squares with the first inputs and a constant, from sums of products."""
    chosen = [*range(count), len(sums) - 1]
    solution = np.linalg.lstsq(sums[np.ix_(chosen, chosen)], sums[chosen, -2])[0]
    return solution[:-1], float(solution[-1])


def fitted_to(arch: Any, problem: Problem, params: np.ndarray) -> np.ndarray:
    """The weights of a model that solve a problem best; a few steps from others on, unless it is linear in them."""
    if isinstance(arch, Linear):
        return least_squares(problem.root @ arch.basis, problem.root @ problem.target)[0]
    with quiet():
        return verbs.fit(arch, problem, start=params, max_iterations=STEPS).params
