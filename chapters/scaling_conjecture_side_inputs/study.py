"""What side inputs leave to X: laws for squared gradients, capacities of linear networks, and the stored runs, read.

The laws are those of the layers of ``tasks``, at every finite depth: a residual block of squared scale 1/L, and a side
input of scale γ. A squared gradient grows by r = 1 + 1/L in every layer that is not divided. The laws take the
network's blocks as independent of each other and of mean zero, which untrained two-layer blocks are but for the gates
of the layers above.

Capacities are those of a linear read-out, in the exact sense of paper 1. Layers are x ← √(1 − γ²) O_ℓ x + γ s_ℓ with
random orthogonal O_ℓ and inputs of unit variance: columns of unit length, as in Eq. 15. The read-out has one weight per
unit, so that κ is the number of units, and its constraint space is spanned by the coefficients of each unit on
everything that enters.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import log1p
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import ortho_group

from capcore.capacity.constraints import ConstraintSpace
from chapters.shared.intervals import Interval
from chapters.shared.random_signs import signed_operator

LAWS = ("divided", "undivided", "same")
Rows = Sequence[Mapping[str, Any]]
Points = dict[str, tuple[list[int], list[float], list[float]]]
POWERS = {0: "1", 0.25: "$L^{-1/4}$", 0.5: "$L^{-1/2}$", 0.75: "$L^{-3/4}$", 1: "1/L"}


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
    depth, square = n_layers, gamma**2
    r = 1 + 1 / depth
    if form == "divided":
        return float(np.exp(-depth * log1p(square / r)))
    if form == "undivided":
        return 1 / (1 + square * depth * (1 - r**-depth))
    above = np.arange(depth)
    leaked = square * float(np.sum(r**above * (2 * (depth - above) - 1)))
    return r**depth / (r**depth + leaked)


def worst_ratio(rows: Iterable[Mapping[str, Any]]) -> float:
    """Measured share over its law, for the row in which that ratio is farthest from one; rows as the experiment's.

    >>> worst_ratio([{"form": "undivided", "depth": 8, "exponent": 0, "mean": 2 * side_share("undivided", 8, 1.0)}])
    2.0
    """
    ratios = [row["mean"] / side_share(row["form"], row["depth"], row["depth"] ** -row["exponent"]) for row in rows]
    return max(ratios, key=lambda ratio: abs(np.log(ratio)) if ratio > 0 else np.inf)


class SideNetwork(NamedTuple):
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
    on_x, sides = np.eye(width), []
    for turn in ortho_group.rvs(width, size=n_layers, random_state=rng).reshape(n_layers, width, width)[::-1]:
        sides.append(np.sqrt(square) * on_x)  # from the uppermost layer down
        on_x = np.sqrt(1 - square) * on_x @ turn
    if kind == "different":
        return SideNetwork(on_x, np.concatenate(sides, axis=1))
    total = np.sum(sides, axis=0)
    return SideNetwork(on_x, total if kind == "same" else total.sum(axis=1, keepdims=True))


def normalised_square(n_layers: int, exponent: float) -> float:
    """γ²/(1 + γ²) for γ = L^-g: what side inputs added at that scale are after division by the norm.

    >>> normalised_square(64, 0.0), round(normalised_square(64, 0.5), 4)
    (0.5, 0.0154)
    """
    square = n_layers ** (-2 * exponent)
    return square / (1 + square)


def constant_gradients(
    n_positions: int, n_layers: int, square: float, n_samples: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Squared gradients (n_samples,) of one output on all of X, and on a constant that is the bias of every layer.

    The network is linear with random signs between layers (:mod:`chapters.shared.random_signs`), for which Eq. 19
    should hold on average: local weights of three taps, a residual capacity of 1/L, and a share ``square`` = β² of
    every layer's squared weights on B = 1.

    >>> on_x, on_constant = constant_gradients(5, 3, 0.0, 2, np.random.default_rng(0))
    >>> on_constant.tolist()
    [0.0, 0.0]
    """
    step = 1 / (2 * n_layers)
    local = signed_operator(np.sqrt([step, 1 - 2 * step, step]).reshape(1, 3, 1), (n_positions, 1))
    gradient = np.zeros((n_positions, n_samples))
    gradient[n_positions // 2] = 1
    constant = np.zeros(n_samples)
    for _ in range(n_layers):
        signed = gradient * rng.choice([-1.0, 1.0], gradient.shape)
        constant += np.sqrt(square) * signed.sum(axis=0)
        gradient = np.sqrt(1 - square) * (local @ signed)
    return np.sum(gradient**2, axis=0), constant**2


def scale_label(exponent: float, symbol: str = "γ") -> str:
    """The scale in words of a legend.

    >>> scale_label(0), scale_label(0.3, "β")
    ('γ = 1', 'β = $L^{-0.3}$')
    """
    return f"{symbol} = {POWERS.get(exponent, f'$L^{{-{exponent:g}}}$')}"


def chosen(rows: Rows, **where: object) -> list[Mapping[str, Any]]:
    """The rows with these entries, by depth.

    >>> chosen([{"form": "same", "depth": 8}, {"form": "same", "depth": 4}], form="same")[0]["depth"]
    4
    """
    matches = [row for row in rows if where.items() <= row.items()]
    return sorted(matches, key=lambda row: row["depth"])


def _exponents(rows: Rows, **where: object) -> list[float]:
    return sorted({row["exponent"] for row in chosen(rows, **where)})


def share_points(rows: Rows, form: str) -> tuple[Points, dict[str, list[float]]]:
    """Untrained shares of X with 95 % intervals over draws, a curve for each scale, and the laws at the same depths."""
    points: Points = {}
    laws = {}
    for g in _exponents(rows, form=form):
        own = chosen(rows, form=form, exponent=g)
        depths = [row["depth"] for row in own]
        points[scale_label(g)] = (depths, [row["mean"] for row in own], [row["half"] for row in own])
        laws[scale_label(g)] = [side_share(form, depth, depth**-g) for depth in depths]
    return points, laws


def accuracy_points(rows: Rows, task: str, form: str, symbol: str = "γ") -> Points:
    """Test accuracies with 95 % intervals over seeds (Student's t), a curve for each scale."""
    points: Points = {}
    for g in _exponents(rows, task=task, form=form):
        own = chosen(rows, task=task, form=form, exponent=g)
        means, halves = zip(*(Interval.of(row["accuracy"]) for row in own), strict=True)
        points[scale_label(g, symbol)] = ([row["depth"] for row in own], list(means), list(halves))
    return points


def accuracy(rows: Rows, task: str, form: str, depth: int, exponent: float) -> float:
    """Mean test accuracy over the seeds."""
    [row] = chosen(rows, task=task, form=form, depth=depth, exponent=exponent)
    return Interval.of(row["accuracy"])[0]


def accuracy_gap(rows: Rows, task: str, form: str, depth: int, exponent: float) -> float:
    """Accuracy at the scale L^-½ less that at L^-g."""
    return accuracy(rows, task, form, depth, 0.5) - accuracy(rows, task, form, depth, exponent)


def before_after(rows: Rows, depth: int) -> dict[str, tuple[list[float], list[float]]]:
    """Shares of X in the parity networks of one depth, before and after training, for every seed."""
    own = [row for row in chosen(rows, task="parity", depth=depth) if row["form"] in ("divided", "undivided")]
    return {f"{row['form']}, {scale_label(row['exponent'])}": (row["before"], row["after"]) for row in own}
