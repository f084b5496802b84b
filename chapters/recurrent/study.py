"""Recurrent models of one process over the number of channels: losses, capacities, profiles, and where L-BFGS-B stops.

Paper 1, section 5.2, Figures 10 and 11.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from capcore import Problem, Recurrent
from capcore.architectures.generic import exact_rank
from capcore.capacity.allocation import CapacityAllocation
from capcore.fitting.variable_projection import projection_path
from capcore.processes import FAMILIES, Process
from chapters.recurrent.experiment import stops
from chapters.shared.log_log import LogLogLine, fit_power
from chapters.shared.profiles import SATURATED
from chapters.shared.survey import allocate_quietly, attains


class RecurrentSweep(NamedTuple):
    """Recurrent models at the best optimum found for one process, by number of channels.

    Attributes
    ----------
    models : channels → model. params : channels → (3c,) parameters. problem : what they were fitted to.
    loss : (m,) losses, never increasing. converged : (m,) whether the kept search converged.
    """

    models: Mapping[int, Recurrent]
    params: Mapping[int, np.ndarray]
    problem: Problem
    loss: np.ndarray
    converged: np.ndarray

    @property
    def channels(self) -> np.ndarray:
        """(m,) number of channels."""
        return np.array(list(self.models))

    @property
    def n_params(self) -> np.ndarray:
        """(m,) number of parameters."""
        return np.array([arch.n_params for arch in self.models.values()])

    @property
    def excess(self) -> np.ndarray:
        """(m,) losses, with exact zeros where the target is attained to rounding."""
        return np.where(attains(self.loss, self.problem), 0.0, self.loss)

    @property
    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Channels and losses, as ``plot_losses`` takes them."""
        return self.channels, self.loss

    def only(self, channels: Sequence[int]) -> Self:
        """The same for some of the numbers of channels, in ascending order."""
        chosen = [c for c in self.models if c in set(channels)]
        selected = np.isin(self.channels, chosen)
        models, params = {c: self.models[c] for c in chosen}, {c: self.params[c] for c in chosen}
        return self._replace(models=models, params=params, loss=self.loss[selected], converged=self.converged[selected])

    def exact_capacity(self) -> np.ndarray:
        """(m,) exact generic κ, by elimination modulo a prime at random whole-number parameters."""
        return np.array([exact_rank(arch) for arch in self.models.values()])

    def exact_capacity_at_optimum(self) -> np.ndarray:
        """(m,) exact κ at the parameters found, taken as the fractions they are."""
        return np.array([exact_rank(arch, params=self.params[c]) for c, arch in self.models.items()])

    def allocations(self) -> dict[int, CapacityAllocation]:
        """Channels → allocation in double precision; compare ``total`` and ``generic_total`` of each."""
        return {c: allocate_quietly(arch, self.params[c], self.problem) for c, arch in self.models.items()}

    def numerical_capacity(self) -> np.ndarray:
        """(m,) κ in double precision at the parameters found."""
        return np.array([alloc.total for alloc in self.allocations().values()])


def models_by_channels(n_inputs: int, channels: Sequence[int]) -> dict[int, Recurrent]:
    """Channels → model, in ascending order.

    >>> models_by_channels(8, [2, 1])
    {1: Recurrent(n_inputs=8, channels=1), 2: Recurrent(n_inputs=8, channels=2)}
    """
    return {c: Recurrent(n_inputs, c) for c in sorted(set(channels))}


def recurrent_sweep(n_inputs: int, channels: Sequence[int], process: Process, seed: int = 0) -> RecurrentSweep:
    """The best optima found for all these numbers of channels, by one path of variable projection.

    >>> sweep = recurrent_sweep(8, [1, 2], FAMILIES["PowerLaw"]())
    >>> sweep.n_params.tolist(), sweep.exact_capacity().tolist(), bool(sweep.loss[1] < sweep.loss[0])
    ([3, 6], [2, 4], True)
    """
    models = models_by_channels(n_inputs, channels)
    model = next(iter(models.values()))
    problem = Problem.of(model, process)
    path = projection_path(model, list(models), problem.target, problem.root, np.random.default_rng(seed))
    fits = [path[c] for c in models]
    return RecurrentSweep(
        models=models,
        params={c: path[c].params for c in models},
        problem=problem,
        loss=np.array([fitted.history[-1] for fitted in fits]),
        converged=np.array([fitted.converged for fitted in fits]),
    )


def sweep_families(n_inputs: int, channels: Sequence[int], seed: int = 0) -> dict[str, RecurrentSweep]:
    """Family → sweep, for the five process families at their default parameters."""
    return {name: recurrent_sweep(n_inputs, channels, family(), seed) for name, family in FAMILIES.items()}


def closest_poles(arch: Recurrent, params: np.ndarray) -> tuple[float, np.ndarray]:
    """How far the two closest poles of a model are apart, and their weights (2,); infinite for one channel.

    >>> arch = Recurrent(8, 3)
    >>> gap, weights = closest_poles(arch, arch.assemble([0.5, 1.5, 0.501], [9.0, 1.0, -8.0]))
    >>> round(gap, 9), weights.round(9).tolist()
    (0.001, [9.0, -8.0])
    """
    order = np.argsort(arch.poles(params), kind="stable")
    poles, weights = arch.poles(params)[order], arch.weights(params)[order]
    if poles.size == 1:
        return float("inf"), weights
    least = int(np.argmin(np.diff(poles)))
    return float(poles[least + 1] - poles[least]), weights[least : least + 2]


class Stops(NamedTuple):
    """Where L-BFGS-B stops: channels (m,), losses (m, seeds), and whether they are the stored runs."""

    channels: np.ndarray
    losses: np.ndarray

    @property
    def median(self) -> np.ndarray:
        """(m,) median loss over the seeds."""
        return np.median(self.losses, axis=1)


def registered_stops(
    content: Mapping[str, Any], process: Process, n_inputs: int, channels: Sequence[int], seeds: Sequence[int]
) -> Stops:
    """The stored stopping points where they are of this process and window; otherwise L-BFGS-B runs now.

    Parameters
    ----------
    content : ``stored("recurrent_lbfgs")``. channels, seeds : of the runs made now.
    """
    settings = content["settings"]
    names = [name for name in settings["families"] if FAMILIES[name]() == process]
    is_stored = bool(names) and n_inputs == settings["n_inputs"]
    if is_stored:
        losses = content["values"][names[0]]["losses"]
    else:
        now = {"n_inputs": n_inputs, "channels": sorted(channels), "seeds": list(seeds)}
        losses = stops(process, now)["losses"]
    return Stops(np.array([int(c) for c in losses]), np.array(list(losses.values()), float))


def until_full(n_inputs: int, channels: object, loss: object) -> tuple[np.ndarray, np.ndarray]:
    """Exact κ and losses of the models up to the first with κ = n, where κ no longer tells models apart.

    >>> [array.tolist() for array in until_full(6, [1, 2, 4, 8], [0.4, 0.3, 0.2, 0.1])]
    [[2, 4, 6], [0.4, 0.3, 0.2]]
    """
    capacity = np.minimum(2 * np.asarray(channels), n_inputs)
    shown = np.append(True, capacity[:-1] < n_inputs)
    return capacity[shown], np.asarray(loss)[shown]


def mean_factor(losses: object) -> float:
    """Factor by which each step divides the loss, in the geometric mean; 1 where a loss is zero or there is no step.

    >>> round(mean_factor([1.0, 0.5, 0.01]), 9)
    10.0
    """
    values = np.asarray(losses, dtype=float)
    if values.size < 2 or not values.all():
        return 1.0
    return float((values[0] / values[-1]) ** (1 / (values.size - 1)))


def exponential_r2(x: object, y: object) -> float:
    """R² of a straight line through log y against x; 0 for fewer than three x, or a y that is not positive.

    >>> round(exponential_r2([2, 4, 6], [1e-1, 1e-3, 1e-5]), 9)
    1.0
    """
    # A power law of e^x is an exponential law of x; x is centred and scaled, which changes no R².
    values = np.asarray(x, dtype=float)
    spread = float(np.ptp(values))
    return fit_power(np.exp((values - values.min()) / spread), y).r_squared if spread else 0.0


class ProfileShape(NamedTuple):
    """A profile as a head of inputs at full capacity, and a tail.

    head : number of most recent inputs in a row with capacity at least 0.99. tail_r2 : R² of a straight line through
    log capacity against log lag beyond them (0 for fewer than three inputs). tail_rise : largest step up beyond them.
    """

    head: int
    tail_r2: float
    tail_rise: float

    @property
    def holds(self) -> bool:
        """Whether the profile is as paper 1, section 5.2.2, describes it: a head, and a falling power-law tail."""
        return self.head >= 1 and self.tail_r2 >= 0.95 and self.tail_rise <= 0.01


def profile_shape(per_input: object) -> ProfileShape:
    """The shape of a profile (n,), lag 0 first.

    >>> profile_shape([1.0, 1.0, 0.5, 0.25, 0.30]).head, round(profile_shape([1.0, 0.5, 0.3]).tail_rise, 9)
    (2, 0.0)
    """
    values = np.asarray(per_input, dtype=float)
    head = _head(values)
    rise = float(np.diff(values[head:]).max(initial=0.0))
    return ProfileShape(head, tail_law(values, values.size).r_squared, rise)


def _head(values: np.ndarray) -> int:
    """Inputs in a row with full capacity."""
    return int(np.argmin(np.append(values, 0) >= SATURATED))


def tail_law(per_input: object, end: int) -> LogLogLine:
    """The straight line through log capacity against log lag, from beyond the head (at least lag 1) up to lag end − 1.

    >>> round(tail_law([1.0, 1.0, 0.5, 1 / 3, 0.25, 0.9], 5).exponent, 9)
    -1.0
    """
    values = np.asarray(per_input, dtype=float)
    lags = np.arange(max(_head(values), 1), min(end, values.size))
    return fit_power(lags, values[lags])


def loss_r2(content: Mapping[str, Any]) -> dict[str, float]:
    """Family → R² of a straight line through the median log loss against log κ, up to the first model with κ = n.

    ``content`` is ``stored("recurrent_lbfgs")``.

    >>> losses = {"1": [1.0, 1.0], "2": [0.5, 0.5], "4": [0.25, 0.25]}
    >>> content = {"settings": {"n_inputs": 8}, "values": {"AR1": {"losses": losses}}}
    >>> round(loss_r2(content)["AR1"], 9)
    1.0
    """
    n_inputs = content["settings"]["n_inputs"]
    r_squared = {}
    for name, runs in content["values"].items():
        channels = [int(c) for c in runs["losses"]]
        medians = [float(np.median(losses)) for losses in runs["losses"].values()]
        r_squared[name] = fit_power(*until_full(n_inputs, channels, medians)).r_squared
    return r_squared


def shapes(content: Mapping[str, Any], channels: Sequence[int]) -> dict[str, dict[int, ProfileShape]]:
    """Family → channels → shape of the profile at the lowest of the stored losses.

    Raises ``KeyError`` for a number of channels whose parameters are not stored.
    """
    n_inputs = content["settings"]["n_inputs"]
    shapes: dict[str, dict[int, ProfileShape]] = {}
    for name, runs in content["values"].items():
        process, shapes[name] = FAMILIES[name](), {}
        for c in channels:
            arch = Recurrent(n_inputs, c)
            best = np.array(runs["params"][str(c)][int(np.argmin(runs["losses"][str(c)]))])
            profile = allocate_quietly(arch, best, Problem.of(arch, process)).per_input
            shapes[name][c] = profile_shape(profile)
    return shapes
