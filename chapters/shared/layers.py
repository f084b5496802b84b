"""Capacity layer by layer: profiles over the inputs, exact totals, and layers compared along any direction.

Paper 1, section 5.1.4. A layer has four profiles: independent (all other layers taken as constants), forward
(given all layers below), backward (given all layers above) and marginal (given all other layers).
"""

from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import eigh

from capcore import ConstraintSpace, Hierarchical, join
from capcore.architectures.generic import PRIME, rank_modulo_prime
from capcore.capacity.allocation import CapacityAllocation
from chapters.shared.profiles import distant, effective_number, mean_lag, recent, share

VIEWS = ("independent", "forward", "backward", "marginal")
CONTRIBUTES = 1e-6  # a layer that adds less than this in all adds nothing


class LayerProfiles(NamedTuple):
    """The four profiles of every layer; each (L, n_inputs), layer 1 (nearest the input) first.

    ``names`` holds the L layer names.

    >>> from capcore import AR1, Hierarchical, allocate
    >>> arch = Hierarchical(channels=1, n_layers=3)
    >>> profiles = LayerProfiles.of(allocate(arch, arch.init(np.random.default_rng(0)), AR1(0.5)))
    >>> profiles.totals("independent").round(9).tolist(), profiles.totals("forward").round(9).tolist()
    ([2.0, 2.0, 2.0], [2.0, 1.0, 1.0])
    """

    names: tuple[str, ...]
    independent: np.ndarray
    forward: np.ndarray
    backward: np.ndarray
    marginal: np.ndarray

    @classmethod
    def of(cls, alloc: CapacityAllocation) -> Self:
        """The profiles of all layers of an allocation."""
        layers = alloc.layers
        return cls(tuple(layers), *(np.array([getattr(layer, view) for layer in layers.values()]) for view in VIEWS))

    def totals(self, view: str) -> np.ndarray:
        """(L,) sum of each layer's profile over the inputs."""
        return getattr(self, view).sum(axis=1)

    def contributing_mean_lags(self, view: str) -> np.ndarray:
        """(L,) capacity-weighted mean lag of each layer's profile; NaN for layers that contribute nothing."""
        profiles = getattr(self, view)
        slopes = np.full(len(profiles), np.nan)
        adds = self.totals(view) > CONTRIBUTES
        if adds.any():
            slopes[adds] = mean_lag(profiles[adds])
        return slopes

    def chain_shares(self) -> dict[str, float]:
        """How much of the recent capacity the lower half of the layers adds, and of the distant the upper half.

        One entry for each and each chain: ``forward_short``, ``forward_long``, ``backward_short``,
        ``backward_long``, as in claim P1.24. Recent and distant lags: see ``profiles``; of an odd
        number of layers the middle one is in neither half.
        """
        n, half = self.forward.shape[1], len(self.names) // 2
        norms = {}
        for view in ("forward", "backward"):
            profiles = getattr(self, view)
            short, long = (profiles[:, where(n)].sum(axis=1) for where in (recent, distant))
            norms[f"{view}_short"] = float(short[:half].sum() / short.sum())
            norms[f"{view}_long"] = float(long[len(long) - half :].sum() / long.sum())
        return norms

    def recent_shares(self) -> np.ndarray:
        """(L,) share of each layer's independent capacity on the recent lags."""
        return share(self.independent, recent(self.independent.shape[1]))

    def spreads(self) -> np.ndarray:
        """(L,) effective number of inputs of each layer's independent profile."""
        return effective_number(self.independent)

    def pairs_upper_more_uniform(self) -> int:
        """Pairs of layers (1, L), (2, L − 1), … in which the upper has the larger spread and less on recent lags."""
        half = len(self.names) // 2
        lower, upper = slice(0, half), slice(-1, -half - 1, -1)
        shares, spreads = self.recent_shares(), self.spreads()
        return int(np.sum((spreads[upper] > spreads[lower]) & (shares[upper] < shares[lower])))

    def largest_input_excess(self) -> float:
        """Largest marginal − independent capacity over layers and inputs."""
        return float((self.marginal - self.independent).max())


def count_steps(values: object, sign: int) -> int:
    """Number of steps to the next value, NaNs left out, that go up (sign = 1) or down (sign = −1).

    >>> count_steps([1.0, 3.0, float("nan"), 2.0], -1)
    1
    """
    array = np.asarray(values, dtype=float)
    return int(np.count_nonzero(np.sign(np.diff(array[~np.isnan(array)])) == sign))


def exact_layer_totals(arch: Hierarchical) -> dict[str, np.ndarray]:
    """View → (L,) exact generic totals of the layers, layer 1 first: ranks and differences of ranks, no tolerance.

    The ranks are those of blocks of the Jacobian at random integer parameters modulo a prime. Σ is invertible and
    changes none of them. They hold at almost all parameters, as :func:`capcore.architectures.generic.exact_rank` does.

    >>> from capcore import Hierarchical
    >>> exact_layer_totals(Hierarchical(channels=4, n_layers=6))["marginal"].tolist()
    [0, 0, 4, 4, 0, 0]
    """
    params = np.random.default_rng(0).integers(1, PRIME, size=arch.n_params)
    jacobian = arch.jacobian_modulo(params)
    blocks = [jacobian[:, part] for part in arch.layers.values()]
    n_layers = len(blocks)

    def rank(chosen: list[np.ndarray]) -> int:
        return rank_modulo_prime(np.hstack(chosen)) if chosen else 0

    below = [rank(blocks[:l]) for l in range(n_layers + 1)]
    return {
        "independent": np.array([rank([block]) for block in blocks]),
        "forward": np.diff(below),
        "backward": -np.diff([rank(blocks[l:]) for l in range(n_layers + 1)]),
        "marginal": below[-1] - np.array([rank(blocks[:l] + blocks[l + 1 :]) for l in range(n_layers)]),
    }


def middle_exceeds(totals: np.ndarray) -> bool:
    """Whether the middle layer, or each of the two, has a larger total than every layer that is not in the middle.

    >>> middle_exceeds(np.array([0, 0, 4, 4, 0, 0])), middle_exceeds(np.array([1, 2, 2]))
    (True, False)
    """
    n = len(totals)
    middle = slice((n - 1) // 2, n // 2 + 1)
    others = np.delete(totals, middle)
    return bool(totals[middle].min() > others.max(initial=-1))


def marginal_space(alloc: CapacityAllocation, name: str) -> ConstraintSpace:
    """The space whose capacities are the marginal ones of layer ``name``: what it adds to all other layers."""
    own = alloc.layers[name].space
    others = [layer.space for other, layer in alloc.layers.items() if other != name]
    return own.given(join(others))


def largest_excess(first: ConstraintSpace, second: ConstraintSpace) -> tuple[float, np.ndarray]:
    """Largest κ₁(s) − κ₂(s) over all unit vectors s, and the direction (n,) where it is attained.

    κ(s) = sᵀPs with the orthogonal projector P, so this is the largest eigenvalue of P₁ − P₂.

    >>> line, diagonal = (ConstraintSpace.from_columns(s) for s in ([1.0, 0.0], [1.0, 1.0]))
    >>> round(largest_excess(line, diagonal)[0], 6)
    0.707107
    """
    difference = first.basis @ first.basis.T - second.basis @ second.basis.T
    n = first.n_coefficients
    values, vectors = eigh(difference, subset_by_index=[n - 1, n - 1])
    direction = vectors[:, 0]
    return float(values[0]), direction * np.sign(direction[np.argmax(np.abs(direction))])


def worst_direction(alloc: CapacityAllocation) -> tuple[str, float, np.ndarray]:
    """Layer and direction (n,) in which a marginal capacity exceeds the independent one most, and by how much."""
    layers = alloc.layers.items()
    entries = [(name, *largest_excess(marginal_space(alloc, name), layer.space)) for name, layer in layers]
    return max(entries, key=lambda entry: entry[1])
