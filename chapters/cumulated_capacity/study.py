"""Capacity of all layers: propagated from layer to layer (paper 2, Eq. 12), and allocated at once (paper 1, Eq. 18).

Equation 12 adds up what each layer allocates to its own inputs, κ(ℓ→ℓ), and moves the sum down by the squared weights.
In steps of whole layers,

    κ_cum below = (W_ℓ∘W_ℓ) κ_cum above + κ(ℓ→ℓ),

with columns of W∘W scaled to sum one, since capacity is to be conserved. κ(ℓ→ℓ) is paper 1's capacity for the layers
ℓ … L taken as a model of their own: of layer ℓ alone, or given all layers above it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from capcore import MatrixTransport, chain, join, propagate
from capcore.capacity.allocation import CapacityAllocation
from chapters.cumulated_capacity.trees import TreeNetwork, isometric, whitened
from chapters.shared.profiles import total_variation


class Bridge(NamedTuple):
    """Both sides of paper 2's statement for one network.

    Attributes
    ----------
    exact : (n,) allocation of all parameters in the space of the input.
    alone, given_above : for layers 1 … L, (M_{ℓ−1} c_{ℓ−1},) capacity of the layer on what it reads.
    cumulated_alone, cumulated : (n,) Eq. 12 with either of them.
    input_dim : components per input position.
    """

    exact: np.ndarray
    alone: Sequence[np.ndarray]
    given_above: Sequence[np.ndarray]
    cumulated_alone: np.ndarray
    cumulated: np.ndarray
    input_dim: int = 1

    def per_position(self, name: str) -> np.ndarray:
        """(positions,) the named profile, summed over components."""
        return getattr(self, name).reshape(-1, self.input_dim).sum(axis=1)

    def distance(self, name: str = "cumulated") -> float:
        """Total variation distance between the named profile and the exact one, per position, both normalised."""
        return float(total_variation(self.per_position(name), self.per_position("exact")))

    @property
    def total(self) -> int:
        """κ, the exact total."""
        return round(float(self.exact.sum()))

    @property
    def excess(self) -> float:
        """Σ κ(ℓ→ℓ) of the layers alone over κ, minus one."""
        return float(sum(part.sum() for part in self.alone)) / self.total - 1


def bridge(tree: TreeNetwork, covariance: np.ndarray) -> Bridge:
    """Eq. 12 and the exact allocation for inputs of covariance (n, n).

    >>> tree = TreeNetwork([np.array([[[0.6], [0.8]]])] * 3)
    >>> bridged = bridge(tree, np.eye(8))
    >>> bridged.total, round(bridged.excess, 6), bridged.distance() < 1e-12
    (4, 0.5, True)
    """
    alone, given_above = [], []
    for layer, sigma in enumerate(tree.covariances(covariance), 1):
        spaces = tree.spaces(layer, sigma)
        if layer == 1:
            exact = join(spaces).per_input()
        alone.append(spaces[-1].per_input())
        given_above.append(chain(spaces)[-1].per_input())
    input_dim = tree.kernels[0].shape[0]
    return Bridge(exact, alone, given_above, cumulate(tree, alone), cumulate(tree, given_above), input_dim)


def cumulate(tree: TreeNetwork, sources: Sequence[np.ndarray]) -> np.ndarray:
    """(n,) Eq. 12 at t = 1, in whole layers: sources κ(ℓ→ℓ) of layers 1 … L, moved down by scaled squared weights."""
    if tree.n_layers == 1:
        return np.asarray(sources[0])
    layers = [MatrixTransport.of_weights(w).normalised() for w in tree.matrices[:-1]]
    return propagate(sources[-1], layers, sources=dict(enumerate(sources[:-1]))).input.reshape(-1)


def over_signs(tree: TreeNetwork, n_draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Exact allocations and those of Eq. 12 with conditional κ(ℓ→ℓ), (n_draws, n) each, for random signs.

    Inputs are white and layers isometric, so that what layers everywhere read is white. A constraint space then moves
    down as it is, Π → W Π Wᵀ, and what a layer adds is what is left of it outside of the spaces from above: a way to
    the numbers of :func:`bridge` that looks at every layer once.
    """
    draws = [_descend(tree.with_signs(rng)) for _ in range(n_draws)]
    exact, cumulated = (np.array(side) for side in zip(*draws, strict=True))
    return exact, cumulated


def _descend(tree: TreeNetwork) -> tuple[np.ndarray, np.ndarray]:
    """(n,) both sides for one isometric network and white inputs."""
    basis = _orthonormal(tree.own_jacobian(tree.n_layers))
    capacity = np.square(basis).sum(axis=1)
    for layer in range(tree.n_layers - 1, 0, -1):
        w = tree.matrices[layer - 1]
        moved = w @ basis
        own = _orthonormal(tree.own_jacobian(layer))
        added = _orthonormal(own - moved @ (moved.T @ own))
        capacity = np.square(w) @ capacity + np.square(added).sum(axis=1)
        basis = np.hstack([moved, added])
    return np.square(basis).sum(axis=1), capacity


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """Orthonormal basis of columns of length about one, or of what a projection left of such: 1e-8 and less is none."""
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    return u[:, s > 1e-8 * max(1.0, s[0])]


def readings(tree: TreeNetwork, covariance: np.ndarray) -> dict[str, float]:
    """Reading of Eq. 12 → its distance from the exact allocation, for the same function of the inputs.

    The last one takes the inputs for white on both sides: then the exact allocation is that of J instead of ΣJ.
    """
    bridged = bridge(tree, covariance)
    unit, level = isometric(tree), whitened(tree, covariance)
    return {
        "each layer alone": bridged.distance("cumulated_alone"),
        "conditional": bridged.distance(),
        "conditional, white channels": bridge(level, covariance).distance(),
        "conditional, isometric layers": bridge(unit, covariance).distance(),
        "the same, inputs taken for white": bridge(unit, np.eye(len(covariance))).distance(),
    }


def chain_gap(alloc: CapacityAllocation, n_orders: int, rng: np.random.Generator) -> float:
    """Largest difference per input between the layers' summed conditional capacities and the whole, over orders.

    The orders are both chains and random ones. The sum is the allocation in any order (paper 1, Property 6).
    """
    spaces = [layer.space for layer in alloc.layers.values()]
    orders = [np.arange(len(spaces)), np.arange(len(spaces))[::-1]]
    orders += [rng.permutation(len(spaces)) for _ in range(n_orders - 2)]
    sums = [sum(term.per_input() for term in chain([spaces[i] for i in order])) for order in orders]
    return float(max(np.abs(per_input - alloc.space.per_input()).max() for per_input in sums))
