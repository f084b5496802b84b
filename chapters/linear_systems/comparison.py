"""Trained models side by side: several models of one process (paper 1, Figure 1), or one model of several."""

from __future__ import annotations

from collections.abc import Mapping

from capcore.allocation import CapacityAllocation, allocate
from capcore.architectures.base import Architecture
from capcore.optimum import Problem, fit
from capcore.processes import Process


def allocate_all(models: Mapping[str, Architecture], process: Process | Problem) -> dict[str, CapacityAllocation]:
    """Label → capacity allocation of each model at its own optimum for the same process.

    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import PowerLaw
    >>> models = {"a": Hierarchical(1, kernel_size=[5, 2]), "b": Hierarchical(1, kernel_size=[2, 5])}
    >>> [alloc.total for alloc in allocate_all(models, PowerLaw()).values()]
    [6, 6]
    """
    return {label: allocate(arch, fit(arch, process).params, process) for label, arch in models.items()}


def allocate_by_process(arch: Architecture, tasks: Mapping[str, Process]) -> dict[str, CapacityAllocation]:
    """Label → capacity allocation of one model at its optimum for each process."""
    return {label: allocate(arch, fit(arch, process).params, process) for label, process in tasks.items()}
