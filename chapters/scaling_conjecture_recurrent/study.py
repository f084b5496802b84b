"""Growth of recurrent transitions by length, scale and structure; and the stored adding task, read."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from chapters.scaling_conjecture_recurrent import transitions as products
from chapters.shared.intervals import geometric_interval

NAMES = {
    "dense shared 0": "one dense, scale 1",
    "dense shared 0.5": "one dense, 1/√N",
    "dense shared 1": "one dense, 1/N",
    "local shared 0.5": "one local, 1/√N",
    "local shared 1": "one local, 1/N",
    "dense fresh 0.5": "fresh dense, 1/√N",
    "dense fresh 1": "fresh dense, 1/N",
    "local fresh 0.5": "fresh local, 1/√N",
    "local fresh 1": "fresh local, 1/N",
    "antisymmetric shared 0.5": "one antisymmetric, 1/√N",
    "orthogonal shared 0.5": "one orthogonal, 1/√N",
    "orthogonal shared 0": "one orthogonal, scale 1",
}
"""Label of an arm in the stored results → its name in the chapter: one matrix for all steps, or fresh ones."""


class GrowthCurve(NamedTuple):
    """Logarithm of the mean gain against the number of steps.

    Attributes
    ----------
    lengths : numbers of steps. log_gain : at each. low, high : ends of 95 per cent bootstrap intervals over the draws.
    """

    lengths: tuple[int, ...]
    log_gain: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def ratio(self, compared: Sequence[int]) -> float:
        """Mean gain at the second of two lengths over that at the first; infinite beyond floating point."""
        short, long = (self.log_gain[self.lengths.index(N)] for N in compared)
        return float(np.exp(long - short)) if long - short < 709 else float("inf")


def compared_lengths(compared: Sequence[int], lengths: Sequence[int]) -> tuple[int, int]:
    """Two of ``lengths``, the shorter first. Raises ``ValueError`` for anything else."""
    short, long = compared
    if not {short, long} <= {*lengths} or short >= long:
        raise ValueError(f"compared: found {list(compared)}, expected two of {list(lengths)}, the shorter first.")
    return short, long


def growth_curve(
    transitions: products.Transitions, lengths: Sequence[int], n: int, n_draws: int, seed: int = 0
) -> GrowthCurve:
    """Of products of transitions of n units at several lengths, each with draws of its own.

    >>> growth_curve(products.Transitions("antisymmetric", exponential=True), [4, 16], 6, 3).lengths
    (4, 16)
    """
    draws = [products.log_gains(transitions, N, n, n_draws, seed) for N in lengths]
    ends = [products.log_mean_interval(draw) for draw in draws]
    low, high = zip(*ends, strict=True)
    return GrowthCurve(tuple(lengths), tuple(map(products.log_mean, draws)), low, high)


def growth_laws(exponents: Sequence[float], lengths: Sequence[int], shared: bool) -> dict[float, list[float]]:
    """Exponent → logarithm of the mean gain by its closed form: exact for fresh matrices, else for many dense units."""
    law = products.shared_log_gain if shared else products.fresh_log_gain
    return {a: [law(N, a) for N in lengths] for a in exponents}


def signed_growth(lengths: Sequence[int], n: int, n_draws: int, seed: int) -> float:
    """Mean gain at the second of two lengths over that at the first: one matrix, random signs at all steps.

    The transition is S_t (1 + A/√N) with the same dense A at every step and independent diagonal signs S_t, the
    pseudo-random case of paper 2, Eq. 2. A has no diagonal: only weights *between* units depart from 1 by the order of
    1/√N, as the paper has it. Over the signs the mean of ‖P‖²_F/n is exactly the sum over (W∘W)^N, over n.

    >>> round(signed_growth((64, 1024), 16, 10, 0), 1)
    1.0
    """
    means = []
    for N in lengths:
        rng, total = np.random.default_rng(seed), 0.0
        for _ in range(n_draws):
            A = products.random_matrix("dense", n, rng)
            np.fill_diagonal(A, 0)
            W = np.eye(n) + A / np.sqrt(N)
            total += np.linalg.matrix_power(W * W, N).sum() / n
        means.append(total)
    return float(means[1] / means[0])


def relative_losses(content: Mapping[str, Any], label: str, n_steps: int) -> np.ndarray:
    """(seeds,) final losses of an arm at its best learning rate, over the loss of always answering one.

    ``content`` is ``stored("recurrent_memory")``. Infinite for runs that diverged.

    >>> arm = {"final": [[0.5, None], [0.25, 0.1]], "best": 1}
    >>> relative_losses({"values": {"baseline": 0.5, "arms": {"8": {"x": arm}}}}, "x", 8).tolist()
    [0.5, 0.2]
    """
    values = content["values"]
    arm = values["arms"][str(n_steps)][label]
    final = [np.inf if loss is None else loss for loss in arm["final"][arm["best"]]]
    return np.array(final) / values["baseline"]


def median_loss(content: Mapping[str, Any], label: str, n_steps: int) -> float:
    """Median over the seeds of :func:`relative_losses`."""
    return float(np.median(relative_losses(content, label, n_steps)))


def all_losses(content: Mapping[str, Any], n_steps: int) -> dict[str, list[float]]:
    """Name of the arm → :func:`relative_losses`, in the order of :data:`NAMES`."""
    return {name: relative_losses(content, label, n_steps).tolist() for label, name in NAMES.items()}


def interval(losses: Sequence[float]) -> tuple[float, float]:
    """95 per cent t-interval of the mean logarithm over the seeds, as losses; everything if a run diverged.

    >>> [round(end, 3) for end in interval([0.1, 0.1, 0.1])]
    [0.1, 0.1]
    """
    if not np.isfinite(losses).all():
        return 0.0, np.inf
    _, low, high = geometric_interval(losses)
    return float(low), float(high)
