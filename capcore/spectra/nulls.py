"""What a layer's spectrum would be without training: its weights shuffled, or replaced by Gaussian noise.

Each layer has a generator of its own, made of the seed and its name, so that the nulls of one layer do not depend on
which others are analysed, or in what order.
"""

from __future__ import annotations

import hashlib

import numpy as np

from capcore.validation import one_of, positive_integer

NULLS = ("shuffled", "gaussian")
SMALLEST, LARGEST = 1e-140, 1e140  # of the largest weight: squares and sums of them are normal numbers


def null_weights(weights: np.ndarray, null: str, *, seed: int, name: str, draw: int = 0) -> np.ndarray:
    """Weights of the same shape, double precision, without whatever training has arranged in them.

    Parameters
    ----------
    null : ``shuffled`` permutes the entries, which keeps zeros of pruning, outliers and the mean; ``gaussian`` draws
        them with mean zero and their variance.
    seed : non-negative. name : of the layer. draw : 0, 1, … for several nulls of one layer.

    Raises ``ValueError`` for ``gaussian`` where the variance of the weights is no normal number.

    >>> null_weights(np.arange(4.0), "shuffled", seed=0, name="fc").sum()
    np.float64(6.0)
    """
    one_of(null, "null", NULLS)
    if null == "gaussian" and weights.any() and not SMALLEST < float(np.abs(weights).max()) < LARGEST:
        raise ValueError(
            f"weights: found entries up to {np.abs(weights).max():.1e}, expected {SMALLEST:g} to {LARGEST:g}: their "
            "variance would leave double precision. Rescale."
        )
    rng = layer_generator(seed, name, null, draw)
    if null == "shuffled":
        return rng.permutation(weights.astype(float).ravel()).reshape(weights.shape)
    return rng.normal(scale=weights.std(dtype=float), size=weights.shape)


def layer_generator(seed: int, name: str, purpose: str = "", draw: int = 0) -> np.random.Generator:
    """A generator for one layer and one purpose, the same on every machine and whatever else is analysed.

    >>> layer_generator(0, "fc").integers(100) == layer_generator(0, "fc").integers(100)
    np.True_
    """
    seed, draw = positive_integer(seed, "seed", 0), positive_integer(draw, "draw", 0)
    digest = hashlib.sha256(f"{purpose}\0{name}".encode()).digest()
    return np.random.default_rng([seed, draw, *np.frombuffer(digest, "<u4").tolist()])
