"""How spectral densities are computed: what the paper and the reference tool leave between the lines, as options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from capcore.spectra.layers import Layer, by_pattern
from capcore.spectra.matrices import ARRANGEMENTS
from capcore.spectra.nulls import NULLS
from capcore.validation import finite_number, one_of, positive_integer

DIVISORS = ("larger side", "nothing")
TOOL = "weightwatcher"
Lengths: TypeAlias = int | tuple[int, ...]
"""One number for all axes of a kernel, or one for each."""


@dataclass(frozen=True)
class DensityOptions:
    """How densities are computed. Each density carries the options that it was computed with.

    Attributes
    ----------
    arrangement : of a convolution. ``slices``: one density per tap, the paper's feature maps. ``pooled``: the
        eigenvalues of all slices in one density. ``unfolded``: (out, in·taps). ``operator``: the map itself, circular.
    divide_by : N of Eq. 2. ``larger side`` of the matrix (of one frequency's, for ``operator``), or ``nothing``.
    scale : factor on the weights; ``weightwatcher`` is that of WeightWatcher 0.7.7: √½ for pooled slices, √(taps/2)
        for single ones, 1 for linear layers.
    grid, stride, dilation : for ``operator``, see :func:`~capcore.spectra.operator.operator_spectra`; the same for all
        layers, or by pattern of names.
    null : ``shuffled`` or ``gaussian`` weights in place of the layer's. seed, draw : of the null.
    minimum, maximum : fewest eigenvalues worth a density, and longest shorter side of a matrix worth its time.

    >>> DensityOptions(arrangement="pooled", divide_by="nothing").minimum
    10
    """

    arrangement: str = "slices"
    divide_by: str = "larger side"
    scale: float | str = 1.0
    grid: Lengths | Mapping[str, Lengths] | None = None
    stride: Lengths | Mapping[str, Lengths] = 1
    dilation: Lengths | Mapping[str, Lengths] = 1
    null: str | None = None
    seed: int = 0
    draw: int = 0
    minimum: int = 10
    maximum: int = 2**14

    def __post_init__(self) -> None:
        one_of(self.arrangement, "arrangement", ARRANGEMENTS)
        one_of(self.divide_by, "divide_by", DIVISORS)
        if self.null is not None:
            one_of(self.null, "null", NULLS)
        expected = f"a positive factor or {TOOL!r}"
        if self.scale != TOOL and finite_number(self.scale, "scale", expected) <= 0:
            raise ValueError(f"scale: found {self.scale!r}, expected {expected}.")
        if self.scale != TOOL and not 1e-100 <= float(self.scale) <= 1e100:
            raise ValueError(f"scale: found {self.scale!r}, expected 1e-100 to 1e100, whose square is a number.")
        if self.scale == TOOL and self.arrangement not in ("slices", "pooled"):
            raise ValueError(
                f"scale: found {TOOL!r} for the arrangement {self.arrangement!r}, expected it for 'slices' or "
                "'pooled'. Use a number."
            )
        if (self.arrangement == "operator") != (self.grid is not None):
            raise ValueError(
                f"grid: found {self.grid!r} for the arrangement {self.arrangement!r}, expected positions of the input "
                "for 'operator' and None for the others."
            )
        for name, least in (("seed", 0), ("draw", 0), ("minimum", 1), ("maximum", 1)):
            positive_integer(getattr(self, name), name, least)

    def factor(self, layer: Layer) -> float:
        """What the weights of a layer are multiplied by."""
        if isinstance(self.scale, str):
            fitted_alone = np.prod(layer.kernel) if self.arrangement == "slices" else 1
            return float(np.sqrt(fitted_alone / 2)) if layer.kernel else 1.0
        return float(self.scale)

    def divisor(self, shape: tuple[int, int]) -> float:
        """N for matrices of a shape."""
        return float(max(shape)) if self.divide_by == "larger side" else 1.0

    def lengths(self, name: str, layer: Layer) -> Lengths | None:
        """``grid``, ``stride`` or ``dilation`` of a layer; ``None`` for a grid that no pattern gives."""
        value = getattr(self, name)
        return by_pattern(value, layer.name, None if name == "grid" else 1) if isinstance(value, Mapping) else value
