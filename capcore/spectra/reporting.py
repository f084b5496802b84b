"""One call from a network to a table that people read: exponents, how certain they are, and what chance gives.

``capcore spectra`` prints what :func:`report` returns, and both have the defaults of :mod:`capcore.spectra.defaults`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

from capcore.checkpoints.tensors import Checkpoint
from capcore.checks.arguments import all_of_kind, of_kind, one_of, plain_number, positive_integer
from capcore.results.notebook import line
from capcore.results.representation import short
from capcore.spectra.defaults import NON_FINITE, NULL, usual_options
from capcore.spectra.layers import Layer
from capcore.spectra.layerwise import Asked, Beside, LayerResult, analyse_layers
from capcore.spectra.options import SpectraOptions
from capcore.spectra.results import SpectraReport
from capcore.spectra.selection import selected
from capcore.spectra.text import COLUMNS, network_text, not_analysed, number, remarks, report_text, text_rows

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

READ = (
    "shape", "n", "alpha", "alpha_low", "alpha_high", "null_low", "null_high", "null_p_value", "null_drawn", "n_tail",
    "favoured", "warning", "traps", "change", "tpl_alpha", "tpl_rate",
)  # fmt: skip
"""Columns of :meth:`NetworkSpectra.table`; the last four only if they were asked for."""
IN_NOTEBOOKS = (
    "name", "shape", "n", "alpha", "interval", "null_range", "null_p_value", "null_drawn", "n_tail", "favoured",
    "warning", "traps", "change",
)  # fmt: skip


@dataclass(frozen=True)
class NetworkSpectra:
    """The spectra of a network: what ``print`` shows of it, or a notebook, is what ``capcore spectra`` prints.

    Attributes
    ----------
    details : SpectraReport
        All metrics, with their provenance and the eigenvalues.
    beside : mapping
        Name of a spectrum → further columns: ``null_p_value`` and ``null_drawn``, ``traps``, ``change``.
    checkpoint : Checkpoint or None
        The weights that were analysed, from which a figure draws the null.
    """

    details: SpectraReport
    beside: Beside = field(repr=False)
    checkpoint: Checkpoint | None = field(repr=False, compare=False)

    def without_weights(self) -> NetworkSpectra:
        """The same numbers without the weights, so that only the curves of a null cannot be drawn."""
        return replace(self, checkpoint=None)

    def __repr__(self) -> str:
        model = self.details.model
        found = f"{short(self.details.source.name)}, {model.n_spectra} spectra, mean alpha {number(model.mean_alpha)}"
        return f"NetworkSpectra({found})"

    def __str__(self) -> str:
        return f"{report_text(self.details, self.beside)}\n{network_text(self.details)}"

    def table(self) -> pandas.DataFrame:
        """The columns that people read, one row for each spectrum, by the name of its ``layer``. Needs pandas.

        ``shape`` of its matrices; ``n`` eigenvalues; the exponent ``alpha`` with its bootstrap interval from
        ``alpha_low`` to ``alpha_high``; the range ``null_low`` to ``null_high`` of the null, the p-value
        ``null_p_value`` and how the null was ``null_drawn`` (:class:`~capcore.spectra.nulls.Chance`); ``n_tail``
        eigenvalues in the tail; the ``favoured`` law; a ``warning``; and, where they were asked for, the ``traps`` of
        shuffled weights, the relative ``change`` from a base, and the truncated power law. All other metrics are in
        ``details.table()``. Spectra without an exponent are in ``details.failures``.
        """
        import pandas as pd

        rows = text_rows(self.details, self.beside)
        names = [name for name in READ if name in READ[:12] or any(name in self.beside[row["name"]] for row in rows)]
        values = [{**row, "traps": self.beside[row["name"]].get("traps")} for row in rows]
        index = pd.Index([row["name"] for row in rows], name="layer")
        frame = pd.DataFrame([{name: row.get(name) for name in names} for row in values], index, names)
        frame.attrs.update(self.details.provenance())
        return frame

    def to_dataframe(self) -> pandas.DataFrame:
        """The :meth:`table`, under the name that all results have for it."""
        return self.table()

    def plot(self, layer: str | None = None) -> Figure:
        """Draw α of every spectrum with its interval and null, and below it one density. Needs matplotlib.

        Parameters
        ----------
        layer : str, optional
            Name of the layer or slice whose density is shown; by default the one with the longest tail.
        """
        from capcore.spectra.figure import report_figure

        return report_figure([self.details], spectrum=layer, checkpoint=self.checkpoint)

    def plot_layer(self, name: str) -> Figure:
        """Draw the spectral density of a layer or slice with its fits and its null, and its Hill plot.

        Raises
        ------
        ValueError
            If there is no spectrum of this name, or if all its eigenvalues are equal.
        """
        from capcore.spectra.figure import chosen, spectrum_figure

        row = chosen(self.details, name)
        figure = spectrum_figure(self.details, row, self.checkpoint)
        if figure is None:
            raise ValueError(f"name: found {name!r}, whose eigenvalues are all equal, expected a spectrum to draw.")
        return figure

    def _repr_html_(self) -> str:
        rows, model = text_rows(self.details, self.beside), self.details.model
        names = [name for name in IN_NOTEBOOKS if any(number(row.get(name)) not in ("–", "") for row in rows)]
        head = line((COLUMNS[name] for name in names), "th")
        body = "".join(line(number(row.get(name)) for name in names) for row in rows)
        left = not_analysed(self.details)
        told = [f"mean alpha {number(model.mean_alpha)}", f"Σ α log λ_max {number(model.sum_alpha_hat)}"]
        told += [*remarks(self.details, rows), *(f"not analysed: {name}: {left[name]}" for name in left)]
        words = "".join(f"<li>{escape(each)}</li>" for each in told)
        caption = f"<caption>Weight spectra of {escape(self.details.source.name)}</caption>"
        return f"<table>{caption}{head}{body}</table><ul>{words}</ul>"


def report(
    source: Any,
    *,
    layers: str | Sequence[str] = (),
    skip: str | Sequence[str] = (),
    null: str | None = NULL,
    n_null: int | None = None,
    n_resamples: int | None = None,
    fast: bool = False,
    base: Any = None,
    adapter: Any = None,
    truncated: bool = False,
    options: SpectraOptions | None = None,
    key: str | None = None,
    non_finite: str = NON_FINITE,
    workers: int = 1,
    progress: bool | None = False,
) -> NetworkSpectra:
    """Analyse the weight spectra of a network as ``capcore spectra`` does, with the same defaults and numbers.

    Each exponent (paper 3, Eq. 1) comes with an interval and with its p-value among exponents of the same weights in
    random order (:mod:`capcore.spectra.nulls`). Weights are taken as the layers use them: quantised weights are
    converted, names of wrappers such as ``torch.compile`` are dropped, and adapters are added.

    Parameters
    ----------
    source : object
        A path; a PyTorch module; a state dict; nested dictionaries, lists or a pytree of arrays; or a Checkpoint.
        Kernels of Keras and Flax in memory need ``options`` with ``layout="channels-last"``.
    layers, skip : str or sequence of str
        Patterns such as ``layer1.*`` of the layers to analyse and to leave out.
    null : str, optional
        What exponents are compared with: ``shuffled`` or ``gaussian`` weights, or None.
    n_null, n_resamples : int, optional
        Draws of the null, and resamples for the interval; by default 100 of each. Above 8,192 eigenvalues there is no
        interval by default.
    fast : bool
        Only the exponents: no null, interval or other laws, unless ``n_null`` or ``n_resamples`` are given.
    base : object, optional
        A network of which the difference is analysed, given like ``source``.
    adapter : object, optional
        A LoRA adapter that is added first, as W + s·B·A.
    truncated : bool
        Also fit the truncated power law.
    options : SpectraOptions, optional
        All choices; ``null``, ``n_null``, ``n_resamples`` and ``fast`` must then be left out.
    key : str, optional
        Name of the mapping that holds the weights within a PyTorch file.
    non_finite : str
        ``keep`` lists layers with NaN or infinity as not analysed; ``refuse`` raises an error.
    workers : int
        Layers at a time, each on one thread. The numbers are the same for any number.
    progress : bool or None
        Whether to show a progress bar on standard error. None shows it only on a terminal.

    Raises
    ------
    CheckpointError
        If weights cannot be read.
    ValueError
        If a pattern fits no tensor, or if choices contradict each other.

    Examples
    --------
    >>> import capcore as cc, numpy as np
    >>> found = cc.spectra.report({"fc.weight": np.random.default_rng(0).normal(size=(64, 96))}, n_resamples=0)
    >>> row = found.table().loc["fc.weight"]
    >>> bool(row.null_low < row.alpha < row.null_high), bool(row.null_p_value > 0.05), row.null_drawn
    (True, True, 'by shape')
    """
    of_kind(options, "options", SpectraOptions | None, "SpectraOptions")
    of_kind(fast, "fast", bool)
    of_kind(null, "null", str | None)
    workers = positive_integer(workers, "workers")
    given = {"n_null": plain_number(n_null, "n_null"), "n_resamples": plain_number(n_resamples, "n_resamples")}
    if options is not None and (fast or null != NULL or any(value is not None for value in given.values())):
        raise ValueError("options: found null, n_null, n_resamples or fast besides, expected these within the options.")
    if options is None:
        changes = {} if null == NULL else {"null": null}
        options = usual_options(fast=fast, **given, **changes)
    checkpoint, original = _used(source, base, adapter, key, non_finite)
    chosen = selected(checkpoint, _patterns(layers, "layers"), _patterns(skip, "skip"))
    asked = Asked(n_resamples is not None, truncated)
    return report_of(chosen, options, asked, base=original, workers=workers, progress=progress)


def report_of(
    checkpoint: Checkpoint,
    options: SpectraOptions,
    asked: Asked,
    *,
    base: Checkpoint | None = None,
    over: Callable[[Sequence[Layer]], Iterable[LayerResult]] | None = None,
    workers: int = 1,
    progress: bool | None = False,
) -> NetworkSpectra:
    """Report on a checkpoint that is open, selected and minus its base, as the command does.

    The other arguments are those of :func:`~capcore.spectra.layerwise.analyse_layers`.
    """
    if checkpoint.format == "hdf5" and options.layout == "channels-last":
        raise ValueError(
            "layout: found channels-last for a file of Keras, whose kernels are turned when they are read."
        )
    settings: dict[str, Any] = {"base": base, "over": over, "workers": workers, "progress": progress}
    found, beside = analyse_layers(checkpoint, options, asked, **settings)
    return NetworkSpectra(found, beside, checkpoint)


def _used(
    source: Any, base: Any, adapter: Any, key: str | None, non_finite: str
) -> tuple[Checkpoint, Checkpoint | None]:
    """The weights to analyse, and the base that was subtracted from them."""
    from capcore.checkpoints.differences import used
    from capcore.checkpoints.in_memory import named_weights
    from capcore.checkpoints.opening import read_checkpoint

    one_of(non_finite, "non_finite", ("refuse", "keep"))

    def opened(weights: Any) -> Checkpoint | None:
        if weights is None or isinstance(weights, Checkpoint):
            return weights
        weights = weights if isinstance(weights, str | os.PathLike) else named_weights(weights)
        return read_checkpoint(weights, key=key, non_finite=non_finite)

    found, original, added = (opened(each) for each in (source, base, adapter))
    if found is None:
        raise ValueError("source: found None, expected a path, a module or arrays by name.")
    original = None if original is None else used(original)
    return used(found, original, added), original


def _patterns(given: str | Sequence[str], name: str) -> list[str]:
    if isinstance(given, str):
        return [given]
    all_of_kind(given, name, str, "patterns of names")
    return [*given]
