"""Paper 1, §5.2: optima of recurrent models, with all weights but the recurrent ones eliminated."""

from functools import cache

import numpy as np
from scipy.linalg import cholesky, toeplitz
from scipy.optimize import least_squares

from tests.second_hand.optimum import autocovariance, predictor

Array = np.ndarray


@cache
def losses() -> Array:
    """Lowest losses found of Eq. 21 with 1, 2, …, 8 channels on 64 inputs, power law.

    For given recurrent weights the rest is a linear projection; what is left is minimised over them, from the optimum
    with one channel less and a random weight beside it.
    """
    root, rng = cholesky(toeplitz(autocovariance("power law", 63))), np.random.default_rng(0)
    aim, weights = root @ predictor("power law", 64), np.zeros(0)
    found: list[float] = []

    def left(weights: Array) -> Array:
        powers = root @ weights ** np.arange(64.0)[:, None]
        basis = np.linalg.qr(powers / np.linalg.norm(powers, axis=0))[0]
        return aim - basis @ (basis.T @ aim)

    for _ in range(8):
        starts = [np.append(weights, more) for more in rng.uniform(0, 1, 16)]
        runs = [least_squares(left, start, x_scale="jac", xtol=1e-14, ftol=1e-14, gtol=1e-14) for start in starts]
        best = min(runs, key=lambda run: run.cost)
        weights = best.x
        found.append(2 * best.cost)
    return np.array(found)


def power_law() -> float:
    """§5.2.2: share of the variance of the losses' logarithms that a straight line over that of κ = 2c explains."""
    return float(np.corrcoef(np.log(np.arange(1, 9)), np.log(losses()))[0, 1] ** 2)


def exponential() -> float:
    """§5.2.2: what a straight line over κ itself explains beyond it."""
    return float(np.corrcoef(np.arange(1, 9), np.log(losses()))[0, 1] ** 2) - power_law()
