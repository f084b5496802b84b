"""Paper 1, §3 and §4.2: capacity of subspaces, from projectors by pseudo-inverses instead of orthonormal bases."""

import numpy as np
from scipy.linalg import null_space, subspace_angles

from tests.second_hand.optimum import optimum, per_input, predictor

Array = np.ndarray


def projector(*columns: Array) -> Array:
    """Orthogonal projector onto the span of all columns."""
    stacked = np.hstack(columns)
    return stacked @ np.linalg.pinv(stacked, rcond=1e-10)


def capacity(constraints: Array, subspace: Array) -> float:
    """Definition 1 without bases: the trace of the product of the two projectors."""
    return float(np.trace(projector(constraints) @ projector(subspace)))


def isotropic_z() -> float:
    """Eq. 6: largest |simulated − predicted| in standard errors over the 30 inputs, λ of one size and random sign."""
    rng = np.random.default_rng(0)
    K, signs = rng.normal(size=(30, 12)), rng.choice([-1.0, 1.0], (20_000, 18))
    squares = (signs @ null_space(K.T).T) ** 2
    gaps = squares.mean(0) - (1 - np.diag(projector(K)))
    return float(abs(gaps / squares.std(0) * np.sqrt(len(squares))).max())


def angle_gap() -> float:
    """Property 5: largest gap between sup_s |κ₁(s) + κ₂(s) − κ(s)| and the cosine of the smallest principal angle."""
    gaps = []
    for seed in range(100):
        K1, K2 = np.split(np.random.default_rng(seed).normal(size=(30, 12)), [5], 1)
        excess = projector(K1) + projector(K2) - projector(K1, K2)
        gaps.append(abs(np.linalg.norm(excess, 2) - np.cos(subspace_angles(K1, K2)[-1])))
    return max(gaps)


def plane_excess() -> float:
    """§5.1.4 in the plane: marginal less independent capacity of one of two lines at 45°, along the other's normal."""
    line, other, normal = np.array([[1.0], [1]]), np.array([[1.0], [0]]), np.array([[0.0], [1]])
    marginal = capacity(np.hstack([line, other]), normal) - capacity(other, normal)
    return marginal - capacity(line, normal)


def model_ratio() -> float:
    """§3.3: largest x_i² over ‖X‖²(1 − κ_i) at the inputs of the trained one-channel model."""
    found = optimum("power law", 1)
    return float((found.error**2 / (found.error @ found.error * (1 - per_input(found)))).max())


def real_roots(*polynomial: float) -> Array:
    """Real roots of a polynomial, highest power first."""
    roots = np.roots(polynomial)
    return roots[abs(roots.imag) < 1e-12].real


def parabola_critical() -> int:
    """§4.2 for A = (w, w²), Σ = 1 and target (1, 0): real roots of K̃(w)ᵀX(w) = (w − 1) + 2w·w²."""
    return len(real_roots(2, 0, 1, -1))


def parabola_crossings() -> int:
    """§4.2: real w for which X(w) is orthogonal to K̃ at that optimum w₀: roots of (w − 1) + 2w₀·w²."""
    [optimal] = real_roots(2, 0, 1, -1)
    return len(real_roots(2 * optimal, 1, -1))


def printed_order() -> float:
    """Eq. 31 as printed, c₁ with the oldest sample: variance of the error with coefficients in that order, over v*."""
    covariance = optimum("power law", 1).covariance
    best = predictor("power law", 64)
    c = (2.0 + np.arange(64)) ** -0.5

    def variance(weights: Array) -> float:
        return float(1 - 2 * weights @ c + weights @ covariance @ weights)

    return variance(best[::-1]) / variance(best)
