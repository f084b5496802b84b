"""What a student is told by its teacher, and differences between students of several kinds."""

import numpy as np

from chapters.shared.complexity.network import Network
from chapters.shared.intervals import Interval


class Difference(Interval):
    """Mean of a paired difference of shares, and the half-width of Student's interval; written in percentage points.

    >>> print(Difference.of([0.01, 0.02, 0.03]))
    +2.0 (−0.5 to +4.5)
    """

    def __str__(self) -> str:
        """In percentage points, "+0.2 (−0.4 to +0.8)"."""
        return f"{100 * self.mean:+.1f} ({100 * self.low:+.1f} to {100 * self.high:+.1f})".replace("-", "−")


def answers(network: Network, x: np.ndarray) -> np.ndarray:
    """(n,) the output with the largest logit, at inputs (n, d).

    >>> answers(Network([[[1.0, -1.0]]], [[0.0, 0.0]]), [[2.0], [-3.0]]).tolist()
    [0, 1]
    """
    return network(x).argmax(axis=1)


def scaled_logits(teacher: Network, x: np.ndarray) -> np.ndarray:
    """(n, n_outputs) logits as a student is regressed on: centred at every point, and of variance 1 over all of them.

    What is taken off, the mean over the outputs, changes no answer and no softmax probability; the one scale changes no
    answer.

    Raises ``ValueError`` for a teacher that says the same of every output, at every point.

    >>> scaled_logits(Network([[[1.0, 3.0]]], [[0.0, 0.0]]), [[1.0], [-1.0]]).tolist()
    [[-1.0, 1.0], [1.0, -1.0]]
    """
    logits = teacher(x)
    centred = logits - logits.mean(axis=1, keepdims=True)
    if centred.std() <= 1e-12 * np.abs(logits).max():
        raise ValueError(
            "teacher: found the same logit for all outputs at all points, expected a teacher that tells some apart: "
            "there is nothing to mimic."
        )
    return centred / centred.std()
