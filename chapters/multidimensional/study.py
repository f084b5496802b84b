"""Models of d components per position at their optimum: from the stored experiment where it has them, else made now.

Does capacity depend on channels and dimension through c²/d alone (paper 1, section 6.1, Figure 13)?
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import InitVar, dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from capcore import Hierarchical, Independent
from chapters.multidimensional.experiment import RANGES, spread_components, summarise
from chapters.shared.profiles import recent, roughness, share


class Run(NamedTuple):
    """One model: its size, its capacities per position, and how well it was fitted.

    Attributes
    ----------
    arch : the model. per_input, random_per_input : (n_inputs,) at the optimum, and at random parameters.
    total, generic_total : κ, numerical and exact. loss, variance : excess variance, and v*.
    converged : the fit. is_stored : whether it was read rather than made now.
    """

    arch: Hierarchical
    per_input: np.ndarray
    random_per_input: np.ndarray
    total: int
    generic_total: int
    loss: float
    variance: float
    converged: bool
    is_stored: bool

    @property
    def normalised(self) -> np.ndarray:
        """(n_inputs,) κ_i/d, at most 1."""
        return self.per_input / self.arch.input_dim

    @property
    def recent(self) -> float:
        """Capacity of the most recent eighth of the positions: lags 0–7 of 64."""
        return float(self.per_input[recent(self.arch.n_inputs)].sum())

    @property
    def recent_share(self) -> float:
        """The share of κ on them."""
        return float(share(self.per_input, recent(self.arch.n_inputs)))


@dataclass
class Runs:
    """The models of one family of processes, by number of components and of channels.

    Parameters
    ----------
    family : whose parameter is spread over the components. n_layers, kernel_size : of all models.
    low, high : the range of the parameter, by default that of ``RANGES``.
    content : a stored experiment to take models from where it has them, or None.

    >>> Runs("PowerLaw", n_layers=3).at(2, 1).total
    6
    """

    family: str
    n_layers: int = 6
    kernel_size: int = 2
    low: float | None = None
    high: float | None = None
    seed: int = 0
    content: InitVar[dict[str, Any] | None] = None

    def __post_init__(self, content: dict[str, Any] | None) -> None:
        least, most = RANGES[self.family][1:]
        self.low, self.high = least if self.low is None else self.low, most if self.high is None else self.high
        known, shape = content["settings"] if content else {}, ("n_layers", "kernel_size", "seed")
        same = content and known["ranges"][self.family][1:] == [self.low, self.high]
        same = same and all(known[name] == getattr(self, name) for name in shape)
        self._stored = content["values"]["optima"].get(self.family, {}) if content and same else {}
        self._made: dict[tuple[int, int], Run] = {}

    def model(self, input_dim: int, channels: int) -> Hierarchical:
        """The model with so many components and channels."""
        return Hierarchical(channels, self.n_layers, self.kernel_size, input_dim=input_dim)

    def process(self, input_dim: int) -> Independent:
        """The process of so many components."""
        return Independent(spread_components(self.family, input_dim, self.low, self.high))

    def at(self, input_dim: int, channels: int) -> Run:
        """The model at its optimum, stored or made when first asked for."""
        key = (input_dim, channels)
        if key not in self._made:
            arch = self.model(*key)
            stored = self._stored.get(str(input_dim), {}).get(str(channels))
            summary = stored or summarise(arch, self.process(input_dim), seed=self.seed)
            values = {name: summary[name] for name in Run._fields if name in summary}
            for name in ("per_input", "random_per_input"):
                values[name] = np.array(summary[name])
            self._made[key] = Run(arch=arch, is_stored=stored is not None, **values)
        return self._made[key]

    def over(self, input_dim: int, channels: Iterable[int]) -> list[Run]:
        """:meth:`at` for each number of channels."""
        return [self.at(input_dim, c) for c in channels]

    def of_equal_size(self, run: Run) -> Run:
        """The model with one component whose number of parameters is nearest to that of ``run``."""
        return self.at(1, _nearest(lambda c: self.model(1, c).n_params, run.arch.n_params))

    def of_proportional_size(self, run: Run, input_dim: int) -> Run:
        """The model with ``input_dim`` components whose number of parameters per component is nearest to ``run``'s."""
        goal = run.arch.n_params / run.arch.input_dim
        return self.at(input_dim, _nearest(lambda c: self.model(input_dim, c).n_params / input_dim, goal))

    def of_equal_capacity(self, run: Run, input_dim: int) -> Run:
        """The model with ``input_dim`` components whose exact κ/d is nearest to that of ``run``."""
        goal = run.generic_total / run.arch.input_dim
        return self.at(input_dim, _nearest(lambda c: self.model(input_dim, c).generic_capacity() / input_dim, goal))

    def pairs_of_equal_size(self, input_dim: int, channels: Iterable[int]) -> list[tuple[Run, Run]]:
        """For each number of channels the model with ``input_dim`` components, and that of one nearest in size."""
        return [(run, self.of_equal_size(run)) for run in self.over(input_dim, channels)]


def _nearest(rising: Callable[[int], float], goal: float) -> int:
    """The number from 1 on at which a function that rises is nearest to ``goal``."""
    wider = 1
    while rising(wider) < goal:
        wider += 1
    return min(range(max(wider - 1, 1), wider + 1), key=lambda c: abs(rising(c) - goal))


def stalled_fits(content: dict[str, Any]) -> list[str]:
    """The models of a stored experiment whose fit did not converge, in words."""
    return [
        f"{family}, d = {d}, c = {c}"
        for family, dims in content["values"]["optima"].items()
        for d, cases in dims.items()
        for c, summary in cases.items()
        if not summary["converged"]
    ]


def restart_gap(content: dict[str, Any]) -> float:
    """Largest difference in the capacity of a position between the default fit and one from random parameters."""
    return max(summary["gap"] for cases in content["values"]["random_starts"].values() for summary in cases.values())


def scaled_channels(base: float, input_dim: int) -> int:
    """c = c₀√d, rounded to a whole number, at least 1.

    >>> scaled_channels(2, 16), scaled_channels(1, 2)
    (8, 1)
    """
    return max(1, round(base * input_dim**0.5))


def scaled_runs(runs: Runs, base: int, dims: Iterable[int]) -> list[Run]:
    """The models with c = c₀√d channels, one for each d."""
    return [runs.at(d, scaled_channels(base, d)) for d in dims]


def mean_difference(group: Sequence[Run]) -> float:
    """Largest, over pairs of models, mean over positions of the absolute difference of κ_i/d; 0 for one model."""
    pairs = combinations(group, 2)
    return max((float(np.abs(a.normalised - b.normalised).mean()) for a, b in pairs), default=0.0)


def fixed_over_scaled(runs: Runs, base: int, few: int, many: int) -> float:
    """The :func:`mean_difference` between ``few`` and ``many`` components at the same channels, over that with c₀√d.

    1 where neither differs by more than rounding: then all positions are at their ceilings.
    """
    first = runs.at(few, scaled_channels(base, few))
    fixed = mean_difference([first, runs.at(many, first.arch.channels[0])]) if first.arch.channels else 0.0
    scaled = mean_difference([first, runs.at(many, scaled_channels(base, many))])
    return fixed / scaled if max(fixed, scaled) > 1e-9 else 1.0


def gets_smoother(group: Sequence[Run]) -> bool:
    """Whether the roughness of the profile falls from each model to the next."""
    return bool(np.all(np.diff([roughness(run.normalised) for run in group]) < 0))


def exact_densities(base: int, dims: Iterable[int], n_layers: int, kernel_size: int) -> np.ndarray:
    """(len(dims),) exact κ/(nd) with c = c₀√d channels: the mean of κ_i/d over positions, by closed form.

    >>> exact_densities(1, [1, 1024], 6, 2).tolist()
    [0.109375, 1.0]
    """
    models = [Hierarchical(scaled_channels(base, d), n_layers, kernel_size, input_dim=d) for d in dims]
    return np.array([arch.generic_capacity() / (arch.n_inputs * arch.input_dim) for arch in models])
