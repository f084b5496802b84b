"""Two designs of a hierarchical model at their optima, for every process family (paper 1, sections 5.1.4 and 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from capcore.architectures.hierarchical import Hierarchical
from capcore.processes import FAMILIES, Process
from chapters.shared.survey import Case, case


@dataclass(frozen=True, eq=False)
class Designs:
    """A uniform and a guided design; ``cases`` holds family → (uniform, guided), ``task`` the pair for one process.

    >>> from capcore.processes import PowerLaw
    >>> found = Designs.compare(Hierarchical(2, 3), Hierarchical([1, 2]), PowerLaw())
    >>> found.extra_parameters
    -6
    """

    uniform: Hierarchical
    guided: Hierarchical
    task: tuple[Case, Case] = field(repr=False)
    cases: Mapping[str, tuple[Case, Case]] = field(repr=False)

    @classmethod
    def compare(cls, uniform: Hierarchical, guided: Hierarchical, process: Process) -> Designs:
        """Fit both for ``process`` and for the five families at their defaults.

        Raises ``ValueError`` when the two do not see the same number of inputs.
        """
        if uniform.n_inputs != guided.n_inputs:
            raise ValueError(f"guided: found {guided.n_inputs} inputs, expected {uniform.n_inputs} as in {uniform!r}.")
        pair = (case(uniform, process), case(guided, process))
        cases = {name: (case(uniform, family()), case(guided, family())) for name, family in FAMILIES.items()}
        return cls(uniform, guided, pair, cases)

    @property
    def extra_parameters(self) -> int:
        """Parameters of the guided design minus those of the uniform one."""
        return self.guided.n_params - self.uniform.n_params

    @property
    def loss_ratio(self) -> float:
        """Loss of the guided design over that of the uniform one for ``process``; 1 where both attain the target."""
        uniform, guided = self.task
        return 1.0 if uniform.attained and guided.attained else guided.fit.loss / uniform.fit.loss

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
