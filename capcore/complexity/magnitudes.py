"""Weights so large or so small that products of them are no numbers any more: found before anything is computed.

A network's function, and what is counted of it, hangs on products of weights through the layers. Where these leave
double precision a sign, a rank or a number of regions is silently another. So the sizes of such products are estimated
first, in logarithms, and a network is refused whose products come near the ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

LIMIT = 100.0
"""Largest decimal exponent of a product that is accepted: its square, times 1e±100 for sums, is a number."""


def out_of_range(network: Any, inputs: object = 1.0) -> str:
    """Why products through a network at inputs of that size are not trusted; empty if they are.

    A layer multiplies by about √(Σ w²/fan_out), the root mean square of a unit's output for independent inputs of
    variance one. Looked at are the activations that this leads to, with their biases, and the derivatives of
    the logits by the activations and by the weights of every layer. Layers of zeros are passed over: products with
    them are zero, and right.

    Parameters
    ----------
    inputs : of any shape; their largest absolute value counts.

    >>> from capcore.complexity import Network
    >>> net = Network([[[1e-60]], [[1e-60]]], [[0.0], [0.0]])
    >>> out_of_range(net)[:46], out_of_range(Network([[[1e30]], [[1e-30]]], [[0.0], [0.0]]))
    ('network: found products of weights near 1e-120', '')
    """
    gains = [_gain(w) for w in network.weights]
    saturates = network.activation not in ("relu", "leaky_relu", "identity")
    reads, sums = [_log(inputs)], []  # of what every layer reads, and of its pre-activations
    for gain, bias in zip(gains, network.biases, strict=True):
        sums.append(max(reads[-1] + gain, _log(bias)))
        reads.append(min(sums[-1], 0.0) if saturates else sums[-1])
    slopes = [0.0]  # of the logits, by what every layer puts out, from the top down
    for gain in gains[::-1]:
        slopes.append(slopes[-1] + gain)
    by_weights = [read + slope for read, slope in zip(reads[:-1], slopes[-2::-1], strict=True)]
    found = [each for each in (*reads[:1], *sums, *slopes, *by_weights) if np.isfinite(each)]
    worst = max(found, key=abs, default=0.0)
    if abs(worst) <= LIMIT:
        return ""
    return (
        f"network: found products of weights near 1e{worst:+.0f}, expected 1e-{LIMIT:.0f} to 1e{LIMIT:.0f}, so that "
        "they are numbers. Rescale: without a saturating activation, a layer's weights and its bias and all biases "
        "above it, divided by one number, give the same regions and ranks."
    )


def any_out_of_range(networks: Sequence[Any], inputs: object = 1.0) -> str:
    """:func:`out_of_range` of the first network for which there is a reason.

    >>> any_out_of_range([])
    ''
    """
    return next((reason for reason in (out_of_range(net, inputs) for net in networks) if reason), "")


def _log(values: object) -> float:
    """Decimal exponent of the largest absolute value; −∞ where all are zero."""
    array = np.asarray(values, float)
    largest = max(float(array.max(initial=0.0)), -float(array.min(initial=0.0)))
    return float(np.log10(largest)) if largest else -np.inf


def _gain(weights: np.ndarray) -> float:
    """Decimal exponent of √(Σ w²/fan_out); −∞ for a layer of zeros."""
    total = float(np.vdot(weights, weights))
    if 1e-290 < total < 1e290:
        return 0.5 * float(np.log10(total / weights.shape[1]))
    largest = float(np.abs(weights).max())
    return float(np.log10(largest)) + _gain(weights / largest) if largest else -np.inf
