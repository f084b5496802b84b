"""What models that are stopped early miss of an event: by Adam, and in which order of lags."""

from collections.abc import Mapping, Sequence

import numpy as np

from capcore import Architecture
from capcore.processes import Process
from chapters.shared.adam import Adam
from chapters.shared.rank_statistics import spearman


def missed_with_adam(
    stack: Architecture, process: Process, lag: int, steps: Sequence[int], n_starts: int = 4, size: float = 0.1
) -> np.ndarray:
    """(len(steps),) share that a model misses of an event in the target after so many steps of Adam at rate 0.01.

    The event is there from the start. Its share is the loss above that of the same start without it, over the event's
    own error: the mean over both signs, and the median over starts.
    """
    covariance, (target, least) = process.covariance(stack.n_inputs), process.predictor(stack.n_inputs)
    event = np.sqrt(size * least / covariance[0, 0]) * np.eye(stack.n_inputs)[lag]
    goals = np.tile([target, target + event, target - event], (n_starts, 1))
    params = np.repeat([stack.init(np.random.default_rng(start)) for start in range(n_starts)], 3, axis=0)
    adam, losses = Adam([params], np.full(len(params), 0.01)), []
    for _ in range(max(steps) + 1):
        errors = np.array([stack.coefficients(each) for each in params]) - goals
        signals = errors @ covariance
        losses.append(np.sum(errors * signals, axis=1).reshape(n_starts, 3))
        adam.step([np.array([2 * signal @ stack.jacobian(each) for each, signal in zip(params, signals, strict=True)])])
    return np.median(np.array(losses)[[*steps]] @ [-1, 0.5, 0.5], axis=-1) / (size * least)


def rank_of_missed(at_optimum: np.ndarray, missed: Mapping[int, float]) -> tuple[float, float]:
    """Rank correlations, over lags, of the missed share at the optimum and of the lag with what is missed there.

    >>> np.round(rank_of_missed(np.array([0.1, 0.8, 0.5]), {0: 0.0, 1: 1.0, 2: 0.4}), 9).tolist()
    [1.0, 0.5]
    """
    lags, shares = [*missed], [*missed.values()]
    return spearman(at_optimum[lags], shares), spearman(lags, shares)
