"""Forecast errors that happened: the end of a series is held out in stretches, and models forecast it from the past.

At the beginning of each stretch, its origin, weights are fitted to all values before it; they forecast every value of
the stretch, h steps ahead, from the values up to then. Nothing after an origin enters weights, means or orders.

Errors of one stretch are correlated: those of h steps ahead share h − 1 innovations, and a bad year is bad throughout.
So a stretch counts as one observation, its mean squared error, and intervals are Student's, of as many as there are.

Of a differenced series y = δ(B)x, with 1/δ(B) = Σ ψ_j B^j, what is forecast is Σ_j ψ_j y_{t+h−j}, j < h: that is
x_{t+h} without what past values carry forward, so that its error is that of x_{t+h} itself, in the units of the series.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.linalg import toeplitz
from scipy.signal import correlate, lfilter
from scipy.stats import t as student

from capcore import verbs
from capcore.architectures.linear import Linear
from capcore.architectures.taps import AutoRegressiveTaps
from capcore.checks.arguments import counted, of_kind, positive_integer, quiet
from capcore.fitting.projection import least_squares
from capcore.processes import Process
from capcore.processes.kernels import as_task
from capcore.processes.problem import FromCovariance, Problem
from capcore.processes.time_series import LENGTH_PER_LAG, EstimatedProcess, estimate_process, with_gaps

SHARE = 5  # of a series, one in so many values is held out
STRETCHES, ENOUGH = (5, 10), 40  # least and most stretches; values in each, of which more than the least are made
MOST_INPUTS = 256
WAYS = ("covariance", "least squares")  # to fit weights
RIDGE = 1e-10  # of the mean variance: for windows of smooth series, whose second moments are singular
ORDERS = 24  # numbers of lags that are validated, at most
STEPS = 5  # of a fit that starts from the weights of the origin before
LEVEL = 0.01  # probability with which a promise that holds lies outside of its interval
CLEAR = 0.5  # autocorrelation beyond which repeating a season errs less than the mean does
ALIKE = 1.25  # how much more values may differ at a shorter season


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
    of_kind(process, "task", Process, "a Process, of which more than the next value is forecast")
    lags = process.autocovariance(n_inputs + future.size)
    variance = float(future @ toeplitz(lags[: future.size]) @ future)
    cross = np.correlate(lags[1:], future, "valid")
    return FromCovariance(process.covariance(n_inputs), cross=cross, variance=variance)


def future_weights(horizon: int, lags: Sequence[int] = ()) -> np.ndarray:
    """(h,) weights ψ_{h−1}, …, ψ_0 with which the next differences make up the value h steps ahead.

    >>> future_weights(3).tolist(), future_weights(3, [1]).tolist(), future_weights(3, [1, 1]).tolist()
    ([0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [3.0, 2.0, 1.0])
    """
    difference = reduce(np.convolve, [np.r_[1.0, np.zeros(lag - 1), -1.0] for lag in lags], np.ones(1))
    return lfilter([1.0], difference, np.eye(1, horizon)[0])[::-1]


def seasonal_period(values: np.ndarray) -> int | None:
    """The season of a series (m,): the shortest lag at which it repeats as well as at any; None without a clear one.

    Values at lags up to m/3 are compared, about a straight line and as differences, of which the clearer one counts.

    >>> at = np.arange(120)
    >>> seasonal_period(np.sin(at * np.pi / 6) + 0.1 * at), seasonal_period(0.1 * at)
    (12, None)
    """
    at, scale = np.arange(len(values)), 1e-9 * np.ptp(values)
    line = np.polynomial.Polynomial.fit(at, values, 1)(at)
    seasons = [_season(rest) for rest in (values - line, np.diff(values)) if len(rest) > 2 and rest.std() > scale]
    return min(seasons, key=lambda season: season[0], default=(1.0, None))[1]


def _season(values: np.ndarray) -> tuple[float, int | None]:
    """The least trough of half the mean squared difference over the variance, 1 less the autocorrelation; its lag."""
    size = len(values)
    lags, sums = np.arange(size // 3 + 1), np.append(0.0, np.cumsum(values**2))
    products = correlate(values, values)[size - 1 :][lags]
    unlike = (sums[-1] - sums[lags] + sums[size - lags] - 2 * products) / (size - lags) / (2 * values.var())
    troughs = 1 + np.flatnonzero((unlike[1:-1] < unlike[:-2]) & (unlike[1:-1] <= unlike[2:]))
    troughs = troughs[troughs > np.argmax(unlike > unlike.max() / 2)]  # beyond where values have become unlike
    least = min(unlike[troughs], default=1.0)
    if 1 - least < max(CLEAR, 4 / np.sqrt(size)):
        return 1.0, None
    first = int(troughs[np.argmax(unlike[troughs] <= ALIKE * least + 1e-9)])
    return least, first + int(np.argmin(unlike[first : int(ALIKE * first) + 1]))


def margin(values: np.ndarray, level: float = 0.05) -> float:
    """Half the interval of the mean of independent values (K,), by Student's law.

    >>> round(margin(np.array([1.0, 2.0, 3.0])), 2)
    2.48
    """
    return float(student.isf(level / 2, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))


@dataclass(frozen=True, eq=False)
class Tested:
    """Errors on what was held out.

    Attributes
    ----------
    squares : (K,) array
        Mean squared errors of the stretches, in the units of the series.
    fitted : str
        How weights were fitted that make them: "covariance" or "least squares", whichever errs less.
    promised : float
        Root of the mean squared error that was promised.
    """

    squares: np.ndarray
    fitted: str = ""
    promised: float = np.nan

    def __str__(self) -> str:
        return f"{in_short(self.error, 3)} ± {in_short(self.margin, 2)}"

    @property
    def error(self) -> float:
        """Root mean squared error."""
        return float(np.sqrt(self.squares.mean()))

    @property
    def margin(self) -> float:
        """Half of its interval at 95 %, which counts each stretch as one observation."""
        return margin(self.squares) / (2 * self.error)

    def misses(self) -> bool:
        """Whether the promise lies outside of its interval, and of its own: it was estimated from 4 times as much."""
        room = margin(self.squares, LEVEL) * np.sqrt(1 + 1 / (SHARE - 1))
        return bool(abs(self.squares.mean() - self.promised**2) > room)

    def beats(self, other: "Tested", level: float | None = None) -> bool:
        """Whether it errs less than another, by more than a standard error of the difference.

        Or by as much as a probability of such a gain by chance asks for.
        """
        gain = other.squares - self.squares
        error = margin(gain, 2 * level) if level else np.std(gain, ddof=1) / np.sqrt(len(gain))
        return bool(gain.mean() > error)


def rows_of(said: Mapping[str, Mapping[str, Any]], tested: Mapping[str, Tested | None]) -> list[dict[str, Any]]:
    """Rows of models and baselines by name: what is said of them, error, half its interval, promise, and weights."""
    return [
        {"model": name, **said.get(name, {}), "error": one.error, "±": one.margin}
        | {"promised": one.promised, "weights by": one.fitted}
        for name, one in tested.items()
        if one
    ]


def in_short(value: Any, digits: int) -> str:
    """A number with so many digits that count; nothing for NaN, and text as it is.

    >>> in_short(1366.2, 2), in_short(0.25, 2), in_short(np.nan, 2), in_short("a", 2)
    ('1,400', '0.25', '', 'a')
    """
    if not isinstance(value, float):
        return str(value)
    return f"{float(f'{value:.{digits}g}'):,.12g}" if value == value else ""


def in_text(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Rows as texts, and nothing where a row has no value."""
    return [{name: in_short(row.get(name, ""), 2 if name == "±" else 5) for name in rows[0]} for row in rows]


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

    Attributes
    ----------
    origins : (K + 1,) int array
        First values not known at each origin; the last ends the last stretch.
    process : EstimatedProcess
        That of the values before the first origin.
    future : (h,) array
        Weights of the next differences in what is forecast.
    period : int or None
        The season, as given or that of the values before the first origin.

    Raises
    ------
    ValueError
        For arguments that cannot be used, and for a series that is too short.
    """

    def __init__(
        self,
        series: Any,
        n_inputs: int | None = None,
        horizon: int = 1,
        differences: int = 0,
        season: int | None = None,
    ) -> None:
        self.horizon = horizon = positive_integer(horizon, "horizon")
        lags = [1] * positive_integer(differences, "differences", 0)
        lags += [] if season is None else [positive_integer(season, "season", 2)]
        values, self.there = with_gaps(series)
        size, self.lost = len(values), sum(lags)
        held = max(size // SHARE, min(STRETCHES[0] * horizon, size // 3))
        count = min(STRETCHES[1], max(STRETCHES[0], held // max(ENOUGH, 2 * horizon)), held // horizon)
        first = max(size - horizon + 1 - held, 0)
        before = int(self.there[self.lost : first].sum())
        longest = before // LENGTH_PER_LAG - horizon
        if longest < (n_inputs or 2):
            raise ValueError(
                f"series: found {before:,} values before those held out, expected at least "
                f"{LENGTH_PER_LAG * ((n_inputs or 2) + horizon):,}. Give a longer series, or use fewer inputs."
            )
        self.n_inputs = n_inputs or min(MOST_INPUTS, 1 << longest.bit_length() - 1)
        self.future, self.first = future_weights(horizon, lags), self.lost + self.n_inputs - 1
        values = values - values[:first].mean()
        self.values = values[np.maximum.accumulate(np.where(self.there, np.arange(size), np.argmax(self.there)))]
        both = np.array([self.values, np.where(self.there, self.values, np.nan)])
        for lag in lags:
            both = both[:, lag:] - both[:, :-lag]
        self.known = both[1]
        with quiet():
            self.process = self.estimated(first, self.n_inputs)
        self.origins = np.linspace(first, first + held, count + 1).astype(int)
        self.period = seasonal_period(self.values[:first]) if season is None else lags[-1]
        self._windows = sliding_window_view(both[0], self.n_inputs)
        self._target = lfilter(self.future[::-1], 1, both[0])
        self.stretches = [self._rows(start, end) for start, end in pairwise(self.origins - 1)]
        if not all(len(target) for _, target in self.stretches):
            raise ValueError("series: found no value in a stretch held out, expected some in each. Fill the gap.")

    def _rows(self, start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """(r, n) inputs and (r,) targets that are there, of windows that end at ``start`` … ``end`` − 1."""
        ends = np.arange(start, end)
        ends = ends[self.there[ends + self.horizon]] - self.lost
        return self._windows[ends - self.n_inputs + 1, ::-1], self._target[ends + self.horizon]

    def estimated(self, origin: int, n_inputs: int) -> EstimatedProcess:
        """The process of the values before an origin."""
        return estimate_process(self.known[: origin - self.lost], n_inputs + self.horizon - 1)

    def posed(self, n_inputs: int, ways: Sequence[str] = WAYS) -> dict[str, list[tuple[Problem, np.ndarray]]]:
        """What models of n inputs are fitted to at each origin, and at the end of the series, in some ways.

        A problem, and the means (n + 1,) of inputs and target.
        """
        pose = dict(zip(WAYS, (self._by_covariance, self._by_rows), strict=True))
        origins = [*self.origins[:-1], len(self.values)]
        return {way: [pose[way](origin, n_inputs) for origin in origins] for way in ways}

    def _by_covariance(self, origin: int, n_inputs: int) -> tuple[Problem, np.ndarray]:
        level = np.nanmean(self.known[: origin - self.lost])
        with quiet():
            problem = ahead(self.estimated(origin, n_inputs), n_inputs, self.future)
        return problem, level * np.append(np.ones(n_inputs), self.future.sum())

    def _by_rows(self, origin: int, n_inputs: int) -> tuple[Problem, np.ndarray]:
        means, moments = _moments(*self._rows(self.first, origin - self.horizon), n_inputs)
        ridge = RIDGE * float(np.trace(moments)) / len(moments)
        return FromCovariance(moments[:-1, :-1], cross=moments[:-1, -1], nugget=ridge), means

    def tested(self, arch: Any, params: np.ndarray, posed: dict[str, Any], promise: float) -> tuple[Tested, np.ndarray]:
        """What a model errs by with weights of its better way, and these as fitted to all values.

        A model that is not linear in its parameters takes a few steps at each origin, from the weights of the one
        before on; first from ``params``.
        """
        outcomes = []
        for name, problems in posed.items():
            weights, squares = params, []
            for i, (problem, means) in enumerate(problems):
                weights = fitted_to(arch, problem, weights)
                squares += [_mean_square(rows, arch.coefficients(weights), means) for rows in self.stretches[i : i + 1]]
            outcomes.append((Tested(np.array(squares), name, float(np.sqrt(promise))), weights))
        return min(outcomes, key=lambda outcome: outcome[0].error)

    def baselines(self, most: int) -> dict[str, Tested]:
        """By name, repeating the last value and the last season, and least squares with at most ``most`` lags.

        Their number is chosen at each origin: by the error in the last fifth of the values before it, of weights that
        are fitted to the others.
        """
        h, squares, order = self.horizon, [], 1
        errors = {"repeating the last value": self._repeated(h)}
        if self.period:
            errors[f"repeating the last season ({self.period})"] = self._repeated(self.period * -(-h // self.period))
        orders = np.geomspace(1, most, ORDERS).round().astype(int).tolist()
        for origin, rows in zip(self.origins, self.stretches, strict=False):
            cut = origin - h - (origin - h - self.first) // SHARE
            early, late = self._rows(self.first, cut - h + 1), self._rows(cut, origin - h)
            order = min(orders, key=_errors_by_lags(_moments(*early, most), late))
            squares.append(_errors_by_lags(_moments(*self._rows(self.first, origin - h), most), rows)(order))
        errors[f"least squares with {counted(order, 'lag')}"] = np.array(squares)
        return {name: Tested(squares) for name, squares in errors.items()}

    def _repeated(self, back: int) -> np.ndarray:
        """(K,) mean squared errors of repeating the value ``back`` before each."""
        squares = np.where(self.there[back:], np.square(self.values[back:] - self.values[:-back]), np.nan)
        parts = np.split(squares, self.origins + self.horizon - 1 - back)[1:-1]
        return np.array([np.nanmean(part) for part in parts])


def _moments(inputs: np.ndarray, target: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariance of the first inputs and the target."""
    columns = np.column_stack([inputs[:, :count], target])
    return columns.mean(axis=0), np.cov(columns.T, bias=True)


def _mean_square(rows: tuple[np.ndarray, np.ndarray], weights: np.ndarray, means: np.ndarray) -> float:
    """Mean squared error of forecasts: the target's mean + weights · (inputs − their means)."""
    inputs, target = rows
    count = len(weights)
    return float(np.mean(np.square(target - means[-1] - (inputs[:, :count] - means[:count]) @ weights)))


def _errors_by_lags(fitted_to: tuple[np.ndarray, np.ndarray], rows: Any) -> Callable[[int], float]:
    """Number of lags → mean squared error in rows of least squares with so many, from means and covariance."""
    means, moments = fitted_to
    return lambda q: _mean_square(rows, np.linalg.lstsq(moments[:q, :q], moments[:q, -1])[0], means)


def fitted_to(arch: Any, problem: Problem, params: np.ndarray) -> np.ndarray:
    """The weights of a model that solve a problem best; a few steps from others on, unless it is linear in them."""
    if isinstance(arch, Linear):
        return least_squares(problem.root @ arch.basis, problem.root @ problem.target)[0]
    with quiet():
        return verbs.fit(arch, problem, start=params, max_iterations=STEPS).params


def opened(task: Any, **options: Any) -> tuple[Any, np.ndarray, HeldOut | None]:
    """A process, the weights of what is to be forecast, and of a series its held-out end."""
    if hasattr(task, "__len__") and not isinstance(task, str):
        trial = HeldOut(task, **options)
        return trial.process, trial.future, trial
    if options["differences"] != 0 or options["season"] is not None:
        raise ValueError("differences, season: found some beside a process, expected a series.")
    return as_task(task), future_weights(positive_integer(options["horizon"], "horizon")), None
