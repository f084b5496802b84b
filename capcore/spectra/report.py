"""What an analysis found, with where it came from: a record that turns into tables, JSON and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from capcore.gate import all_of_kind
from capcore.spectra.densities import Density
from capcore.spectra.layers import Skipped
from capcore.spectra.metrics import SpectrumMetrics
from capcore.spectra.models import ModelMetrics
from capcore.spectra.options import SpectraOptions

if TYPE_CHECKING:
    import pandas

FORMAT = "capcore spectra 1"
TYPES: Mapping[Any, str] = {"float": "float64", "int": "Int64", "int | None": "Int64"}
"""Types of a table's columns: counts may be missing, as of a layer that was skipped."""


@dataclass(frozen=True)
class Source:
    """Where weights came from: as :class:`~capcore.checkpoints.tensors.Checkpoint` has it."""

    name: str
    format: str
    sha256: str
    size: int
    parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SpectraReport:
    """The analysis of one network.

    Attributes
    ----------
    source : Source
        The file.
    options : SpectraOptions
        All of them.
    versions : mapping
        Of the packages that made the numbers.
    model : ModelMetrics
        One number per metric for the network.
    spectra : tuple of SpectrumMetrics
        One record per layer, or per slice of one.
    skipped : tuple of Skipped
        Layers and slices without a spectrum, and why.
    not_layers : tuple of Skipped
        Tensors that are no layers, and why.
    densities : tuple of Density
        The eigenvalues, in the order of ``spectra``; not part of JSON, so none after reading it back.
    """

    source: Source
    options: SpectraOptions
    versions: Mapping[str, str]
    model: ModelMetrics
    spectra: tuple[SpectrumMetrics, ...]
    skipped: tuple[Skipped, ...]
    not_layers: tuple[Skipped, ...]
    densities: tuple[Density, ...] = field(default=(), repr=False, compare=False)

    @property
    def failures(self) -> dict[str, str]:
        """Name → reason, for every layer or slice that has no exponent."""
        without = {row.name: row.reason for row in self.spectra if not row.ok}
        return {skipped.name: skipped.reason for skipped in self.skipped} | without

    def provenance(self) -> dict[str, Any]:
        """Source, options and versions, as plain values."""
        return {
            "format": FORMAT,
            "source": asdict(self.source),
            "options": self.options.to_dict(),
            "versions": dict(self.versions),
        }

    def rows(self) -> list[dict[str, Any]]:
        """One mapping per spectrum, and one with ``status`` skipped and the reason per layer that has none."""
        head = {"model": self.source.name, "sha256": self.source.sha256}
        empty = dict.fromkeys(entry.name for entry in fields(SpectrumMetrics))
        found = [{**head, **vars(row)} for row in self.spectra]
        for part in self.skipped:
            told = {"name": part.name, "layer": part.name, "status": "skipped", "reason": part.reason}
            found.append({**head, **empty, **told})
        return found

    def table(self) -> pandas.DataFrame:
        """:meth:`rows` as a pandas ``DataFrame``, with :meth:`provenance` in its ``attrs``. Needs pandas."""
        import pandas as pd

        columns = fields(SpectrumMetrics)
        frame = pd.DataFrame(self.rows(), columns=["model", "sha256", *(entry.name for entry in columns)])
        frame = frame.astype({entry.name: TYPES[entry.type] for entry in columns if entry.type in TYPES})
        frame.attrs.update(self.provenance())
        return frame

    def to_csv(self) -> str:
        """The table as comma-separated values; model and hash of its file stand in each row."""
        return str(self.table().to_csv(index=False, lineterminator="\n"))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the eigenvalues, as plain values that JSON can hold: numbers that are not finite are None."""
        parts = {
            "model": asdict(self.model),
            "spectra": [asdict(row) for row in self.spectra],
            "skipped": [asdict(part) for part in self.skipped],
            "not_layers": [asdict(part) for part in self.not_layers],
        }
        plain: dict[str, Any] = _plain({**self.provenance(), **parts})
        return plain

    def to_json(self) -> str:
        """:meth:`to_dict` as JSON (RFC 8259: without NaN), the same text for equal reports."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SpectraReport:
        """The report that :meth:`to_dict` wrote. Raises ``ValueError`` for anything else."""
        if not isinstance(values, Mapping) or values.get("format") != FORMAT:
            raise ValueError(f"report: found no {FORMAT!r}, expected what SpectraReport.to_dict or to_json wrote.")
        return cls(
            Source(**values["source"]),
            SpectraOptions.from_dict(values["options"]),
            values["versions"],
            _record(ModelMetrics, values["model"]),
            tuple(_record(SpectrumMetrics, row) for row in values["spectra"]),
            tuple(_record(Skipped, part) for part in values["skipped"]),
            tuple(_record(Skipped, part) for part in values["not_layers"]),
        )

    @classmethod
    def from_json(cls, text: str) -> SpectraReport:
        """The report that :meth:`to_json` wrote."""
        return cls.from_dict(json.loads(text))


def compare_spectra(reports: Sequence[SpectraReport]) -> pandas.DataFrame:
    """One row of :class:`~capcore.spectra.models.ModelMetrics` per network, with the provenances in ``attrs``.

    Needs pandas. Raises ``ValueError`` for reports with different options.
    """
    all_of_kind(reports, "reports", SpectraReport)
    import pandas as pd

    if len({json.dumps(_plain(report.options.to_dict()), sort_keys=True) for report in reports}) > 1:
        raise ValueError(
            "reports: found different options, expected the same for all: metrics of different choices do not compare."
        )
    columns = ["model", "sha256", *(entry.name for entry in fields(ModelMetrics))]
    rows = [{"model": r.source.name, "sha256": r.source.sha256, **vars(r.model)} for r in reports]
    frame = pd.DataFrame(rows, columns=columns)
    frame.attrs["reports"] = [report.provenance() for report in reports]
    return frame


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _record(kind: Any, values: Mapping[str, Any]) -> Any:
    """A dataclass of floats, whose NaN are None in JSON, and lists, which were tuples."""
    given = dict(values)
    for entry in fields(kind):
        if entry.type == "float" and given[entry.name] is None:
            given[entry.name] = float("nan")
        elif isinstance(given[entry.name], list):
            given[entry.name] = tuple(given[entry.name])
    return kind(**given)
