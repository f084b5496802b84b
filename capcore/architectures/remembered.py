"""An architecture whose code is not at hand: what a saved result still knows about the model that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from capcore.architectures.base import DenseJacobian


@dataclass(frozen=True, eq=False)
class Remembered(DenseJacobian):
    """What is known of a model of your own after loading: its sizes and its name, and not its function.

    Files hold no code, so a function cannot be saved. Build the model again and pass it in the place of this one.

    Attributes
    ----------
    name : str
        Its class.
    described : str
        Its text, as it was.
    n_inputs, input_dim, n_params : int
        As in every architecture.
    layers : dict
        Layer name → slice of the parameter vector.

    Examples
    --------
    >>> Remembered("Function", "Function(f, …)", 4, 1, 2, {}).coefficients([1.0, 2.0])
    Traceback (most recent call last):
    ...
    ValueError: arch: found a loaded result without its function, Function(f, …), which no file can hold; expected the \
model itself. Build it again, and pass it with the loaded parameters.
    """

    name: str
    described: str
    n_inputs: int
    input_dim: int
    n_params: int
    layers: Mapping[str, slice] = field(repr=False)  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self.described

    def coefficients(self, params: object) -> NoReturn:
        """Raise ``ValueError``: the function is not at hand."""
        raise ValueError(
            f"arch: found a loaded result without its function, {self.described}, which no file can hold; expected the "
            "model itself. Build it again, and pass it with the loaded parameters."
        )

    def jacobian(self, params: object) -> NoReturn:
        """Raise ``ValueError``, as :meth:`coefficients` does."""
        self.coefficients(params)

    def init(self, rng: np.random.Generator) -> NoReturn:
        """Raise ``ValueError``, as :meth:`coefficients` does."""
        self.coefficients(None)

    def generic_capacity(self) -> NoReturn:
        """Raise ``ValueError``, as :meth:`coefficients` does; a loaded allocation still has its ``generic_total``."""
        self.coefficients(None)
