"""Capacity of all layers: propagated from layer to layer (paper 2, Eq. 12), and allocated at once (paper 1, Eq. 18).

Equation 12 adds up what each layer allocates to its own inputs, κ(ℓ→ℓ), and moves the sum down by the squared weights.
In steps of whole layers,

    κ_cum below = (W_ℓ∘W_ℓ) κ_cum above + κ(ℓ→ℓ),

with columns of W∘W scaled to sum one, since capacity is to be conserved. κ(ℓ→ℓ) is paper 1's capacity for the layers
ℓ … L taken as a model of their own: of layer ℓ alone, or given all layers above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from capcore.constraints import chain, join
from capcore.propagation import MatrixTransport, mean_chi_square, propagate
from capcore.propagation.random_signs import ChiSquare
from capcore.studies.profiles import total_variation
from capcore.studies.tree_network import TreeNetwork
from capcore.validation import positive_integer


@dataclass(frozen=True, eq=False)
class Bridge:
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
    >>> found = bridge(tree, np.eye(8))
    >>> found.total, round(found.excess, 6), found.distance() < 1e-12
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


def over_signs(
    tree: TreeNetwork, covariance: np.ndarray, n_draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Exact allocations and those of Eq. 12 with conditional κ(ℓ→ℓ), (n_draws, positions) each, for random signs."""
    found = [bridge(tree.with_signs(rng), covariance) for _ in range(positive_integer(n_draws, "n_draws"))]
    return (
        np.array([each.per_position("exact") for each in found]),
        np.array([each.per_position("cumulated") for each in found]),
    )


def same_mean(exact: np.ndarray, cumulated: np.ndarray) -> ChiSquare:
    """Whether the two (n_draws, positions) have one mean, by their differences draw for draw."""
    return mean_chi_square(cumulated - exact, np.zeros(exact.shape[1]))
