"""Student's interval for a mean over seeds or draws, the one that all chapters on random networks show."""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student


def student_interval(samples: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Mean over the first axis of samples (m, …), and the half-width of its interval, each (…).

    >>> [part.round(3).item() for part in student_interval(np.array([1.0, 2.0, 3.0]))]
    [2.0, 2.484]
    """
    spread = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    return samples.mean(axis=0), student.ppf((1 + level) / 2, len(samples) - 1) * spread
