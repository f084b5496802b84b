"""Basin hopping: a search among the many local optima of stacks whose dilations overlap.

Where supports are disjoint, nearly every start ends at one optimum. Where they overlap, a coefficient is a sum over
several paths through the layers, as in a product of polynomials, and random starts end at optima whose losses differ a
thousandfold. These are true optima: the gradient vanishes and no curvature is negative, so no better descent would
leave them, only another start. Fresh starts throw away what was found, so each hop disturbs the best optimum so far,
descends from there by Gauss–Newton with bent steps, and keeps the lower of the two.

Sources: Wales & Doye (1997); Leary (2000) for hops that never go up.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from capcore.architectures.balance import balance
from capcore.architectures.base import Architecture
from capcore.architectures.hierarchical import Hierarchical, flattened
from capcore.checks.arguments import positive_integer
from capcore.fitting.gauss_newton import EPS, Minimum, minimise_gauss_newton
from capcore.processes.problem import Problem

HOPS = 20
HOP_STEPS = 60  # of a hop's descent: by then it has shown whether it leads anywhere
ROUGH = 1e-6  # share of the loss that may be left to gain when basins are compared
NEAR_IDENTITY = 0.3  # size of the random part of the first start
PATIENCE = 6  # hops in a row that fall back to the same optimum: then it is the only one around
SAME = 1e-3  # relative difference of two losses, both descended roughly, that count as one optimum's
SWEEPS = 3  # of balancing: more would take as long as the steps in between, and help them no further


def minimise_by_hopping(
    arch: Architecture,
    problem: Problem,
    params: np.ndarray,
    rng: np.random.Generator,
    rebalance: bool = True,
    callback: Callable[[float], None] | None = None,
    n_hops: int = HOPS,
    max_iterations: int = 1000,
) -> Minimum:
    """The lowest of ``n_hops`` + 1 basins, descended to its bottom. ``history`` is the lowest loss so far.

    Hops end early where the loss no longer shows in the variance v* + loss, as nothing is left to find, and after six
    in a row that fell back to the same optimum. Whether it converged is decided by the last descent alone, as for
    :func:`~capcore.fitting.gauss_newton.minimise_gauss_newton`.

    Parameters
    ----------
    arch : Architecture
    problem : Problem
    params : (n_params,) array
        The start.
    rng : numpy.random.Generator
        For the disturbances.
    n_hops : int
        Disturbances tried.
    max_iterations : int
        Steps of each descent; those of a hop stop after 60.
    rebalance : bool
        Whether the descents rescale the layers now and then.
    callback : callable, optional
        Called with the loss after every step.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import PowerLaw
    >>> arch, rng = Hierarchical(2, dilations=[1, 2, 1, 2]), np.random.default_rng(0)
    >>> problem, start = Problem.of(arch, PowerLaw()), arch.init(rng)
    >>> plain, hopped = (minimise_by_hopping(arch, problem, start, rng, n_hops=n).history[-1] for n in (0, 9))
    >>> bool(hopped <= plain)
    True
    """
    even = partial(_balanced, arch) if rebalance and isinstance(arch, Hierarchical) else None

    descend = partial(
        minimise_gauss_newton, arch, problem.target, problem.root, acceleration=True, rebalance=even, callback=callback
    )
    few = min(HOP_STEPS, max_iterations)
    n_hops = positive_integer(n_hops, "n_hops", 0)
    best = descend(params, min(2 * HOP_STEPS, max_iterations), ROUGH)
    history, returns = [*best.history], 0
    for _ in range(n_hops):
        if best.history[-1] <= EPS * problem.variance or returns == PATIENCE:
            break
        begin = best.params if even is None else even(best.params)
        trial = descend(disturbed(arch, begin, rng), few, ROUGH)
        history += trial.history[1:]
        returns = returns + 1 if abs(trial.history[-1] - best.history[-1]) <= SAME * best.history[-1] else 0
        if trial.history[-1] < best.history[-1]:
            best = trial
    end = descend(best.params, max_iterations)
    losses = np.minimum.accumulate([*history, *end.history[1:-1]]).tolist()
    return end._replace(history=[*losses, end.history[-1]])


def _balanced(arch: Hierarchical, params: np.ndarray) -> np.ndarray:
    """Better-conditioned parameters with the same coefficients."""
    return flattened(balance(arch.kernels(params), SWEEPS))


def disturbed(arch: Architecture, params: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n_params,) parameters, each changed by a normal number of the size (root mean square) of its layer.

    Smaller changes fall back more often; changes as large keep enough of what was found to be better than a new start.

    >>> from capcore.architectures import Hierarchical
    >>> moved = disturbed(Hierarchical(1, 2), np.array([1.0, 1.0, 0.0, 0.0]), np.random.default_rng(0))
    >>> (moved != [1, 1, 0, 0]).tolist()
    [True, True, False, False]
    """
    moved = params + 0.0
    for part in arch.layers.values():
        size = float(np.sqrt(np.mean(np.square(params[part]))))
        moved[part] += size * rng.normal(size=moved[part].size)
    return moved


def start_near_identity(arch: Any, rng: np.random.Generator) -> np.ndarray:
    """(n_params,) kernels of a stack that pass their input on, plus noise.

    Products of many random layers nearly vanish, and a descent from there first has to cross a plateau.

    Parameters
    ----------
    arch : Hierarchical
        The stack.
    rng : numpy.random.Generator
        For the noise.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> start_near_identity(Hierarchical(1, 2), np.random.default_rng(0)).round(1).tolist()
    [1.0, -0.0, 1.2, 0.0]
    """
    kernels = [NEAR_IDENTITY * rng.normal(size=shape) for shape in arch.kernel_shapes]
    for kernel in kernels:
        kernel[:, 0] += np.eye(len(kernel), kernel.shape[2])
    return flattened(kernels)
