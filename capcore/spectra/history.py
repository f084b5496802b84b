"""Spectra of one network at several times, for example after every epoch of training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from capcore.checks.arguments import finite_number, plain_number
from capcore.spectra.reporting import NetworkSpectra, report

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

KEPT = ("alpha", "alpha_low", "alpha_high", "null_low", "null_high", "null_p_value", "log_spectral", "stable_rank")
"""Columns of :meth:`History.table`."""


class History:
    """Weight spectra along training: add the network after each epoch, then look at the table or the picture.

    Parameters
    ----------
    **choices : object
        Those of :func:`~capcore.spectra.reporting.report`, the same at all times, such as ``layers`` or ``null``. By
        default there are no intervals, because they take longest. The null is drawn once for every shape, so it costs
        time at the first epoch only.

    Attributes
    ----------
    reports : dict
        Time → :class:`~capcore.spectra.reporting.NetworkSpectra`, in the order in which they were added. Their
        ``checkpoint`` holds no weights, because the weights of a module change with training.

    Examples
    --------
    >>> import numpy as np
    >>> rng, history = np.random.default_rng(0), History(layers="fc*", n_null=19)
    >>> for epoch in range(2):
    ...     history.add({"fc.weight": rng.normal(size=(40, 60))}, epoch)
    >>> history.table().index.names, history.table().shape
    (FrozenList(['time', 'layer']), (2, 8))
    """

    def __init__(self, **choices: Any) -> None:
        self.choices = {"n_resamples": 0, **choices} if "options" not in choices else choices
        self.reports: dict[float, NetworkSpectra] = {}

    def add(self, source: Any, time: float) -> None:
        """Analyse the network as it is now, and keep the result under ``time``, such as the number of the epoch.

        Parameters
        ----------
        source : object
            Like that of :func:`~capcore.spectra.reporting.report`.
        time : float
            A number that was not used before.

        Raises
        ------
        ValueError
            If there is a report of this time already.
        """
        finite_number(time, "time")
        time = plain_number(time, "time")
        if time in self.reports:
            raise ValueError(f"time: found {time!r}, which was added before, expected another number.")
        self.reports[time] = report(source, **self.choices).without_weights()

    def table(self) -> pandas.DataFrame:
        """One row for each time and spectrum, with the exponent, its null and two norms. Needs pandas."""
        import pandas as pd

        rows = {
            (time, row.name): {**vars(row), **found.beside[row.name]}
            for time, found in self.reports.items()
            for row in found.details.spectra
        }
        index = pd.MultiIndex.from_tuples([*rows], names=["time", "layer"]) if rows else None
        return pd.DataFrame([{name: row.get(name) for name in KEPT} for row in rows.values()], index, [*KEPT])

    def to_dataframe(self) -> pandas.DataFrame:
        """The :meth:`table`, under the name that all results have for it."""
        return self.table()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw α of every layer over time, the first layer lightest, with the range of all nulls. Needs matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on.
        """
        from capcore.plotting import axes_for
        from capcore.spectra.history_figure import plot_history

        return plot_history({time: found.details.spectra for time, found in self.reports.items()}, axes_for(ax))

    def __repr__(self) -> str:
        spectra = [len(found.details.spectra) for found in self.reports.values()]
        return f"History({len(spectra)} times, {max(spectra, default=0)} spectra)"

    def _repr_html_(self) -> str:
        from capcore.results.notebook import table

        means = {
            f"{time:g}": f"mean alpha {found.details.model.mean_alpha:.3f}" for time, found in self.reports.items()
        }
        return table("Weight spectra over time", means)
