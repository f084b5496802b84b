"""Capacity that a linear read-out allocates to X and to what every layer adds, in the exact sense of paper 1.

Layers are x ← √(1 − γ²) O_ℓ x + γ s_ℓ with random orthogonal O_ℓ and inputs of unit variance: columns of unit length,
as in Eq. 15. The read-out has one weight per unit, so that κ is the number of units, and its constraint space is
spanned by the coefficients of each unit on everything that enters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import ortho_group

from capcore.constraints import ConstraintSpace
from capcore.propagation.random_signs import signed_operator
from capcore.validation import finite_number, one_of, positive_integer

KINDS = ("different", "same", "constant")


@dataclass(frozen=True, eq=False)
class SideNetwork:
    """A linear network, by the coefficients of its units.

    Attributes
    ----------
    on_x : (n, n) coefficients of x_L on X, units in rows.
    on_side : (n, m) on what the layers add: m = nL different inputs, n common ones, or one constant.
    """

    on_x: np.ndarray
    on_side: np.ndarray

    def capacity_of_x(self) -> float:
        """κ(X), by the constraint space of the read-out. The rest of κ = n is on what the layers add."""
        space = ConstraintSpace.from_columns(np.concatenate([self.on_x.T, self.on_side.T]))
        return float(space.per_input()[: len(self.on_x)].sum())

    def capacity_by_ratios(self) -> float:
        """κ(X) from the singular values s of M⁻¹C, for M and C the two maps: Σ 1/(1 + s²), by another route.

        Also where M is so small beside C that rounding hides it, as long as both can be written down.
        """
        ratios = np.linalg.svd(np.linalg.solve(self.on_x, self.on_side), compute_uv=False)
        full = np.zeros(len(self.on_x))
        full[: ratios.size] = ratios[: full.size]
        return float(np.sum(1 / (1 + full**2)))


def side_network(width: int, n_layers: int, square: float, kind: str, rng: np.random.Generator) -> SideNetwork:
    """Draw a network.

    Parameters
    ----------
    square : γ², from 0 to below 1. kind : ``different`` inputs (n,) in every layer, the ``same`` in all, or the
        ``constant`` 1, as a bias B = 1 on every unit (section 3.5).

    >>> net = side_network(8, 4, 0.5, "different", np.random.default_rng(0))
    >>> round(net.capacity_of_x(), 6), 8 * 0.5**4
    (0.5, 0.5)
    """
    one_of(kind, "kind", KINDS)
    n, depth, leak = positive_integer(width, "width", 2), positive_integer(n_layers, "n_layers"), _leak(square)
    on_x, sides = np.eye(n), []
    for turn in ortho_group.rvs(n, size=depth, random_state=rng).reshape(depth, n, n)[::-1]:
        sides.append(np.sqrt(leak) * on_x)  # from the uppermost layer down
        on_x = np.sqrt(1 - leak) * on_x @ turn
    if kind == "different":
        return SideNetwork(on_x, np.concatenate(sides, axis=1))
    total = np.sum(sides, axis=0)
    return SideNetwork(on_x, total if kind == "same" else total.sum(axis=1, keepdims=True))


def normalised_square(n_layers: int, exponent: float) -> float:
    """γ²/(1 + γ²) for γ = L^-g: what side inputs added at that scale are after division by the norm.

    >>> normalised_square(64, 0.0), round(normalised_square(64, 0.5), 4)
    (0.5, 0.0154)
    """
    square = positive_integer(n_layers, "n_layers") ** (-2 * finite_number(exponent, "exponent"))
    return square / (1 + square)


def constant_gradients(
    n_positions: int, n_layers: int, square: float, n_samples: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Squared gradients (n_samples,) of one output on all of X, and on a constant that is the bias of every layer.

    The network is linear with random signs between layers (:mod:`capcore.propagation.random_signs`), for which Eq. 19
    should hold on average: local weights of three taps, a residual capacity of 1/L, and a share ``square`` = β² of
    every layer's squared weights on B = 1.

    >>> on_x, on_constant = constant_gradients(5, 3, 0.0, 2, np.random.default_rng(0))
    >>> on_constant.tolist()
    [0.0, 0.0]
    """
    n, depth, leak = (
        positive_integer(n_positions, "n_positions", 3),
        positive_integer(n_layers, "n_layers"),
        _leak(square),
    )
    step = 1 / (2 * depth)
    local = signed_operator(np.sqrt([step, 1 - 2 * step, step]).reshape(1, 3, 1), (n, 1))
    gradient = np.zeros((n, positive_integer(n_samples, "n_samples")))
    gradient[n // 2] = 1
    constant = np.zeros(n_samples)
    for _ in range(depth):
        signed = gradient * rng.choice([-1.0, 1.0], gradient.shape)
        constant += np.sqrt(leak) * signed.sum(axis=0)
        gradient = np.sqrt(1 - leak) * (local @ signed)
    return np.sum(gradient**2, axis=0), constant**2


def _leak(square: float) -> float:
    number = finite_number(square, "square")
    if not 0 <= number < 1:
        raise ValueError(f"square: found {square}, expected at least 0 and less than 1, the share of one layer.")
    return number
