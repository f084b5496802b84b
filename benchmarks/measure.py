"""What a benchmark row is, how its two sides are timed, and what the numbers were taken with."""

from __future__ import annotations

import os
import platform
import re
import resource
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from chapters.kit.stored import versions

T = TypeVar("T")
U = TypeVar("U")
Clock = Callable[[], float]
PACKAGES = ("numpy", "scipy", "python-flint", "sympy", "teneva", "py-pde", "nngeometry", "curvlinops-for-pytorch")


@dataclass(frozen=True)
class Row:
    """One comparison on the same work.

    ``seconds`` and ``peer_seconds`` are the best of the repetitions, None for a peer that cannot run at this size;
    ``agreement`` says what was checked to make the two sides comparable, and ``holds`` whether it held.
    """

    work: str
    peer: str
    seconds: float
    peer_seconds: float | None
    agreement: str
    holds: bool

    @property
    def ratio(self) -> float | None:
        """How many times longer the peer takes."""
        return None if self.peer_seconds is None else self.peer_seconds / self.seconds


@dataclass(frozen=True)
class Skipped:
    """A row whose peer is not installed; or that lacks something else, which ``reason`` says."""

    work: str
    package: str = ""
    install: str = "uv pip install --group benchmarks"
    reason: str = ""

    def __str__(self) -> str:
        reason = self.reason or f"Found no package {self.package}, expected it as a peer: {self.install}"
        return f"skipped: {self.work}. {reason}"


def peer(module: str) -> Any:
    """A module of a benchmark-only package; None where the package is not installed."""
    return import_module(module) if find_spec(module.partition(".")[0]) else None


def best_of(function: Callable[[], T], repeats: int = 1, clock: Clock = perf_counter) -> tuple[float, T]:
    """Shortest time of ``repeats`` calls in seconds by a clock, by default the one on the wall, and the last result."""
    times = []
    for _ in range(repeats):
        start = clock()
        result = function()
        times.append(clock() - start)
    return min(times), result


def best_of_each(
    ours: Callable[[], T], theirs: Callable[[], U], repeats: int, clock: Clock = perf_counter
) -> tuple[tuple[float, T], tuple[float, U]]:
    """:func:`best_of` for two sides that take turns, so that a busy moment of the machine meets both."""
    (first, found), (second, expected) = times_of_each(ours, theirs, repeats, clock)
    return (min(first), found), (min(second), expected)


def times_of_each(
    ours: Callable[[], T], theirs: Callable[[], U], repeats: int, clock: Clock = perf_counter
) -> tuple[tuple[list[float], T], tuple[list[float], U]]:
    """All times of two sides that take turns, in order, each with the last result."""
    first, second = [], []
    for _ in range(repeats):
        seconds, found = best_of(ours, 1, clock)
        first.append(seconds)
        seconds, expected = best_of(theirs, 1, clock)
        second.append(seconds)
    return (first, found), (second, expected)


def range_of(seconds: Sequence[float]) -> str:
    """Shortest and longest time in words.

    >>> range_of([2.0, 0.51, 1.0])
    '0.51–2 s'
    """
    return f"{min(seconds):.3g}–{max(seconds):.3g} s"


def forget_peak_memory() -> None:
    """Begin the measurement of :func:`peak_memory_gb` anew, where the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_memory_gb() -> float:
    """Largest resident set of this process in gigabytes, since :func:`forget_peak_memory` or since its start."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        found = None
    kilobytes = int(found[1]) if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes * 1024 / 1e9


def environment() -> dict[str, Any]:
    """Processor, cores, load and versions: what the numbers depend on. Nothing that names the machine."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "versions": versions(PACKAGES),
    }


def _processor() -> str:
    try:
        found = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()
