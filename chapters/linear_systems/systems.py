"""The laws of capacity (paper 1, section 3, Properties 1–6), measured over random spaces.

Each function draws spaces and returns how far the two sides of one law lie apart, one entry per draw; a law holds when
all of them are round-off. By default 𝒦 has dimension 12 and S dimension 5 in R^30. The columns are drawn from the
rotation-invariant distribution: no direction of R^n is special.
"""

from collections.abc import Callable
from functools import wraps
from itertools import permutations

import numpy as np
from scipy.linalg import null_space, subspace_angles

from capcore.capacity.allocation import CapacityAllocation
from capcore.capacity.constraints import ConstraintSpace, chain, join

N, KAPPA, N_S = 30, 12, 5
N_BASES = 20
"""Of a pair of spaces."""


def over_draws(draw: Callable[[np.random.Generator], object]) -> Callable[[int, np.random.Generator], np.ndarray]:
    """From what is measured in one draw of spaces to an array of it over ``n_draws`` of them."""
    return wraps(draw)(lambda n_draws, rng: np.array([draw(rng) for _ in range(n_draws)]))


@over_draws
def basis_spread(rng: np.random.Generator) -> float:
    """(n_draws,) largest change of κ(S) over rotated orthonormal bases of 𝒦 and S (Property 1).

    Each rotated pair goes through Eq. 2 as printed, ‖KᵀS‖²_F, and is compared with the package's κ(S).
    """
    constraints, subspace = random_basis(N, KAPPA, rng), random_basis(N, N_S, rng)
    capacity, largest = ConstraintSpace.from_columns(constraints).capacity(subspace), 0.0
    for _ in range(N_BASES):
        product = (constraints @ random_basis(KAPPA, KAPPA, rng)).T @ (subspace @ random_basis(N_S, N_S, rng))
        largest = max(largest, abs(np.sum(np.square(product)) - capacity))
    return largest


@over_draws
def spanning_spread(rng: np.random.Generator) -> float:
    """(n_draws,) the same, with both spaces given by skewed spanning columns, one of them redundant."""
    constraints, subspace = random_basis(N, KAPPA, rng), random_basis(N, N_S, rng)
    capacity, largest = np.sum(np.square(constraints.T @ subspace)), 0.0
    for condition in np.geomspace(1.0, 1e3, N_BASES):
        space = ConstraintSpace.from_columns(spanning_columns(constraints, condition, rng))
        largest = max(largest, abs(space.capacity(spanning_columns(subspace, condition, rng)) - capacity))
    return largest


def whole_space_gap(rng: np.random.Generator) -> np.ndarray:
    """(30,) |κ(R^30) − dim 𝒦| for 𝒦 of dimension 1 … 30, R^30 given by a random basis (Property 2)."""
    spaces = [ConstraintSpace.from_columns(random_basis(N, kappa, rng)) for kappa in range(1, N + 1)]
    return np.array([abs(space.capacity(rng.normal(size=(N, N))) - kappa) for kappa, space in enumerate(spaces, 1)])


@over_draws
def additivity_gap(rng: np.random.Generator) -> float:
    """(n_draws,) |κ(S₁⊕S₂) − κ(S₁) − κ(S₂)| for orthogonal S₁ and S₂ (Property 3)."""
    space, both = ConstraintSpace.from_columns(random_basis(N, KAPPA, rng)), random_basis(N, 5 + 4, rng)
    return abs(space.capacity(both) - space.capacity(both[:, :5]) - space.capacity(both[:, 5:]))


@over_draws
def axis_capacities(rng: np.random.Generator) -> np.ndarray:
    """(n_draws, 30) capacities along a random orthonormal basis of R^30: they sum to 12 (Eq. 3)."""
    return ConstraintSpace.from_columns(random_basis(N, KAPPA, rng)).along(random_basis(N, N, rng))


@over_draws
def inside_and_outside(rng: np.random.Generator) -> np.ndarray:
    """(n_draws, 2) capacity of a random direction inside 𝒦, and of one orthogonal to 𝒦 (Property 4)."""
    basis = random_basis(N, KAPPA, rng)
    inside = basis @ rng.normal(size=KAPPA)
    outside = null_space(basis.T) @ rng.normal(size=N - KAPPA)
    return ConstraintSpace.from_columns(basis).along(np.column_stack([inside, outside]))


def sum_gap(first: np.ndarray, second: np.ndarray) -> float:
    """sup_s |κ₁(s) + κ₂(s) − κ(s)| over all unit vectors s, with 𝒦 = 𝒦₁ + 𝒦₂ (Property 5).

    The three capacities of s are sᵀP₁s, sᵀP₂s and sᵀPs with the orthogonal projectors, so the supremum is the
    spectral norm of P₁ + P₂ − P. It equals the cosine of the smallest principal angle between the two spaces.

    >>> round(sum_gap(np.eye(3)[:, :1], np.eye(3)[:, 1:]), 12)
    0.0
    """
    spaces = [ConstraintSpace.from_columns(columns) for columns in (first, second)]
    p1, p2, p = (space.basis @ space.basis.T for space in [*spaces, join(spaces)])
    return float(np.linalg.norm(p1 + p2 - p, 2))


@over_draws
def orthogonal_pair_gap(rng: np.random.Generator) -> float:
    """(n_draws,) :func:`sum_gap` of random pairs of orthogonal spaces (Property 5, one direction)."""
    return sum_gap(*np.split(random_basis(N, 5 + 7, rng), [5], axis=1))


def spread_angles(n_pairs: int) -> np.ndarray:
    """(n_pairs,) angles from nearly orthogonal to zero: half evenly spaced down to 0.1 radians, half by ratios
    from there to 1e-6, and 0 itself, where the spaces share a line."""
    even = np.linspace(0.999 * np.pi / 2, 0.1, n_pairs - n_pairs // 2)
    return np.concatenate([even, np.geomspace(0.1, 1e-6, n_pairs // 2)[1:], [0.0]])[:n_pairs]


def pair_gaps(angles: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """:func:`sum_gap` of random pairs with the given smallest principal angles, and the cosine of that angle.

    Returns
    -------
    gaps : (m,) suprema. cosines : (m,) cos θ_min, from SciPy's ``subspace_angles`` (Property 5, converse).
    """
    pairs = [pair_at_angle(N, (5, 7), angle, rng) for angle in angles]
    cosines = [np.cos(subspace_angles(first, second).min()) for first, second in pairs]
    return np.array([sum_gap(first, second) for first, second in pairs]), np.array(cosines)


def overlapping_spaces(n_spaces: int, rng: np.random.Generator) -> list[ConstraintSpace]:
    """Random spaces that share lines: each is spanned by five of the same 12 random directions."""
    pool = rng.normal(size=(N, KAPPA))
    return [ConstraintSpace.from_columns(pool[:, rng.permutation(KAPPA)[:5]]) for _ in range(n_spaces)]


@over_draws
def chain_gap(rng: np.random.Generator) -> float:
    """(n_draws,) largest |κ(S) − Σ κ_i(S | earlier)| over all orders of four overlapping spaces (Property 6).

    Each conditional capacity comes from projecting the earlier spaces out of the sum, not from a difference of
    capacities; κ(S) comes from the sum of all spaces at once. S is a random subspace.
    """
    spaces, subspace = overlapping_spaces(4, rng), random_basis(N, N_S, rng)
    total = join(spaces).capacity(subspace)
    return max(abs(total - sum(term.capacity(subspace) for term in chain(order))) for order in permutations(spaces))


def one_free_dimension(n_draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Share of the squared error along a random S, and n_S − κ_S, for 𝒦 of dimension 29 in R^30 (Eq. 7).

    Returns
    -------
    shares : (n_draws,) e_S² / ‖X‖² of an error X in 𝒦^⊥. free : (n_draws,) what Eq. 7 says it is.
    """
    shares, free = np.zeros((2, n_draws))
    for i in range(n_draws):
        basis, subspace = random_basis(N, N - 1, rng), random_basis(N, N_S, rng)
        error = null_space(basis.T)[:, 0] * rng.normal()
        shares[i] = np.sum(np.square(subspace.T @ error)) / np.sum(np.square(error))
        free[i] = N_S - ConstraintSpace.from_columns(basis).capacity(subspace)
    return shares, free


@over_draws
def error_inside(rng: np.random.Generator) -> float:
    """(n_draws,) ‖SᵀX‖ / ‖X‖ for random S inside 𝒦, where it has full capacity, and X in 𝒦^⊥ (section 3.3).

    𝒦 is the space that the package finds for the columns which S is made of.
    """
    columns, drawn = rng.normal(size=(N, KAPPA)), rng.normal(size=N)
    basis = ConstraintSpace.from_columns(columns).basis
    subspace = np.linalg.qr(columns @ random_basis(KAPPA, N_S, rng))[0]
    error = drawn - basis @ (basis.T @ drawn)
    return float(np.linalg.norm(subspace.T @ error) / np.linalg.norm(error))


def layer_chain_gap(alloc: CapacityAllocation) -> float:
    """Largest departure, over the inputs, of the layers' forward and backward chains from κ_i (Property 6)."""
    layers = alloc.layers.values()
    sums = [np.sum([getattr(layer, view) for layer in layers], axis=0) for view in ("forward", "backward")]
    return float(np.abs(np.array(sums) - alloc.per_input).max())


def random_basis(n: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    """(n, dimension) orthonormal basis of a random subspace of R^n; 1 ≤ dimension ≤ n.

    >>> random_basis(4, 2, np.random.default_rng(0)).shape
    (4, 2)
    """
    return np.linalg.qr(rng.normal(size=(n, dimension)))[0]


def spanning_columns(basis: np.ndarray, condition: float, rng: np.random.Generator) -> np.ndarray:
    """(n, k + 1) columns that span the same space as ``basis`` (n, k), neither orthogonal nor independent.

    Parameters
    ----------
    condition : largest over smallest non-zero singular value of the columns, at least 1. One column is redundant.
    """
    k = basis.shape[1]
    scales = np.geomspace(1.0, 1.0 / condition, k)
    return basis @ (random_basis(k, k, rng) * scales) @ random_basis(k + 1, k, rng).T


def pair_at_angle(
    n: int, dimensions: tuple[int, int], angle: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal bases (n, k₁), (n, k₂) of two subspaces whose smallest principal angle is ``angle``.

    Parameters
    ----------
    dimensions : k₁ ≤ k₂, with k₁ + k₂ ≤ n. angle : in radians, from 0 (they share a line) to π/2 (orthogonal).

    The other principal angles are drawn uniformly between ``angle`` and π/2.
    """
    k1, k2 = dimensions
    angles = np.concatenate([[angle], rng.uniform(angle, np.pi / 2, size=k1 - 1)])
    frame = random_basis(n, k1 + k2, rng)
    small, large = frame[:, :k1], frame[:, k1:]
    tilted = small * np.cos(angles) + large[:, :k1] * np.sin(angles)
    second = np.hstack([tilted, large[:, k1:]]) @ random_basis(k2, k2, rng)
    return small @ random_basis(k1, k1, rng), second
