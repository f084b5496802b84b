"""The report of an analysis: its results and their provenance, as text, tables, pictures and JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from html import escape
from typing import TYPE_CHECKING, Any

from capcore.checkpoints.tensors import Checkpoint
from capcore.results.notebook import Record, frame
from capcore.spectra.densities import Density
from capcore.spectra.layers import Skipped
from capcore.spectra.metrics import SpectrumMetrics
from capcore.spectra.models import ModelMetrics
from capcore.spectra.options import SpectraOptions
from capcore.spectra.text import COLUMNS, network_text, number, remarks, report_text, text_row

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

FORMAT = "capcore spectra 1"
TYPES: Mapping[Any, str] = {"float": "float64", "int": "Int64", "int | None": "Int64"}
"""Column types of a table. Counts are nullable integers, because a skipped layer has none."""


READ = (
    "shape", "n", "alpha", "alpha_low", "alpha_high", "null_low", "null_high", "null_p_value", "null_drawn", "n_tail",
    "favoured", "warning", "traps", "change", "tpl_alpha", "tpl_rate",
)  # fmt: skip
"""Columns of :meth:`SpectraReport.table`; the last four only if there are any."""


@dataclass(frozen=True)
class Source(Record):
    """Where the weights came from, copied from the :class:`~capcore.checkpoints.tensors.Checkpoint`."""

    name: str
    format: str
    sha256: str
    size: int
    parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class SpectraReport(Record):
    """The spectra of a network: what ``print`` shows of it, or a notebook, is what ``capcore spectra`` prints.

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
        Eigenvalues, in the order of ``spectra``. JSON leaves them out.
    checkpoint : Checkpoint or None
        The weights that were analysed, from which a figure draws the null.
    """

    source: Source
    options: SpectraOptions
    versions: Mapping[str, str]
    model: ModelMetrics
    spectra: tuple[SpectrumMetrics, ...]
    skipped: tuple[Skipped, ...]
    not_layers: tuple[Skipped, ...]
    densities: tuple[Density, ...] = field(default=(), repr=False, compare=False)
    checkpoint: Checkpoint | None = field(default=None, repr=False, compare=False)

    @property
    def failures(self) -> dict[str, str]:
        """Reason by name, for every layer or slice without an exponent."""
        without = {row.name: row.reason for row in self.spectra if not row.ok}
        return {skipped.name: skipped.reason for skipped in self.skipped} | without

    @property
    def not_analysed(self) -> dict[str, str]:
        """Name → reason for all weights without an exponent, including those that were not read."""
        return {**self.failures, **{part.name: part.reason for part in self.not_layers if part.weights}}

    def provenance(self) -> dict[str, Any]:
        """Source, options and versions, as plain values."""
        return {
            "format": FORMAT,
            "source": asdict(self.source),
            "options": asdict(self.options),
            "versions": dict(self.versions),
        }

    def rows(self) -> list[dict[str, Any]]:
        """One mapping per spectrum, then one per layer or slice without, with ``status`` ``skipped`` and the reason."""
        head = {"model": self.source.name, "sha256": self.source.sha256}
        empty = dict.fromkeys(entry.name for entry in fields(SpectrumMetrics))
        rows = [{**head, **vars(row)} for row in self.spectra]
        for part in self.skipped:
            known = {"name": part.name, "layer": part.name, "status": "skipped", "reason": part.reason}
            rows.append({**head, **empty, **known})
        return rows

    def table(self) -> pandas.DataFrame:
        """The columns that people read, one row for each spectrum, by the name of its ``layer``. Needs pandas.

        ``shape`` of its matrices; ``n`` eigenvalues; the exponent ``alpha`` with its bootstrap interval from
        ``alpha_low`` to ``alpha_high``; the range ``null_low`` to ``null_high`` of the null, the p-value
        ``null_p_value`` and how the null was ``null_drawn`` (:class:`~capcore.spectra.nulls.Chance`); ``n_tail``
        eigenvalues in the tail; the ``favoured`` law; a ``warning``; and, where there are any, the ``traps`` of
        shuffled weights, the relative ``change`` from a base, and the truncated power law. All other metrics are in
        :meth:`to_dataframe`. Spectra without an exponent are in ``failures``.
        """
        import pandas as pd

        rows = [{**text_row(row), "traps": row.traps} for row in self.spectra if row.ok]
        names = [name for name in READ if name in READ[:12] or not all(math.isnan(row[name]) for row in rows)]
        index = pd.Index([row["name"] for row in rows], name="layer")
        frame = pd.DataFrame([{name: row[name] for name in names} for row in rows], index, names)
        frame.attrs.update(self.provenance())
        return frame

    def to_dataframe(self) -> pandas.DataFrame:
        """All the :meth:`rows` as a pandas ``DataFrame``, with the :meth:`provenance` in ``attrs``. Needs pandas."""
        import pandas as pd

        columns = fields(SpectrumMetrics)
        frame = pd.DataFrame(self.rows(), columns=["model", "sha256", *(entry.name for entry in columns)])
        frame = frame.astype({entry.name: TYPES[entry.type] for entry in columns if entry.type in TYPES})
        frame.attrs.update(self.provenance())
        return frame

    def plot(self, layer: str | None = None) -> Figure:
        """Draw α of every spectrum with its interval and null, and below it one density. Needs matplotlib.

        Parameters
        ----------
        layer : str, optional
            Name of the layer or slice whose density is shown; by default the one with the longest tail.
        """
        from capcore.spectra.figure import report_figure

        return report_figure([self], spectrum=layer)

    def __str__(self) -> str:
        return f"{report_text(self)}\n{network_text(self)}"

    def _repr_html_(self) -> str:
        rows = [text_row(row) for row in self.spectra if row.ok]
        names = [name for name in [*COLUMNS][:13] if any(number(row[name]) not in ("–", "") for row in rows)]
        texts = [{COLUMNS[name]: number(row[name]) for name in names} for row in rows]
        means = [f"mean alpha {number(self.model.mean_alpha)}", f"Σ α log λ_max {number(self.model.sum_alpha_hat)}"]
        left_out = [f"not analysed: {name}: {reason}" for name, reason in self.not_analysed.items()]
        words = "".join(f"<li>{escape(sentence)}</li>" for sentence in [*means, *remarks(self), *left_out])
        return f"{frame(texts, f'Weight spectra of {self.source.name}')}<ul>{words}</ul>"

    def to_dict(self) -> dict[str, Any]:
        """Everything except the eigenvalues, as plain values for JSON. Numbers that are not finite become None."""
        parts = {
            "model": asdict(self.model),
            "spectra": [asdict(row) for row in self.spectra],
            "skipped": [asdict(part) for part in self.skipped],
            "not_layers": [asdict(part) for part in self.not_layers],
        }
        return finite({**self.provenance(), **parts})


def finite(value: Any) -> Any:
    """Replace numbers that are not finite by None, also within mappings and lists, because JSON has none (RFC 8259)."""
    if isinstance(value, Mapping):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
