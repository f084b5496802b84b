"""What a benchmark row is, and how its two sides are timed."""

from __future__ import annotations

import platform
import resource
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

import numpy as np
import scipy

T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """One comparison on the same work.

    ``seconds`` and ``peer_seconds`` are the best of the repetitions; ``agreement`` says what was checked to
    make the two sides comparable, and ``holds`` whether it held.
    """

    work: str
    peer: str
    seconds: float
    peer_seconds: float
    agreement: str
    holds: bool

    @property
    def ratio(self) -> float:
        """How many times longer the peer takes."""
        return self.peer_seconds / self.seconds


def best_of(function: Callable[[], T], repeats: int = 1) -> tuple[float, T]:
    """Shortest wall time of ``repeats`` calls in seconds, and the last result."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        result = function()
        times.append(perf_counter() - start)
    return min(times), result


def peak_memory_gb() -> float:
    """Largest resident set of this process so far, in gigabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def environment() -> str:
    """One line on what the numbers were taken with."""
    return (
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, {platform.machine()}"
    )
