"""tr M(M + s)⁻¹ for all s at once, of a matrix that is known by its products: stochastic Lanczos quadrature.

For a random sign vector z the expectation of zᵀM(M + s)⁻¹z is the trace, and this number is an integral over the
spectrum of M. A few Lanczos steps from z give nodes and weights that serve every s (Ubaru, Chen and Saad, 2017). Gauss
quadrature gives too much, and Gauss–Radau quadrature with a node at 0 too little (Golub and Meurant, 1994): the
truth for this z lies between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eigh_tridiagonal

from capcore.checks.memory import arrays, fits, too_large


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Lanczos' tridiagonal matrices of a positive semidefinite matrix (n, n), one from each random vector.

    Attributes
    ----------
    diagonals : (m, steps) array
    below : (m, steps − 1) array
        The entries beside the diagonal; 0 from where the vector's own spectrum was exhausted.
    size : int
        n.
    """

    diagonals: np.ndarray = field(repr=False)
    below: np.ndarray = field(repr=False)
    size: int

    def totals(self, s: float) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds (m,) of zᵀM(M + s)⁻¹z for each vector, s > 0."""
        pairs = [self._bounds(*each, s) for each in zip(self.diagonals, self.below, strict=True)]
        lower, upper = np.array(pairs).T
        return lower, upper

    def _bounds(self, diagonal: np.ndarray, below: np.ndarray, s: float) -> tuple[float, float]:
        ended = np.flatnonzero(below == 0)
        if ended.size or diagonal.size == self.size:
            last = int(ended[0]) + 1 if ended.size else diagonal.size
            exact = self._share(diagonal[:last], below[: last - 1], s)
            return exact, exact
        if diagonal.size == 1:
            return 0.0, self._share(diagonal, below, s)
        pivot = diagonal[0]
        for above, entry in zip(diagonal[1:-1], below[:-1], strict=True):
            pivot = above - entry**2 / pivot
        fixed = np.append(diagonal[:-1], below[-1] ** 2 / pivot)
        return self._share(fixed, below, s), self._share(diagonal, below, s)

    def _share(self, diagonal: np.ndarray, below: np.ndarray, s: float) -> float:
        nodes, vectors = eigh_tridiagonal(diagonal, below)
        nodes = np.maximum(nodes, 0.0)
        return self.size * float(np.square(vectors[0]) @ (nodes / (nodes + s)))


def quadrature(
    product: Callable[[np.ndarray], np.ndarray], size: int, probes: int, steps: int, rng: np.random.Generator
) -> Quadrature:
    """Lanczos' method from random sign vectors, every step made orthogonal to all before it.

    Parameters
    ----------
    product : callable
        (m, n) → (m, n), M times each row.
    size : int
        n.
    probes, steps : int
        Numbers m of random vectors and of products with each.
    rng : Generator

    Raises
    ------
    TooLargeError
        If the vectors would not fit into memory.

    Examples
    --------
    >>> found = quadrature(lambda v: v * np.arange(4.0), 4, 2, 4, np.random.default_rng(0))
    >>> found.totals(1.0)[0].round(9).tolist()  # 1/2 + 2/3 + 3/4, exact for a diagonal matrix
    [1.916666667, 1.916666667]
    """
    steps = min(steps, size)
    n_bytes = arrays(probes, steps + 3, size)
    if not fits(n_bytes):
        found = f"quadrature: found {size:,} parameters, {probes} probes of {steps} steps"
        raise too_large(found, n_bytes, "Use fewer probes or steps.")
    basis = np.zeros((probes, steps, size))
    basis[:, 0] = rng.choice([-1.0, 1.0], size=(probes, size)) / np.sqrt(size)
    diagonals, below = np.zeros((probes, steps)), np.zeros((probes, steps - 1))
    for i in range(steps):
        image = product(basis[:, i])
        diagonals[:, i] = np.einsum("mp,mp->m", basis[:, i], image)
        if i == steps - 1:
            break
        scale = np.maximum(np.linalg.norm(image, axis=1), diagonals[:, : i + 1].max(axis=1))
        done = basis[:, : i + 1]
        for _ in range(2):
            image = image - np.einsum("mi,mip->mp", np.einsum("mip,mp->mi", done, image), done)
        length = np.linalg.norm(image, axis=1)
        goes_on = length > size * np.finfo(float).eps * scale
        below[:, i] = np.where(goes_on, length, 0.0)
        basis[:, i + 1] = image * np.divide(1.0, length, out=np.zeros(probes), where=goes_on)[:, None]
    return Quadrature(diagonals, below, size)
