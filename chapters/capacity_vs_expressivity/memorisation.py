"""Capacity as memorisation: how many random labels a training procedure fits, and how well it fits a target.

Capacity in this sense belongs to a model *and* to what trains it (Zhang et al., 2017; the note). Here any function from
data to an answering function will do, so that a closed form, a solver or a network can be asked the same question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from capcore.validation import finite_array, finite_number, positive_integer
from chapters.capacity_vs_expressivity.targets import Target

Procedure = Callable[[np.ndarray, np.ndarray, np.random.Generator], Callable[[np.ndarray], np.ndarray]]
"""(inputs (n, …), labels (n,) of ±1, generator) → a function inputs (m, …) → scores (m,), whose sign is the answer."""


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


def answers(scores: object) -> np.ndarray:
    """(n,) ±1: the signs of ``scores`` (n,) or (n, 1), with −1 for zero."""
    values = finite_array(scores, "scores", (1, 2))
    return np.where(values.reshape(len(values), -1)[:, 0] > 0, 1.0, -1.0)


def memorisation_curve(
    procedure: Procedure,
    draw_inputs: Callable[[int, np.random.Generator], np.ndarray],
    sizes: Sequence[int],
    n_trials: int,
    rng: np.random.Generator,
) -> MemorisationCurve:
    """Training accuracies of a procedure on fair random labels, ``n_trials`` times for every size.

    Parameters
    ----------
    procedure : see :data:`Procedure`. draw_inputs : (n, generator) → inputs (n, …).

    >>> nearest = lambda x, y, rng: lambda new: y[np.abs(new - x.T).argmin(axis=1)]  # it knows its data by heart
    >>> inputs = lambda n, rng: rng.normal(size=(n, 1))
    >>> memorisation_curve(nearest, inputs, [4, 8], 2, np.random.default_rng(0)).memorised()
    8
    """
    counts = [positive_integer(size, "sizes") for size in sizes]
    found = np.empty((len(counts), positive_integer(n_trials, "n_trials")))
    for i, size in enumerate(counts):
        for j in range(n_trials):
            inputs, labels = draw_inputs(size, rng), rng.choice([-1.0, 1.0], size)
            found[i, j] = np.mean(answers(procedure(inputs, labels, rng)(inputs)) == labels)
    return MemorisationCurve(np.array(counts), found)


def fit_target(
    procedure: Procedure, target: Target, n_train: int, n_test: int, n_trials: int, rng: np.random.Generator
) -> TargetFit:
    """Accuracies of a procedure on a target of ``targets``, on its own and on fresh examples."""
    shares = np.empty((2, positive_integer(n_trials, "n_trials")))
    for j in range(n_trials):
        learnt, fresh = target.draw(n_train, rng), target.draw(n_test, rng)
        answer = procedure(*learnt, rng)
        shares[:, j] = [np.mean(answers(answer(x)) == y) for x, y in (learnt, fresh)]
    return TargetFit(*shares)
