"""Leverage scores from projections of random vectors, by conjugate gradients, with a ridge and a bound on every error.

With C = [B; √μ I] the projection on the columns of C is that of a full-rank matrix with a known smallest singular value
√μ, and its upper diagonal block is B(BᵀB + μ)⁻¹Bᵀ: the ridge leverage scores. A Gaussian vector (z, z') is projected by
solving min ‖Cx − (z, z')‖; y = Bx and w = z − y are then what :mod:`capcore.sketch.result` needs. The solver stops
anywhere: the error of y is at most ‖Cᵀr‖ / (2√μ), with the residual r computed afresh.

Ridge scores never exceed leverage scores, and since these sum to κ, which exact arithmetic gives, what the ridge hides
is bounded. B = K̃N, where N flattens the largest singular values (a sketch of K̃ᵀ; Frangella, Tropp & Udell 2023), so
that the ridge is small against the bulk of the spectrum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import svd
from tqdm import tqdm

from capcore.sketch.exact import OVERSAMPLING
from capcore.sketch.operators import ConstraintOperator

POWER_STEPS = 10
FLATTEST = 1e-6  # relative singular value down to which the spectrum is flattened: rounding grows as its inverse


class Probes(NamedTuple):
    """Sums over the probes.

    Attributes
    ----------
    inside, outside : (n,) sums of y² and w². error : bound on the norm of all errors of y together.
    n_iterations : the most that any probe took.
    """

    inside: np.ndarray
    outside: np.ndarray
    error: float
    n_iterations: int


class Flattened:
    """B = K̃ N / ‖K̃ N‖ with N = I + V (s_k/s − 1) Vᵀ, V and s the leading singular pairs of a row sketch."""

    def __init__(self, operator: ConstraintOperator, deflate: int, rng: np.random.Generator, bar: tqdm) -> None:
        self.operator = operator
        n, p = operator.products.n_rows, operator.products.n_params
        k = min(deflate, n, p)
        self.vectors, self.factors, self.norm = np.empty((p, 0)), np.empty(0), 1.0
        if k:
            u, s, _ = svd(operator.row_sketch(k + OVERSAMPLING, rng, bar), full_matrices=False, check_finite=False)
            k = min(k, int(np.count_nonzero(s > FLATTEST * s[0])))
            if k:
                self.vectors, self.factors = u[:, :k], s[k - 1] / s[:k] - 1
        x = rng.normal(size=(p, 1))
        for _ in range(POWER_STEPS):
            x = self.backward(self.forward(x))
            size = float(np.linalg.norm(x))
            if size == 0:
                return
            x = x / size
        self.norm = float(np.sqrt(size))

    def _precondition(self, x: np.ndarray) -> np.ndarray:
        return x + self.vectors @ (self.factors[:, None] * (self.vectors.T @ x))

    def forward(self, x: np.ndarray) -> np.ndarray:
        """(n, m) B X."""
        return self.operator.forward(self._precondition(x)) / self.norm

    def backward(self, u: np.ndarray) -> np.ndarray:
        """(n_params, m) Bᵀ U."""
        return self._precondition(self.operator.backward(u)) / self.norm


def project_probes(
    operator: Flattened,
    n_probes: int,
    ridge: float,
    rng: np.random.Generator,
    tolerance: float,
    max_iterations: int,
    bar: tqdm,
) -> Probes:
    """Projections of ``n_probes`` Gaussian vectors, each to an error of ``tolerance`` or ``max_iterations`` steps.

    Parameters
    ----------
    ridge : √μ, relative to the largest singular value of B (about 1).
    """
    products = operator.operator.products
    inside, outside = np.zeros((2, products.n_rows))
    squared_error, steps = 0.0, 0
    for part in products.blocks(n_probes):
        width = part.stop - part.start
        z, below = rng.normal(size=(products.n_rows, width)), rng.normal(size=(products.n_params, width))
        x, count = _least_squares(operator, z, below, ridge, tolerance, max_iterations)
        y = operator.forward(x)
        gradient = operator.backward(z - y) + ridge * (below - ridge * x)
        squared_error += float(np.square(gradient).sum()) / (2 * ridge) ** 2
        inside += np.square(y).sum(axis=1)
        outside += np.square(z - y).sum(axis=1)
        steps = max(steps, count)
        bar.update(width)
    return Probes(inside, outside, float(np.sqrt(squared_error)), steps)


def _least_squares(
    operator: Flattened, z: np.ndarray, below: np.ndarray, ridge: float, tolerance: float, max_iterations: int
) -> tuple[np.ndarray, int]:
    """Columns x that minimise ‖Bx − z‖² + ‖√μ x − below‖², by CGLS for all columns at once, and the steps taken.

    SciPy's LSMR takes one right-hand side at a time; products with a block cost a tenth as much per column.
    """
    x = np.zeros_like(below)
    upper, lower = z.copy(), below.copy()
    gradient = operator.backward(upper) + ridge * lower
    direction, size = gradient, np.square(gradient).sum(axis=0)
    for step in range(max_iterations):
        active = np.sqrt(size) > 2 * ridge * tolerance
        if not active.any():
            return x, step
        image = operator.forward(direction)
        curvature = np.square(image).sum(axis=0) + ridge**2 * np.square(direction).sum(axis=0)
        length = np.where(active, size / np.where(curvature > 0, curvature, 1.0), 0.0)
        x += length * direction
        upper -= length * image
        lower -= length * ridge * direction
        gradient = operator.backward(upper) + ridge * lower
        previous, size = size, np.where(active, np.square(gradient).sum(axis=0), size)
        direction = gradient + np.where(active, size / np.where(previous > 0, previous, 1.0), 0.0) * direction
    return x, max_iterations
