"""Student's intervals, for a mean and for a ratio."""

from typing import NamedTuple, Self

import numpy as np
from scipy.stats import t as student


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
    def of(cls, samples: object) -> Self:
        """The 95 % interval of ``samples`` (m,), at least two, by Student's t.

        >>> Interval.of([1.0, 2.0, 3.0]).half_width.__round__(3)
        2.484
        """
        mean, half_width = student_interval(np.asarray(samples, float))
        return cls(float(mean), float(half_width))

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half_width


def geometric_interval(samples: object, level: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Geometric mean over the first axis of positive samples (m, …), and both ends of its interval, each (…).

    >>> [part.round(3).item() for part in geometric_interval([0.5, 1.0, 2.0])]
    [1.0, 0.179, 5.595]
    """
    mean, half = student_interval(np.log(np.asarray(samples, float)), level)
    return np.exp(mean), np.exp(mean - half), np.exp(mean + half)
