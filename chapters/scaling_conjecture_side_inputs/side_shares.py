"""Laws for what side inputs leave to X, at every finite depth: shares of squared gradients in expectation.

Layers are those of ``side_inputs``: a residual block of squared scale 1/L, and a side input of scale
γ. A squared gradient grows by r = 1 + 1/L in every layer that is not divided. The laws take the network's blocks as
independent of each other and of mean zero, which untrained two-layer blocks are but for the gates of the layers above.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import e, log1p, sqrt
from typing import Any

import numpy as np

from capcore.validation import finite_number, one_of, positive_integer

LAWS = ("divided", "undivided", "same")


def side_share(form: str, n_layers: int, gamma: float) -> float:
    """Share of X in the squared gradients: ratio of their expectations.

    Parameters
    ----------
    form : ``divided``: (r/(r + γ²))^L, which is e^{−α} in the limit γ² = α/L (Eq. 16).
        ``undivided``: 1/(1 + γ² L (1 − r^−L)); it falls as a power of L where the paper's law falls exponentially.
        ``same``: undivided with one side input in all layers, whose gradients add before they are squared:
        r^L/(r^L + γ² Σ_j r^j (2 (L − j) − 1)), j = 0 … L − 1; near 1/(1 + 2 (1 − 2/e) γ² L²).
    gamma : at least 0.

    >>> round(side_share("divided", 4096, 1 / 64), 3), round(side_share("same", 4096, 1 / 64), 5)
    (0.368, 0.00046)
    """
    one_of(form, "form", LAWS)
    depth, square = positive_integer(n_layers, "n_layers"), _scale(gamma) ** 2
    r = 1 + 1 / depth
    if form == "divided":
        return float(np.exp(-depth * log1p(square / r)))
    if form == "undivided":
        return 1 / (1 + square * depth * (1 - r**-depth))
    above = np.arange(depth)
    leaked = square * float(np.sum(r**above * (2 * (depth - above) - 1)))
    return r**depth / (r**depth + leaked)


def same_space_limit(alpha: float) -> float:
    """κ(X)/κ, in capacity, for one side input Y in all of very many, very wide, orthogonal layers with leaks α/L.

    The map from Y is a sum of many independent rotations, a Gaussian matrix; with Marchenko and Pastur's law of its
    squared singular values κ(X)/κ is (√(1 + 4c) − 1)/(2c), c = e^α − 1. It falls like e^{−α/2}, and Eq. 16 like e^{−α}.

    >>> round(same_space_limit(1.0), 4)
    0.5255
    """
    c = e ** finite_number(alpha, "alpha") - 1
    if c < 0:
        raise ValueError(f"alpha: found {alpha}, expected a number of at least 0.")
    return (sqrt(1 + 4 * c) - 1) / (2 * c) if c > 1e-9 else 1.0


def constant_limit(alpha: float, n_units: int) -> float:
    """κ(X)/κ for a bias B = 1 in very many wide orthogonal layers: a constant takes nc/(1 + nc) of n, c = e^α − 1.

    >>> round(constant_limit(1.0, 16), 4), round(constant_limit(200.0, 16), 4)
    (0.9397, 0.9375)
    """
    n, alpha = positive_integer(n_units, "n_units"), finite_number(alpha, "alpha")
    if alpha < 0:
        raise ValueError(f"alpha: found {alpha}, expected a number of at least 0.")
    odds = n * np.expm1(alpha)
    return float(1 - odds / (1 + odds) / n)


def worst_ratio(rows: Iterable[Mapping[str, Any]]) -> float:
    """Measured share over its law, for the row in which that ratio is farthest from one; rows as the experiment's.

    >>> worst_ratio([{"form": "undivided", "depth": 8, "exponent": 0, "mean": 2 * side_share("undivided", 8, 1.0)}])
    2.0
    """
    ratios = [row["mean"] / side_share(row["form"], row["depth"], row["depth"] ** -row["exponent"]) for row in rows]
    if not ratios:
        raise ValueError("rows: found none, expected at least one.")
    return max(ratios, key=lambda ratio: abs(np.log(ratio)) if ratio > 0 else np.inf)


def _scale(gamma: float) -> float:
    number = finite_number(gamma, "gamma")
    if number < 0:
        raise ValueError(f"gamma: found {gamma}, expected a number of at least 0.")
    return number
