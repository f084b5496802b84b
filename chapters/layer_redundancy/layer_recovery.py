"""A frozen layer between free ones, made up for by linear algebra (paper 1, Appendix D, Conjecture 1).

Six layers of two taps and five channels, with layers 1, 2, 4 and 6 frozen: runs from random starts end far above the
optimum, and yet the optimum can be written down. Let A (8 × 8) be the coefficients, the lags of layers 1–3 by those of
layers 4–6. At the optimum A has rank 5, A = PS, and every S with the same row space will do. What is above layer 3 is
S = [W₄⁰X, W₄¹X], where W₄ᵗ is the frozen layer 4 at tap t, and X (5 × 4), what is above layer 4, is free: layer 6 has
full rank and layer 5 does the rest. That S has the wanted row space are 15 linear equations in the 20 entries of X.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lstsq, null_space, svd

from capcore.architectures.hierarchical import Hierarchical
from capcore.optimum import FitResult, Problem
from capcore.validation import positive_integer

RANK = 5


def recover(coefficients: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n_params,) parameters of ``Hierarchical(5, 6)`` with these coefficients; layers 1, 2, 4 and 6 are kept.

    Parameters
    ----------
    coefficients : (64,) of such a model. values : (n_params,) parameters, of which only the frozen layers' are used.
    rng : chooses one of the solutions, which form a space of dimension 5.

    >>> rng, arch = np.random.default_rng(0), Hierarchical(5, 6)
    >>> target, values = arch.coefficients(arch.init(rng)), arch.init(rng)
    >>> bool(np.allclose(arch.coefficients(recover(target, values, rng)), target))
    True
    """
    arch = Hierarchical(RANK, 6)
    kernels = arch.kernels(values)
    table = coefficients.reshape(8, 8).T  # lag = (lag of layers 1–3) + 8 (lag of layers 4–6)
    rows = svd(table)[2]
    outside = rows[RANK:].T  # (8, 3): the directions that S must not have
    # upper lag = tap of layer 4 + 2 (lag of layers 5–6): the rows of `outside` by that tap
    equations = sum(np.kron(kernels[3][:, tap], outside[tap::2].T) for tap in range(2))
    solutions = null_space(equations)
    above = (solutions @ rng.normal(size=solutions.shape[1])).reshape(RANK, 4)
    top = kernels[5][:, :, 0]  # (5, 2)
    # above[:, tap + 2u] = W₅(tap) · top[:, u]
    kernels[4] = np.stack([lstsq(top.T, above[:, tap::2].T)[0].T for tap in range(2)], axis=1)
    upper = np.empty((RANK, 8))
    for tap in range(2):
        upper[:, tap::2] = kernels[3][:, tap] @ above
    lower = lstsq(upper.T, table.T)[0].T  # (8, 5)
    below = (kernels[0][0] @ kernels[1].transpose(1, 0, 2)).reshape(
        4, RANK
    )  # lag = tap of layer 1 + 2 (tap of layer 2)
    kernels[2] = np.stack([lstsq(below, lower[4 * tap : 4 * tap + 4])[0] for tap in range(2)], axis=1)
    return np.concatenate([kernel.reshape(-1) for kernel in kernels])


def recovered_excesses(problem: Problem, optimum: FitResult, n_draws: int, seed: int = 0) -> np.ndarray:
    """(n_draws,) loss / loss at the optimum − 1 of the models recovered from random frozen values.

    The values are those of ``freeze_layers`` with the same seed.
    """
    arch = Hierarchical(RANK, 6)
    found = []
    for i in range(positive_integer(n_draws, "n_draws")):
        rng = np.random.default_rng([seed, i])
        params = recover(optimum.coefficients, arch.init(rng), rng)
        found.append(problem.loss(arch.coefficients(params)) / optimum.loss - 1)
    return np.array(found)
