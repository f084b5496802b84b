"""Capacity as memorisation: how many random labels a training procedure fits, and how well it fits a target.

Capacity in this sense belongs to a model *and* to what trains it (Zhang et al., 2017; the note).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capcore.validation import finite_array, finite_number


@dataclass(frozen=True, eq=False)
class MemorisationCurve:
    """Training accuracies on random labels.

    Attributes
    ----------
    sizes : (k,) numbers of labels, ascending. accuracies : (k, trials).
    """

    sizes: np.ndarray
    accuracies: np.ndarray

    def __post_init__(self) -> None:
        sizes, accuracies = finite_array(self.sizes, "sizes", 1), finite_array(self.accuracies, "accuracies", 2)
        if len(sizes) != len(accuracies) or np.any(np.diff(sizes) <= 0):
            raise ValueError(
                f"sizes: found {sizes.tolist()} for {len(accuracies)} rows of accuracies, expected one each, ascending."
            )
        if accuracies.min() < 0 or accuracies.max() > 1:
            raise ValueError(
                f"accuracies: found {accuracies.min():g} to {accuracies.max():g}, expected shares in [0, 1]."
            )
        object.__setattr__(self, "sizes", sizes.astype(int))
        object.__setattr__(self, "accuracies", accuracies)

    @property
    def medians(self) -> np.ndarray:
        """(k,) median accuracy over the trials."""
        return np.median(self.accuracies, axis=1)

    def memorised(self, threshold: float = 0.99) -> int:
        """The largest size up to which every median is at least ``threshold``; 0 if the first is below.

        >>> MemorisationCurve([8, 16, 32], [[1.0], [1.0], [0.8]]).memorised()
        16
        """
        share = finite_number(threshold, "threshold")
        if not 0 < share <= 1:
            raise ValueError(f"threshold: found {threshold!r}, expected a share above 0 and at most 1.")
        below = np.flatnonzero(self.medians < share)
        count = int(below[0]) if below.size else len(self.sizes)
        return int(self.sizes[count - 1]) if count else 0

    @property
    def at_edge(self) -> bool:
        """Whether all sizes are memorised, so that the capacity may be larger than any of them."""
        return self.memorised() == self.sizes[-1]

    @property
    def monotone(self) -> bool:
        """Whether the medians never rise: where they do, more labels were luckier, and the capacity is blurred."""
        return bool(np.all(np.diff(self.medians) <= 0))


@dataclass(frozen=True, eq=False)
class TargetFit:
    """How well a target was learnt: accuracies (trials,) on the examples it was learnt from, and on fresh ones."""

    train: np.ndarray
    test: np.ndarray
