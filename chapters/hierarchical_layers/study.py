"""Optima that share their coefficients, and how their capacity is spread over layers.

Parameters that give the same model: what a layer's capacity owes to the parameters rather than to the model.

The coefficients A do not determine the parameters W. A change of basis between two layers, W⁽ˡ⁾M and M⁻¹W⁽ˡ⁺¹⁾,
leaves A and every layer's own constraint space as they are. But a bond with more channels than its rank
also has room that does not reach A at all and yet adds directions to a layer's own space: there the profiles
of single layers depend on W. The space of all layers together, the tangent space at a regular A, does not.
"""

import numpy as np

from capcore import Hierarchical, Problem
from capcore.architectures.generic import PRIME, rank_modulo_prime
from chapters.shared.layers import LayerProfiles
from chapters.shared.survey import allocate_quietly


def same_model(
    arch: Hierarchical, params: np.ndarray, problem: Problem, n_draws: int, seed: int = 0
) -> list[LayerProfiles]:
    """The layer profiles of the same coefficients from other parameters (``same_coefficients``)."""
    draws = same_coefficients(arch, params, n_draws, np.random.default_rng(seed))
    return [LayerProfiles.of(allocate_quietly(arch, w, problem)) for w in draws]


def stack(ensemble: list[LayerProfiles], view: str) -> np.ndarray:
    """(n_draws, L, n_inputs) one view of all profiles of an ensemble."""
    return np.array([getattr(profiles, view) for profiles in ensemble])


def largest_change(ensemble: list[LayerProfiles], view: str) -> np.ndarray:
    """(L,) for each layer the largest range of its profile over the ensemble, at any input."""
    return np.ptp(stack(ensemble, view), axis=0).max(axis=1)


def same_coefficients(arch: Hierarchical, params: np.ndarray, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """``count`` parameter vectors (n_params,) with the coefficients of ``params``, the idle room filled at random.

    See :func:`capcore.architectures.tensor_train.widen` for how it is filled.

    >>> rng, arch = np.random.default_rng(0), Hierarchical(channels=2, n_layers=3)
    >>> params = arch.init(rng)
    >>> first, second = same_coefficients(arch, params, 2, rng)
    >>> bool(np.allclose(arch.coefficients(first), arch.coefficients(second))), bool(np.allclose(first, second))
    (True, False)
    """
    return [arch.rebalance(params, rng) for _ in range(count)]


def exact_overlaps(arch: Hierarchical) -> np.ndarray:
    """(L, L) dimensions that the spaces of two layers share, at almost all parameters; on the diagonal, their own.

    Counted by ranks modulo a prime, as :func:`chapters.shared.layers.exact_layer_totals` does.

    >>> exact_overlaps(Hierarchical(channels=4, n_layers=6))[2].tolist()
    [8, 16, 32, 16, 4, 1]
    """
    jacobian = arch.jacobian_modulo(np.random.default_rng(0).integers(1, PRIME, size=arch.n_params))
    blocks = [jacobian[:, part] for part in arch.layers.values()]
    own = np.array([rank_modulo_prime(block) for block in blocks])
    both = [[rank_modulo_prime(np.hstack([a, b])) for b in blocks] for a in blocks]
    return own[:, None] + own - np.array(both)
