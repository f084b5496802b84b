"""What an uncertain covariance does to a capacity curve: the same model at its optimum for many processes."""

from collections.abc import Sequence

import numpy as np

from capcore.architectures.base import Architecture
from capcore.fitting.optimum import fit
from capcore.processes import Process
from capcore.processes.problem import Problem
from chapters.shared.survey import allocate_quietly


def autocorrelations(processes: Sequence[Process], n_lags: int) -> np.ndarray:
    """(m, n_lags) autocovariances of the processes, each divided by its own at lag 0.

    >>> from capcore.processes import AR1
    >>> autocorrelations([AR1(0.5).with_nugget(1.0)], 3).tolist()
    [[1.0, 0.25, 0.125]]
    """
    found = np.array([process.autocovariance(n_lags) for process in processes])
    return found / found[:, :1]


def refitted_profiles(arch: Architecture, params: np.ndarray, processes: Sequence[Process]) -> np.ndarray:
    """(m, n_inputs) capacity per input at the optimum for each process, each fit started from ``params``."""
    profiles = []
    for process in processes:
        problem = Problem.of(arch, process)
        found = fit(arch, problem, start=params)
        profiles.append(allocate_quietly(arch, found.params, problem).per_input)
    return np.array(profiles)


def transformed(values: np.ndarray, logarithm: bool) -> np.ndarray:
    """(m,) the series or its logarithm. Raises ``ValueError`` where a value is not positive.

    >>> transformed(np.array([1.0, 1.0]), logarithm=True).tolist()
    [0.0, 0.0]
    """
    if not logarithm:
        return values
    if not np.all(values > 0):
        i = int(np.argmin(values > 0))
        raise ValueError(
            f"logarithm: found the value {values[i]:g} at index {i}, expected positive ones. Use logarithm=False."
        )
    return np.log(values)
