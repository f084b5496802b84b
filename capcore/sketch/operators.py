"""K̃ = ΣJD as an operator: the constraint matrix with columns of about unit length.

Whatever invertible matrix D stands on the right, the column space, and so every capacity, stays the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from capcore.sketch.covariance import Product
from capcore.sketch.products import JacobianProducts

SCALE_PROBES = 8


@dataclass(frozen=True, eq=False)
class ConstraintOperator:
    """Products with the constraint matrix.

    Attributes
    ----------
    products : of the Jacobian J. covariance : X ↦ ΣX.
    scales : (n_params,) D: approximate inverse lengths of the columns of J.
    """

    products: JacobianProducts
    covariance: Product
    scales: np.ndarray

    @classmethod
    def balanced(cls, products: JacobianProducts, covariance: Product, rng: np.random.Generator) -> ConstraintOperator:
        """With lengths from random products Jᵀz, right to some tens of percent whatever the scale of a layer.

        Raises ``ValueError`` for products of the wrong shape or with values that are not finite.
        """
        probes = rng.normal(size=(products.n_rows, SCALE_PROBES))
        seen = checked(products.backward(probes), (products.n_params, SCALE_PROBES), "backward")
        largest = np.abs(seen).max(axis=1)
        largest[largest == 0] = 1.0
        lengths = largest * np.sqrt(np.mean(np.square(seen / largest[:, None]), axis=1))
        lengths[lengths == 0] = 1.0
        return cls(products, covariance, 1 / lengths)

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """(n, m) J D X for X (n_params, m)."""
        scaled = self.scales[:, None] * x
        return checked(self.products.forward(scaled), (self.products.n_rows, x.shape[1]), "forward")

    def range_sketch(self, count: int, rng: np.random.Generator, bar: tqdm) -> np.ndarray:
        """(n, count) J D Ω with Gaussian Ω; from n_params columns on, J D itself."""
        n_params = self.products.n_params
        count = min(count, n_params)
        sketch = np.empty((self.products.n_rows, count), order="F")
        for part in self.products.blocks(count):
            width = part.stop - part.start
            if count == n_params:
                omega = np.zeros((n_params, width))
                omega[np.arange(part.start, part.stop), np.arange(width)] = 1.0
            else:
                omega = rng.normal(size=(n_params, width)) / np.sqrt(count)
            sketch[:, part] = self.jacobian(omega)
            bar.update(width)
        return sketch


def checked(values: np.ndarray, shape: tuple[int, int], name: str) -> np.ndarray:
    """What a product returned, if it has the right shape and is finite."""
    array = np.asarray(values)
    if array.shape != shape:
        raise ValueError(
            f"{name}: found a product of shape {array.shape}, expected {shape}: one column per column given."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: found NaN or infinite values in a product, expected finite ones. Look at the model.")
    return array
