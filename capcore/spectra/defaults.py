"""The choices of a report that are not made otherwise: the same in Python and on the command line.

:func:`~capcore.spectra.reporting.report` and ``capcore spectra`` take them from here.
:class:`~capcore.spectra.options.SpectraOptions` has fewer defaults, those of the draft: each slice of a convolution is
a spectrum of its own, and intervals and nulls must be asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from capcore.spectra.options import SpectraOptions

VIEW = "pooled"
"""Matrices of a convolution: all slices, in one spectrum."""
DRAWS = 100
"""Draws of the null, so that the smallest p-value is 2/101."""
RESAMPLES = 100
"""Resamples for the bootstrap interval."""
NULL = "shuffled"
NON_FINITE = "keep"
"""Layers with NaN or infinity are listed with this reason."""


def usual_options(*, fast: bool = False, **changes: Any) -> SpectraOptions:
    """The options of a report, with changes.

    Parameters
    ----------
    fast : bool
        Leave out the null, the intervals and other laws, unless ``changes`` name them.
    **changes : object
        Fields of :class:`~capcore.spectra.options.SpectraOptions`. ``n_null`` or ``n_resamples`` of None stand for the
        defaults.

    Examples
    --------
    >>> usual_options().n_null, usual_options(fast=True).null, usual_options(fast=True, n_resamples=50).n_resamples
    (100, None, 50)
    """
    from capcore.spectra.options import DensityOptions, SpectraOptions

    asked = changes.get("n_null") is not None
    usual: dict[str, Any] = {"null": None if fast and not asked else NULL, "n_null": DRAWS}
    usual |= {"n_resamples": 0 if fast else RESAMPLES, **({"alternatives": ()} if fast else {})}
    given = {
        name: value for name, value in changes.items() if value is not None or name not in ("n_null", "n_resamples")
    }
    return SpectraOptions(**{"density": DensityOptions(VIEW), **usual, **given})
