"""Every choice of an analysis that paper 3 and its tool leave open, as options that are recorded in the report.

A report and :func:`~capcore.spectra.analysis.analyse_spectra` take :func:`usual_options` where nothing else is chosen,
and so does ``capcore spectra``. Options that are given compute only what they ask for: no null, interval or p-value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from capcore.checkpoints.tensors import Checkpoint
from capcore.checks.arguments import finite_number, one_of, plain_fields, positive_integer
from capcore.results.notebook import Record
from capcore.spectra.alternatives import ALTERNATIVES
from capcore.spectra.layers import ARRANGEMENTS, LAYOUTS, Layer, Layers, by_pattern, find_layers
from capcore.spectra.noise import NULLS

DIVISORS = ("larger side", "nothing")
TOOL, SLICED = "weightwatcher", ("slices", "pooled")
VIEW = "pooled"
"""Usual matrices of a convolution: all slices, in one spectrum."""
DRAWS = 100
"""Usual draws of the null, so that the smallest p-value is 2/101."""
RESAMPLES = 100
"""Usual resamples for the bootstrap interval."""
LONGEST = 8192
"""Largest number of eigenvalues for which there is an interval unless its resamples are chosen."""
NULL = "shuffled"


@dataclass(frozen=True)
class DensityOptions:
    """How densities are computed. Each density keeps the options that it was computed with.

    Attributes
    ----------
    arrangement : str
        Which matrices are made of a convolution. ``pooled``: one per tap, all eigenvalues in one density. ``slices``:
        the same matrices, each with its own density, the feature maps of paper 3. ``unfolded``: one matrix
        (out, in·taps). ``operator``: the linear map that the layer applies, with circular padding.
    divide_by : str
        N of paper 3, Eq. 2: the ``larger side`` of the matrix, or ``nothing``. For ``operator`` it is the side of the
        matrix at one frequency.
    scale : str, optional
        ``weightwatcher`` multiplies the weights by the factor of WeightWatcher 0.7.7: √½ for pooled slices, √(taps/2)
        for single slices, and 1 for linear layers.
    grid : int or mapping, optional
        Input positions for ``operator``, as in :func:`~capcore.spectra.eigenvalues.operator_spectra`: one number for
        all layers, or a mapping from patterns of names to numbers.
    stride : int or mapping
        Likewise.
    null : str, optional
        Analyse ``shuffled`` or ``gaussian`` weights in place of the layer's own.
    seed, draw : int
        Seed of the null, and which draw of it to take.
    minimum : int
        Smallest number of eigenvalues for which a density is computed. It counts the shorter side of a matrix, for all
        groups together and, for ``operator``, for all frequencies. Pooling does not raise the count, because other
        matrices add values but no rank.
    maximum : int
        Largest shorter side of a matrix that is analysed, to limit the computing time.

    Examples
    --------
    >>> DensityOptions(arrangement="pooled", divide_by="nothing").minimum
    10
    """

    arrangement: str = VIEW
    divide_by: str = "larger side"
    scale: str | None = None
    grid: int | Mapping[str, int] | None = None
    stride: int | Mapping[str, int] = 1
    null: str | None = None
    seed: int = 0
    draw: int = 0
    minimum: int = 10
    maximum: int = 2**14

    def __post_init__(self) -> None:
        plain_fields(self)
        one_of(self.arrangement, "arrangement", ARRANGEMENTS)
        one_of(self.divide_by, "divide_by", DIVISORS)
        if self.null is not None:
            one_of(self.null, "null", NULLS)
        if self.scale is not None and one_of(self.scale, "scale", [TOOL]) and self.arrangement not in SLICED:
            raise ValueError(f"scale: found {TOOL!r} for {self.arrangement!r}, expected it for 'slices' or 'pooled'.")
        if (self.arrangement == "operator") != (self.grid is not None):
            raise ValueError(f"grid: found {self.grid!r} for {self.arrangement!r}, expected one for 'operator' only.")
        for name, least in (("seed", 0), ("draw", 0), ("minimum", 1), ("maximum", 1)):
            positive_integer(getattr(self, name), name, least)
        for name in ("grid", "stride"):
            value = getattr(self, name)
            for number in value.values() if isinstance(value, Mapping) else [value or 1]:
                positive_integer(number, name)

    def factor(self, layer: Layer) -> float:
        """The factor by which the weights of a layer are multiplied."""
        taps = math.prod(layer.kernel) if self.arrangement == "slices" else 1
        return math.sqrt(taps / 2) if self.scale == TOOL and layer.is_convolution else 1.0

    def divisor(self, shape: tuple[int, int]) -> float:
        """The divisor N for matrices of the given shape."""
        return float(max(shape)) if self.divide_by == "larger side" else 1.0

    def grid_of(self, layer: Layer) -> int:
        """Input positions of a layer along each axis, or 0 if no pattern fits its name."""
        return by_pattern(self.grid, layer.name, 0) if isinstance(self.grid, Mapping) else self.grid or 0

    def stride_of(self, layer: Layer) -> int:
        """Stride of a layer, 1 if no pattern fits its name."""
        return by_pattern(self.stride, layer.name, 1) if isinstance(self.stride, Mapping) else self.stride


@dataclass(frozen=True, repr=False)
class SpectraOptions(Record):
    """The options of :func:`~capcore.spectra.analysis.analyse_spectra`.

    Attributes
    ----------
    density : DensityOptions
        How densities are computed: which matrices of a layer, the divisor of their eigenvalues, and so on.
    kinds, groups : mapping, optional
        What shapes alone do not show, as in :func:`~capcore.spectra.layers.find_layers`.
    transposed : tuple of str
        Likewise.
    layout : str
        Likewise.
    tail_share : float, optional
        Share of the positive eigenvalues that forms the tail, such as 0.5. By default the lower end of the tail is
        chosen by Clauset's method.
    min_tail : int
        As in :func:`~capcore.spectra.power_law.fit_power_law`.
    n_resamples : int
        Number of resamples for the bootstrap interval; 0 skips it.
    n_simulations : int
        Number of simulations for the goodness-of-fit test; 0 skips it.
    alternatives : tuple of str
        Laws with which the power law is compared.
    null : str, optional
        Compare every spectrum with those of ``shuffled`` or ``gaussian`` weights.
    n_null : int
        Number of draws of the null.
    seed : int
        Seed of nulls, bootstrap and simulations. Every layer has its own generator.
    permute : bool
        Draw the null of every layer from its own weights, instead of drawing noise once for all layers of a shape
        (:mod:`capcore.spectra.nulls`).
    truncated : bool
        Also fit the truncated power law to each tail.
    longest : int, optional
        Largest number of eigenvalues for which an interval is computed.

    Examples
    --------
    >>> SpectraOptions(null="shuffled").null_density(3).draw
    3
    """

    density: DensityOptions = field(default_factory=DensityOptions)
    kinds: Mapping[str, str] | None = None
    groups: Mapping[str, int] | None = None
    transposed: tuple[str, ...] = ()
    layout: str = "channels-first"
    tail_share: float | None = None
    min_tail: int = 2
    n_resamples: int = 0
    n_simulations: int = 0
    alternatives: tuple[str, ...] = ALTERNATIVES
    null: str | None = None
    n_null: int = 20
    seed: int = 0
    permute: bool = False
    truncated: bool = False
    longest: int | None = None

    def __post_init__(self) -> None:
        plain_fields(self)
        for name, value in vars(self).items():
            if isinstance(value, np.generic):  # reports are written as JSON, which knows Python's numbers only
                vars(self)[name] = value.item()
        one_of(self.layout, "layout", LAYOUTS)
        for name, least in (("min_tail", 2), ("n_resamples", 0), ("n_simulations", 0), ("n_null", 1), ("seed", 0)):
            positive_integer(getattr(self, name), name, least)
        for name in self.alternatives:
            one_of(name, "alternatives", ALTERNATIVES)
        if self.null is not None:
            one_of(self.null, "null", NULLS)
        if self.tail_share is not None and not 0 < finite_number(self.tail_share, "tail_share") <= 1:
            raise ValueError(f"tail_share: found {self.tail_share!r}, expected a share above 0 and at most 1.")
        if self.null is not None and self.density.null is not None:
            raise ValueError(
                f"null: found {self.null!r} and density.null = {self.density.null!r}, expected one of the two."
            )

    def layers(self, checkpoint: Checkpoint) -> Layers:
        """Find the layers of a checkpoint, with the options that bear on what counts as one."""
        if checkpoint.format == "hdf5" and self.layout == "channels-last":
            raise ValueError("layout: found channels-last for Keras, expected channels-first: reading turns kernels.")
        return find_layers(
            checkpoint, kinds=self.kinds, groups=self.groups, transposed=self.transposed, layout=self.layout
        )

    def null_density(self, draw: int) -> DensityOptions:
        """The density options for one draw of the null."""
        return replace(self.density, null=self.null, seed=self.seed, draw=draw)


def usual_options(*, fast: bool = False, **changes: Any) -> SpectraOptions:
    """The options of a report, with changes.

    Parameters
    ----------
    fast : bool
        Leave out the null, the intervals and other laws, unless ``changes`` name them.
    **changes : object
        Fields of :class:`SpectraOptions`. ``n_null`` or ``n_resamples`` of None stand for the usual numbers.

    Examples
    --------
    >>> usual_options().n_null, usual_options(fast=True).null, usual_options(fast=True, n_resamples=50).n_resamples
    (100, None, 50)
    """
    chosen = {name: value for name, value in changes.items() if value is not None or not name.startswith("n_")}
    usual = {"null": NULL, "n_null": DRAWS, "n_resamples": RESAMPLES, "longest": LONGEST}
    if fast:
        usual |= {"null": NULL if "n_null" in chosen else None, "n_resamples": 0, "alternatives": ()}
    if "n_resamples" in chosen:
        usual["longest"] = None
    return SpectraOptions(**(usual | chosen))  # type: ignore[arg-type]
