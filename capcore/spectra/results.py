"""The report of an analysis: its results and their provenance, as tables and as JSON that can be read back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from capcore.checks.arguments import all_of_kind
from capcore.results.notebook import as_table, table
from capcore.spectra.densities import Density
from capcore.spectra.layers import Skipped
from capcore.spectra.metrics import SpectrumMetrics
from capcore.spectra.models import ModelMetrics
from capcore.spectra.options import SpectraOptions

if TYPE_CHECKING:
    import pandas
    import xarray

FORMAT = "capcore spectra 1"
TYPES: Mapping[Any, str] = {"float": "float64", "int": "Int64", "int | None": "Int64"}
"""Column types of a table. Counts are nullable integers, because a skipped layer has none."""


@dataclass(frozen=True)
class Source:
    """Where the weights came from, copied from the :class:`~capcore.checkpoints.tensors.Checkpoint`."""

    name: str
    format: str
    sha256: str
    size: int
    parts: Mapping[str, str] = field(default_factory=dict)

    _repr_html_ = as_table


@dataclass(frozen=True)
class SpectraReport:
    """The analysis of one network.

    Attributes
    ----------
    source : Source
        File that was analysed.
    options : SpectraOptions
        Every choice of the analysis.
    versions : mapping
        Versions of the packages that computed the numbers.
    model : ModelMetrics
        Metrics of the whole network, one number each.
    spectra : tuple of SpectrumMetrics
        One record per layer, or per slice of a layer.
    skipped : tuple of Skipped
        Layers and slices without a spectrum, with the reason.
    not_layers : tuple of Skipped
        Tensors that are not layers, with the reason.
    densities : tuple of Density
        Eigenvalues, in the order of ``spectra``. JSON leaves them out, so a report read from JSON has none.
    """

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

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
        """Reason by name, for every layer or slice without an exponent."""
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
        """One mapping per spectrum, then one per layer or slice without, with ``status`` ``skipped`` and the reason."""
        head = {"model": self.source.name, "sha256": self.source.sha256}
        empty = dict.fromkeys(entry.name for entry in fields(SpectrumMetrics))
        found = [{**head, **vars(row)} for row in self.spectra]
        for part in self.skipped:
            told = {"name": part.name, "layer": part.name, "status": "skipped", "reason": part.reason}
            found.append({**head, **empty, **told})
        return found

    def table(self) -> pandas.DataFrame:
        """The :meth:`rows` as a pandas ``DataFrame``, with the :meth:`provenance` in ``attrs``. Needs pandas."""
        import pandas as pd

        columns = fields(SpectrumMetrics)
        frame = pd.DataFrame(self.rows(), columns=["model", "sha256", *(entry.name for entry in columns)])
        frame = frame.astype({entry.name: TYPES[entry.type] for entry in columns if entry.type in TYPES})
        frame.attrs.update(self.provenance())
        return frame

    def to_dataframe(self) -> pandas.DataFrame:
        """The :meth:`table`, under the name that all results have for it."""
        return self.table()

    def to_xarray(self) -> xarray.Dataset:
        """Metrics by ``spectrum``, and the eigenvalues one after another. Needs pandas and xarray."""
        from capcore.results.tables import spectra_dataset

        return spectra_dataset(self)

    def _repr_html_(self) -> str:
        model = self.model
        rows = {
            "network": self.source.name,
            "spectra": f"{model.n_spectra:,} of {model.n_layers:,} layers, {model.n_weights:,} weights",
            "fitted": f"{model.n_fitted:,}, {model.n_failed:,} failed, {model.n_skipped:,} skipped",
            "mean exponent": f"{model.mean_alpha:.3f}, {model.share_in_range:.0%} from 2 to 5",
            "Σ α log λ_max": f"{model.sum_alpha_hat:.4g}",
            "log product of norms": f"{model.log_product_frobenius:.4g}",
        }
        return table("Weight spectra", rows)

    def to_csv(self) -> str:
        """The table as comma-separated values. Every row repeats the model's name and the hash of its file."""
        return str(self.table().to_csv(index=False, lineterminator="\n"))

    def to_dict(self) -> dict[str, Any]:
        """Everything except the eigenvalues, as plain values for JSON. Numbers that are not finite become None."""
        parts = {
            "model": asdict(self.model),
            "spectra": [asdict(row) for row in self.spectra],
            "skipped": [asdict(part) for part in self.skipped],
            "not_layers": [asdict(part) for part in self.not_layers],
        }
        plain: dict[str, Any] = _plain({**self.provenance(), **parts})
        return plain

    def to_json(self) -> str:
        """The :meth:`to_dict` values as JSON (RFC 8259, so without NaN). Equal reports give the same text."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SpectraReport:
        """Rebuild a report from what :meth:`to_dict` returned. Anything else raises ``ValueError``."""
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
        """Rebuild a report from the text that :meth:`to_json` returned."""
        return cls.from_dict(json.loads(text))


def compare_spectra(reports: Sequence[SpectraReport]) -> pandas.DataFrame:
    """Compare networks: one row of :class:`~capcore.spectra.models.ModelMetrics` each, with provenances in ``attrs``.

    Metrics compare only if they were computed alike, so reports with different options raise ``ValueError``. Needs
    pandas.
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
    """Rebuild a dataclass from JSON values, where None stands for NaN and lists stand for tuples."""
    given = dict(values)
    for entry in fields(kind):
        if entry.type == "float" and given[entry.name] is None:
            given[entry.name] = float("nan")
        elif isinstance(given[entry.name], list):
            given[entry.name] = tuple(given[entry.name])
    return kind(**given)
