"""Every choice of an analysis in one record, which goes into the report that it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from capcore.spectra.alternatives import ALTERNATIVES
from capcore.spectra.layers import LAYOUTS, Layers, find_layers
from capcore.spectra.nulls import NULLS
from capcore.spectra.options import DensityOptions
from capcore.spectra.power_law import check_ends
from capcore.spectra.tensors import Checkpoint
from capcore.spectra.tracy_widom import QUANTILES
from capcore.validation import finite_number, one_of, positive_integer


@dataclass(frozen=True)
class SpectraOptions:
    """Choices of :func:`~capcore.spectra.analysis.analyse_spectra`.

    Attributes
    ----------
    density : which matrices of a layer, what their eigenvalues are divided by, and so on.
    kinds, groups, transposed, layout : what shapes do not tell, as for :func:`~capcore.spectra.layers.find_layers`.
    x_min : lower end of the tail; None chooses it by Clauset's method. tail_share : share of the positive eigenvalues
        that are the tail instead, such as 0.5; unlike ``x_min`` it means the same in every layer.
    x_max, min_tail, threshold : as for :func:`~capcore.spectra.power_law.fit_power_law`.
    n_resamples, confidence : of the bootstrap interval; 0 leaves it out.
    n_simulations : of the goodness-of-fit test; 0 leaves it out.
    alternatives, level : laws that the power law is compared with, none of them with an x_max.
    bulk_level : of the edge of noise, above which eigenvalues count as spikes.
    null, n_null : ``shuffled`` or ``gaussian`` weights that every spectrum is compared with, and how many draws.
    seed : of nulls, bootstrap and simulations. Every layer has a generator of its own.

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
