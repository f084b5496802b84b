"""How many iterations Gauss–Newton needs from random starts, by number of channels.

The tensor-train start of :func:`capcore.optimum.fit` is the optimum itself as soon as κ = n, so only random starts
can tell whether wider models are easier to optimise (paper 1, section 5.1.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from capcore.architectures import Hierarchical
from capcore.optimum import Problem, fit
from capcore.processes import Process
from capcore.validation import finite_number
from chapters.hierarchical.lbfgs_sweep import iterations_to

ROUNDING = 1e-26
"""In units of the process's variance: the square of rounding, (1e-15)², times a condition below 1e4."""


def iterations_from_random_starts(
    models: Mapping[str, Hierarchical],
    process: Process,
    seeds: Sequence[int] = tuple(range(8)),
    *,
    loss: float = ROUNDING,
    **options: Any,
) -> dict[str, np.ndarray]:
    """Label → (n_seeds,) iterations until the loss is rounding; one more than were made where it never is.

    Parameters
    ----------
    models : label → model. process : what they predict. seeds : one random start of each model per seed.
    loss : what counts as rounding, in units of the process's variance.
    options : of :func:`~capcore.optimum.fit`, such as ``rebalance`` and ``max_iterations``.

    Raises ``ValueError`` for a ``loss`` that is not a number, and what ``fit`` raises.

    >>> from capcore.processes import PowerLaw
    >>> models = {f"c = {c}": Hierarchical(c, n_layers=4) for c in (4, 16)}
    >>> narrow, wide = iterations_from_random_starts(models, PowerLaw(), range(2)).values()
    >>> bool(narrow.min() > wide.max())
    True
    """
    relative = finite_number(loss, "loss")
    found = {}
    for label, arch in models.items():
        problem = Problem.of(arch, process)
        level = relative * float(problem.covariance[0, 0])
        runs = [fit(arch, problem, start="random", rng=seed, **options) for seed in seeds]
        found[label] = np.array([iterations_to(run.history, level) for run in runs])
    return found
