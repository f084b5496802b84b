"""Redundant sets of parameters: two ways to tell them, a layer made up for by algebra, two designs, the stored runs.

Paper 1, Appendix D, and sections 5.1.4 and 7. Six layers of two taps and five channels, with layers 1, 2, 4 and 6
frozen (Conjecture 1): runs from random starts end far above the optimum, and yet the optimum can be written down. Let A
(8 × 8) be the coefficients, the lags of layers 1–3 by those of layers 4–6. At the optimum A has rank 5, A = PS, and
every S with the same row space will do. What is above layer 3 is S = [W₄⁰X, W₄¹X], where W₄ᵗ is the frozen layer 4 at
tap t, and X (5 × 4), what is above layer 4, is free: layer 6 has full rank and layer 5 does the rest. That S has the
wanted row space are 15 linear equations in the 20 entries of X.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import lstsq, null_space, svd

from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.recurrent import Recurrent
from capcore.constraints import ConstraintSpace, chain
from capcore.optimum import FitResult, Problem
from capcore.processes import FAMILIES, PowerLaw, Process
from capcore.redundancy import is_redundant
from capcore.validation import positive_integer
from chapters.layer_redundancy.experiment import Refits, freeze_single_weights
from chapters.shared.survey import Case, case


@dataclass(frozen=True)
class Comparison:
    """Random sets of parameters, judged twice: ``floating`` by the marginal capacity, ``exact`` by ranks; each (k,)."""

    floating: np.ndarray
    exact: np.ndarray

    @property
    def mismatches(self) -> int:
        """Number of sets on which the two disagree."""
        return int(np.count_nonzero(self.floating != self.exact))

    @property
    def rarer(self) -> int:
        """Size of the smaller of the two classes, redundant and not."""
        return int(min(self.exact.sum(), (~self.exact).sum()))


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
    floating, exact = [], []
    for i in range(positive_integer(n_subsets, "n_subsets")):
        arch = models[i % len(models)]
        largest = arch.n_params - arch.generic_capacity()
        size = rng.integers(max(1, 3 * largest // 4), largest + 1)
        chosen = np.sort(rng.choice(arch.n_params, size, replace=False))
        params = arch.init(rng)
        columns = process.covariance(arch.n_inputs) @ arch.jacobian(params)
        own, rest = columns[:, chosen], np.delete(columns, chosen, axis=1)
        marginal = chain([ConstraintSpace.from_columns(rest), ConstraintSpace.from_columns(own)])[1]
        floating.append(marginal.dimension == 0)
        exact.append(is_redundant(arch, chosen, params))
    return Comparison(np.array(floating), np.array(exact))


RANK = 5


def recover(coefficients: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n_params,) parameters of ``Hierarchical(5, 6)`` with these coefficients; layers 1, 2, 4 and 6 are kept.

    Parameters
    ----------
    coefficients : (64,) of such a model. values : (n_params,) parameters, of which only the frozen layers' are used.
    rng : chooses one of the solutions, which form a space of dimension 5.

    >>> rng, arch = np.random.default_rng(0), Hierarchical(5, 6)
    >>> target, values = arch.coefficients(arch.init(rng)), arch.init(rng)
    >>> bool(np.allclose(arch.coefficients(recover(target, values, rng)), target))
    True
    """
    arch = Hierarchical(RANK, 6)
    kernels = arch.kernels(values)
    table = coefficients.reshape(8, 8).T  # lag = (lag of layers 1–3) + 8 (lag of layers 4–6)
    rows = svd(table)[2]
    outside = rows[RANK:].T  # (8, 3): the directions that S must not have
    # upper lag = tap of layer 4 + 2 (lag of layers 5–6): the rows of `outside` by that tap
    equations = sum(np.kron(kernels[3][:, tap], outside[tap::2].T) for tap in range(2))
    solutions = null_space(equations)
    above = (solutions @ rng.normal(size=solutions.shape[1])).reshape(RANK, 4)
    top = kernels[5][:, :, 0]  # (5, 2)
    # above[:, tap + 2u] = W₅(tap) · top[:, u]
    kernels[4] = np.stack([lstsq(top.T, above[:, tap::2].T)[0].T for tap in range(2)], axis=1)
    upper = np.empty((RANK, 8))
    for tap in range(2):
        upper[:, tap::2] = kernels[3][:, tap] @ above
    lower = lstsq(upper.T, table.T)[0].T  # (8, 5)
    below = (kernels[0][0] @ kernels[1].transpose(1, 0, 2)).reshape(
        4, RANK
    )  # lag = tap of layer 1 + 2 (tap of layer 2)
    kernels[2] = np.stack([lstsq(below, lower[4 * tap : 4 * tap + 4])[0] for tap in range(2)], axis=1)
    return np.concatenate([kernel.reshape(-1) for kernel in kernels])


def recovered_excesses(problem: Problem, optimum: FitResult, n_draws: int, seed: int = 0) -> np.ndarray:
    """(n_draws,) loss / loss at the optimum − 1 of the models recovered from random frozen values.

    The values are those of ``freeze_layers`` with the same seed.
    """
    arch = Hierarchical(RANK, 6)
    found = []
    for i in range(positive_integer(n_draws, "n_draws")):
        rng = np.random.default_rng([seed, i])
        params = recover(optimum.coefficients, arch.init(rng), rng)
        found.append(problem.loss(arch.coefficients(params)) / optimum.loss - 1)
    return np.array(found)


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
    return max((float(each.excess.max()) for each in refits.values()), default=0.0)
