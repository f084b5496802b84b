"""Student's intervals, for a mean and for a ratio."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy.stats import t as student

from capcore.checks.arguments import finite_array, finite_number


def student_interval(samples: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Mean over the first axis of samples (m, …), and the half-width of its interval, each (…).

    >>> [part.round(3).item() for part in student_interval(np.array([1.0, 2.0, 3.0]))]
    [2.0, 2.484]
    """
    spread = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    return samples.mean(axis=0), student.ppf((1 + level) / 2, len(samples) - 1) * spread


class Interval(NamedTuple):
    """A mean and the half-width of its interval."""

    mean: float
    half_width: float

    @classmethod
    def of(cls, samples: object, level: float = 0.95) -> Self:
        """That of ``samples`` (m,), at least two, by Student's t.

        >>> Interval.of([1.0, 2.0, 3.0]).half_width.__round__(3)
        2.484
        """
        values, level = finite_array(samples, "samples", 1), finite_number(level, "level")
        if not 0 < level < 1:
            raise ValueError(f"level: found {level:g}, expected a number between 0 and 1.")
        if values.size < 2:
            raise ValueError(f"samples: found {values.size}, expected at least 2: one sample has no scatter.")
        mean, half_width = student_interval(values, level)
        return cls(float(mean), float(half_width))

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half_width

    @property
    def sign(self) -> int:
        """1 or −1 for an interval above or below zero, and 0 for one that holds it."""
        return int(self.low > 0) - int(self.high < 0)


def geometric_interval(samples: object, level: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Geometric mean over the first axis of positive samples (m, …), and both ends of its interval, each (…).

    Raises ``ValueError`` for fewer than two samples, and for samples that are not positive.

    >>> [part.round(3).item() for part in geometric_interval([0.5, 1.0, 2.0])]
    [1.0, 0.179, 5.595]
    """
    values = finite_array(samples, "samples", (1, 2, 3))
    if len(values) < 2:
        raise ValueError(f"samples: found {len(values)}, expected at least 2: one sample has no scatter.")
    if np.any(values <= 0):
        raise ValueError(f"samples: found {values.min():g}, expected more than 0: only ratios have a geometric mean.")
    mean, half = student_interval(np.log(values), level)
    return np.exp(mean), np.exp(mean - half), np.exp(mean + half)
