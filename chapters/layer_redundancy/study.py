"""Redundant sets of parameters told in two ways, two designs, and the stored runs (paper 1, App. D, §§ 5.1.4, 7)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.recurrent import Recurrent
from capcore.capacity.constraints import ConstraintSpace, chain
from capcore.processes import FAMILIES, PowerLaw, Process
from chapters.layer_redundancy.experiment import Refits, freeze_single_weights
from chapters.layer_redundancy.redundancy import is_redundant
from chapters.shared.survey import Case, case


class Comparison(NamedTuple):
    """Random sets of parameters, judged by the marginal capacity and by exact ranks.

    ``mismatches`` : sets on which the two disagree. ``rarer`` : size of the smaller class, redundant or not.
    """

    mismatches: int
    rarer: int


def compare_subsets(process: Process, n_subsets: int, seed: int = 0) -> Comparison:
    """Is the marginal capacity zero exactly where the rank stays? Random sets of the parameters of six models.

    The largest size that can be redundant is the number of parameters minus κ. Sizes run from three quarters of that
    to that, where both outcomes are common. Both sides are taken at the same random parameters: in floating point with
    Σ, and modulo a prime without it.

    >>> from capcore.processes import PowerLaw
    >>> compare_subsets(PowerLaw(), 10).mismatches
    0
    """
    rng = np.random.default_rng(seed)
    models: list[Any] = [
        Hierarchical(2, 4),
        Hierarchical([2, 3, 2], kernel_size=3),
        Hierarchical([2, 1, 2, 1, 2]),
        Hierarchical(1, dilations=[1, 2, 4, 1, 2, 4]),
        Hierarchical(2, dilations=[1, 1, 2, 2, 4, 4]),
        Recurrent(8, 3),
    ]
    judged = []
    for i in range(n_subsets):
        arch = models[i % len(models)]
        largest = arch.n_params - arch.generic_capacity()
        size = rng.integers(max(1, 3 * largest // 4), largest + 1)
        chosen = np.sort(rng.choice(arch.n_params, size, replace=False))
        params = arch.init(rng)
        columns = process.covariance(arch.n_inputs) @ arch.jacobian(params)
        own, rest = columns[:, chosen], np.delete(columns, chosen, axis=1)
        marginal = chain([ConstraintSpace.from_columns(rest), ConstraintSpace.from_columns(own)])[1]
        judged.append((marginal.dimension == 0, is_redundant(arch, chosen, params)))
    exact = sum(second for _, second in judged)
    return Comparison(sum(first != second for first, second in judged), min(exact, n_subsets - exact))


@dataclass(frozen=True, eq=False)
class Designs:
    """A uniform and a guided design of as many inputs; ``cases`` holds family → (uniform, guided)."""

    uniform: Hierarchical
    guided: Hierarchical
    cases: Mapping[str, tuple[Case, Case]] = field(repr=False)

    @classmethod
    def compare(cls, uniform: Hierarchical, guided: Hierarchical) -> Self:
        """Fit both for the five families at their defaults."""
        cases = {name: (case(uniform, family()), case(guided, family())) for name, family in FAMILIES.items()}
        return cls(uniform, guided, cases)

    @property
    def unharmed(self) -> int:
        """Families for which the guided loss is not above the uniform one, or both attain the target."""
        pairs = self.cases.values()
        return sum((u.attained and g.attained) or g.fit.loss <= u.fit.loss for u, g in pairs)

    def losses(self) -> dict[str, dict[str, float]]:
        """Design → family → loss at the optimum."""
        totals = self.uniform.generic_capacity(), self.guided.generic_capacity()
        labels = {f"uniform, κ = {totals[0]}": 0, f"guided, κ = {totals[1]}": 1}
        return {label: {name: pair[i].fit.loss for name, pair in self.cases.items()} for label, i in labels.items()}


def as_refits(values: Mapping[str, Any]) -> Refits:
    """Stored lists ``excess`` and ``offset`` as ``Refits``."""
    return Refits(np.array(values["excess"]), np.array(values["offset"]))


def single_weights(
    content: Mapping[str, Any], arch: Hierarchical, process: Process, n_draws: int, seed: int = 0
) -> Refits:
    """The stored draws where they are of this model and process; otherwise at most three, made now, briefly.

    ``content`` is ``stored("layer_redundancy")``.
    """
    settings = content["settings"]
    made = Hierarchical(settings["weights"]["channels"], settings["n_layers"])
    if process == PowerLaw() and arch.kernel_shapes == made.kernel_shapes and seed == settings["seed"]:
        return as_refits(content["values"]["weights"])
    return freeze_single_weights(arch, process, min(n_draws, 3), seed, 2, max_iterations=50)


def layer_groups(content: Mapping[str, Any]) -> dict[str, Refits]:
    """Label → stored draws with the layers of a redundant set frozen before training, such as "c = 3: 1, 5"."""
    return {
        f"c = {c}: layers {', '.join(name.removeprefix('layer ') for name in case['frozen'])}": as_refits(case)
        for c, cases in content["values"]["layers"].items()
        for case in cases
    }


def worst(refits: Mapping[Any, Refits]) -> float:
    """Largest excess over all sets and draws; 0 where there are none."""
    return max((float(refit.excess.max()) for refit in refits.values()), default=0.0)


def numbers(names: Iterable[str]) -> str:
    """The numbers of layers, for a table.

    >>> numbers(["layer 1", "layer 4"]), numbers([])
    ('1, 4', 'none')
    """
    return ", ".join(name.removeprefix("layer ") for name in names) or "none"
