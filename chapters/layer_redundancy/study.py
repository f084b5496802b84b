"""Redundant sets of parameters told in two ways, two designs, and the stored runs (paper 1, App. D, §§ 5.1.4, 7)."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.recurrent import Recurrent
from capcore.capacity.constraints import ConstraintSpace, chain
from capcore.processes import FAMILIES, PowerLaw, Process
from chapters.layer_redundancy.experiment import Refits, freeze_single_weights
from chapters.layer_redundancy.redundancy import is_redundant
from chapters.shared.survey import Case, case

Pairs = Mapping[str, tuple[Case, Case]]  # family → a uniform and a guided design


def compare_subsets(process: Process, n_subsets: int, seed: int = 0) -> tuple[int, int]:
    """Is the marginal capacity zero exactly where the rank stays? Random sets of the parameters of six models.

    Returns the number of sets on which the two disagree, and the size of the smaller class, redundant or not.

    The largest size that can be redundant is the number of parameters minus κ. Sizes run from three quarters of that
    to that, where both outcomes are common. Both sides are taken at the same random parameters: in floating point with
    Σ, and modulo a prime without it.

    >>> from capcore.processes import PowerLaw
    >>> compare_subsets(PowerLaw(), 10)[0]
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
    return sum(first != second for first, second in judged), min(exact, n_subsets - exact)


def compare_designs(uniform: Hierarchical, guided: Hierarchical) -> Pairs:
    """Both designs, of as many inputs, fitted for the five families at their defaults."""
    return {name: (case(uniform, family()), case(guided, family())) for name, family in FAMILIES.items()}


def unharmed(pairs: Pairs) -> int:
    """Families for which the guided loss is not above the uniform one, or both attain the target."""
    return sum((u.attained and g.attained) or g.fit.loss <= u.fit.loss for u, g in pairs.values())


def losses(pairs: Pairs) -> dict[str, dict[str, float]]:
    """Design → family → loss at the optimum."""
    totals = [one.allocation.generic_total for one in pairs["PowerLaw"]]
    labels = {f"uniform, κ = {totals[0]}": 0, f"guided, κ = {totals[1]}": 1}
    return {label: {name: pair[i].fit.loss for name, pair in pairs.items()} for label, i in labels.items()}


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
