"""Every choice of an analysis, in records that go into the report: what paper 3 and its tool leave open, as options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from capcore.checkpoints.tensors import Checkpoint
from capcore.gate import of_kind, plain_fields, real
from capcore.spectra.alternatives import ALTERNATIVES
from capcore.spectra.eigenvalues import Lengths
from capcore.spectra.layers import ARRANGEMENTS, LAYOUTS, Layer, Layers, by_pattern, find_layers
from capcore.spectra.noise import NULLS, QUANTILES
from capcore.spectra.power_law import check_ends
from capcore.validation import finite_number, one_of, positive_integer

DIVISORS = ("larger side", "nothing")
TOOL = "weightwatcher"


@dataclass(frozen=True)
class DensityOptions:
    """How densities are computed. Each density carries the options that it was computed with.

    Attributes
    ----------
    arrangement : str
        Of a convolution. ``slices``: one density per tap, the feature maps of paper 3. ``pooled``: the eigenvalues of
        all slices in one density. ``unfolded``: (out, in·taps). ``operator``: the map itself, circular.
    divide_by : str
        N of paper 3, Eq. 2: ``larger side`` of the matrix (of one frequency's, for ``operator``), or ``nothing``.
    scale : float or str
        Factor on the weights; ``weightwatcher`` is that of WeightWatcher 0.7.7: √½ for pooled slices, √(taps/2) for
        single ones, 1 for linear layers.
    grid : int, sequence of int or mapping, optional
        For ``operator``, see :func:`~capcore.spectra.eigenvalues.operator_spectra`; the same for all layers, or by
        pattern of names.
    stride, dilation : int, sequence of int or mapping
        Likewise.
    null : str, optional
        ``shuffled`` or ``gaussian`` weights in place of the layer's.
    seed, draw : int
        Of the null.
    minimum : int
        Fewest eigenvalues of a matrix worth a density: its shorter side, of all groups together, and for ``operator``
        of all frequencies. Other matrices that are pooled with it do not count: they add values, and no rank.
    maximum : int
        Longest shorter side of a matrix worth its time.

    Examples
    --------
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
        plain_fields(self)
        of_kind(self.scale, "scale", float | int | np.floating | np.integer | str, "a number")
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
            return float(np.sqrt(fitted_alone / 2)) if layer.is_convolution else 1.0
        return float(self.scale)

    def divisor(self, shape: tuple[int, int]) -> float:
        """N for matrices of a shape."""
        return float(max(shape)) if self.divide_by == "larger side" else 1.0

    def lengths(self, name: str, layer: Layer) -> Lengths | None:
        """``grid``, ``stride`` or ``dilation`` of a layer; ``None`` for a grid that no pattern gives."""
        value = getattr(self, name)
        return by_pattern(value, layer.name, None if name == "grid" else 1) if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class SpectraOptions:
    """Choices of :func:`~capcore.spectra.analysis.analyse_spectra`.

    Attributes
    ----------
    density : DensityOptions
        Which matrices of a layer, what their eigenvalues are divided by, and so on.
    kinds, groups : mapping, optional
        What shapes do not tell, as for :func:`~capcore.spectra.layers.find_layers`.
    transposed : tuple of str
        As there.
    layout : str
        As there.
    x_min : float, optional
        Lower end of the tail; None chooses it by Clauset's method.
    tail_share : float, optional
        Share of the positive eigenvalues that are the tail instead, such as 0.5; unlike ``x_min`` it means the same in
        every layer.
    x_max, threshold : float, optional
        As for :func:`~capcore.spectra.power_law.fit_power_law`.
    min_tail : int
        As there.
    n_resamples : int
        Of the bootstrap interval; 0 leaves it out.
    confidence : float
        Nominal coverage of the interval.
    n_simulations : int
        Of the goodness-of-fit test; 0 leaves it out.
    alternatives : tuple of str
        Laws that the power law is compared with, none of them with an x_max.
    level : float
        P-values up to it decide between two laws.
    bulk_level : float
        Of the edge of noise, above which eigenvalues count as spikes.
    null : str, optional
        ``shuffled`` or ``gaussian`` weights that every spectrum is compared with.
    n_null : int
        How many draws of the null.
    seed : int
        Of nulls, bootstrap and simulations. Every layer has a generator of its own.

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
    x_min: float | None = None
    tail_share: float | None = None
    x_max: float | None = None
    min_tail: int = 2
    threshold: float | None = None
    n_resamples: int = 0
    confidence: float = 0.95
    n_simulations: int = 0
    alternatives: tuple[str, ...] = ALTERNATIVES
    level: float = 0.1
    bulk_level: float = 0.99
    null: str | None = None
    n_null: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        plain_fields(self)
        real(self.threshold, "threshold", True)
        check_ends(self.x_min, self.x_max)
        one_of(self.layout, "layout", LAYOUTS)
        for name, least in (("min_tail", 2), ("n_resamples", 0), ("n_simulations", 0), ("n_null", 1), ("seed", 0)):
            positive_integer(getattr(self, name), name, least)
        for name in ("confidence", "level"):
            if not 0 < finite_number(getattr(self, name), name) < 1:
                raise ValueError(f"{name}: found {getattr(self, name)!r}, expected a number between 0 and 1.")
        if self.bulk_level not in QUANTILES:
            known = ", ".join(map(str, QUANTILES))
            raise ValueError(f"bulk_level: found {self.bulk_level!r}, expected one of {known}.")
        for name in self.alternatives:
            one_of(name, "alternatives", ALTERNATIVES)
        if self.null is not None:
            one_of(self.null, "null", NULLS)
        if self.tail_share is not None:
            if not 0 < finite_number(self.tail_share, "tail_share") <= 1:
                raise ValueError(f"tail_share: found {self.tail_share!r}, expected a share above 0 and at most 1.")
            if self.x_min is not None or self.x_max is not None:
                raise ValueError("tail_share: found x_min or x_max besides, expected one way to choose the tail.")
        if self.null is not None and self.density.null is not None:
            raise ValueError(
                f"null: found {self.null!r} and density.null = {self.density.null!r}, expected one of the two: "
                "the first compares the layers with a null, the second analyses a null in their place."
            )

    def layers(self, checkpoint: Checkpoint) -> Layers:
        """The layers of a checkpoint, told apart as the options say."""
        return find_layers(
            checkpoint, kinds=self.kinds, groups=self.groups, transposed=self.transposed, layout=self.layout
        )

    def null_density(self, draw: int) -> DensityOptions:
        """Options of the densities of one draw of the null."""
        return replace(self.density, null=self.null, seed=self.seed, draw=draw)

    def to_dict(self) -> dict[str, Any]:
        """The options as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SpectraOptions:
        """The options that :meth:`to_dict` wrote, also by way of JSON, which has no tuples."""
        density = DensityOptions(**{name: _tuples(value) for name, value in values["density"].items()})
        known = {entry.name for entry in fields(cls)}
        others = {name: _tuples(value) for name, value in values.items() if name in known and name != "density"}
        return cls(density, **others)


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return {key: _tuples(entry) for key, entry in value.items()} if isinstance(value, dict) else value
