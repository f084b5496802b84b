"""Power-law fits to the upper end of a spectrum, after Clauset, Shalizi and Newman (2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from capcore.gate import all_of_kind
from capcore.spectra.exponents import Usable, fit_tail, truncated_error, usable
from capcore.spectra.scan import best_tails, pack, starts
from capcore.validation import finite_number, positive_integer

FAILED = float("nan")
Limit: TypeAlias = float | None
"""In units of the eigenvalues, or none."""


@dataclass(frozen=True)
class PowerLawFit:
    """A power law ρ(λ) ~ λ^(−α) on [x_min, x_max], fitted to the eigenvalues there (paper 3, Eq. 1).

    ``xmin``, ``ks_distance`` and ``stderr`` are ``x_min``, ``distance`` and ``sigma`` under their earlier names.

    Attributes
    ----------
    alpha : float
        The exponent α; NaN if nothing could be fitted.
    x_min : float
        Lower end of the fitted tail.
    x_max : float or None
        Upper end of the law; None if it has none.
    distance : float
        Kolmogorov–Smirnov distance of the tail from the law.
    sigma : float
        Standard error of α **if** the eigenvalues in the tail were independent and x_min were known: (α − 1)/√n_tail
        where there is no x_max. Eigenvalues repel each other and x_min is chosen, so that it is neither an upper nor a
        lower bound: see :func:`~capcore.spectra.inference.bootstrap_power_law`.
    n_tail, n : int
        Eigenvalues in the tail, and eigenvalues used in all.
    n_zero, n_above : int
        Eigenvalues that were not used because they are zero up to rounding, or above x_max.
    status : str
        ``"ok"`` or ``"failed"``.
    reason : str
        Why it failed; empty otherwise.
    """

    from capcore.spectra.exponents import ks_distance, stderr, xmin

    alpha: float
    x_min: float
    x_max: float | None
    distance: float
    sigma: float
    n_tail: int
    n: int
    n_zero: int
    n_above: int
    status: str
    reason: str

    @property
    def ok(self) -> bool:
        """Whether there is a fit."""
        return self.status == "ok"


def fit_power_law(
    eigenvalues: object, *, x_min: Limit = None, x_max: Limit = None, min_tail: int = 2, threshold: Limit = None
) -> PowerLawFit:
    """The :class:`~capcore.spectra.power_law.PowerLawFit` of maximum likelihood whose tail is closest to its law:
    the exponent α of paper 3, Eq. 1.

    For every candidate x_min the exponent is α = 1 + n/Σ ln(x_j/x_min), and the candidate with the least distance
    D = max_j ‖1 − (x_j/x_min)^(1−α) − j/n‖, j = 0 … n−1, is taken, the smallest one among equals (Clauset et al., Eqs
    3.1 and 3.9). The scan is pruned and exact: :mod:`capcore.spectra.scan`.

    Too few eigenvalues are no error: ``status`` and ``reason`` say so, and the numbers are NaN.

    Parameters
    ----------
    eigenvalues : (M,) array_like
        Non-negative, in any order.
    x_min : float, optional
        Lower end of the tail, instead of the search.
    x_max : float, optional
        Upper end of the law. Larger eigenvalues are left out, and the likelihood is that of a law that ends there,
        which the reference tools' is not: they keep the formula above.
    min_tail : int
        Fewest eigenvalues in a tail; the method as published takes 2.
    threshold : float, optional
        Eigenvalues up to it are zero; see :func:`~capcore.spectra.exponents.usable`.

    Raises
    ------
    ValueError
        For negative eigenvalues, booleans, values that are not finite, and options that make no sense.

    Examples
    --------
    >>> quantiles = (1 - (np.arange(200) + 0.5) / 200) ** (-1 / 1.5)  # of a power law with α = 2.5
    >>> fit = fit_power_law(quantiles, x_min=1.0)
    >>> round(fit.alpha, 2), round(fit.sigma, 2), fit.n_tail
    (2.5, 0.11, 200)
    """
    return fit_power_laws([eigenvalues], x_min=x_min, x_max=x_max, min_tail=min_tail, threshold=threshold)[0]


def fit_power_laws(
    spectra: Sequence[object], *, x_min: Limit = None, x_max: Limit = None, min_tail: int = 2, threshold: Limit = None
) -> list[PowerLawFit]:
    """One :class:`~capcore.spectra.power_law.PowerLawFit` per spectrum, as
    :func:`~capcore.spectra.power_law.fit_power_law` finds it; all share the overhead of one scan.

    Parameters
    ----------
    spectra : sequence of (M,) array_like
        Eigenvalues of each, non-negative, in any order.
    x_min, x_max, threshold : float, optional
        As there, the same for all.
    min_tail : int
        As there.
    """
    all_of_kind(spectra, "spectra", np.ndarray | list, "arrays")
    low, high = check_ends(x_min, x_max)
    min_tail = positive_integer(min_tail, "min_tail", minimum=2)
    parts = [usable(spectrum, threshold, high) for spectrum in spectra]
    fits: list[PowerLawFit | None] = [None] * len(parts)
    searched: list[int] = []
    for k, part in enumerate(parts):
        problem = _problem(part, low, high, min_tail)
        if problem:
            fits[k] = _failed(part, low, high, problem)
        elif low is not None:
            fits[k] = _fixed(part, low, high)
        else:
            searched.append(k)
    if searched:
        packed = pack([parts[k].logs for k in searched])
        tails = best_tails(packed, starts(packed, min_tail), None if high is None else float(np.log(high)))
        found = (column.tolist() for column in (tails.start, tails.rate, tails.distance))
        for k, start, rate, distance in zip(searched, *found, strict=True):
            fits[k] = _fit(parts[k], start, float(parts[k].values[start]), high, rate, distance)
    return [fit for fit in fits if fit is not None]


def check_ends(x_min: Limit, x_max: Limit) -> tuple[Limit, Limit]:
    """The two ends as floats, positive and in order."""
    low, high = (
        None if value is None else finite_number(value, name, "a positive number or None")
        for value, name in ((x_min, "x_min"), (x_max, "x_max"))
    )
    for value, name in ((low, "x_min"), (high, "x_max")):
        if value is not None and value <= 0:
            raise ValueError(
                f"{name}: found {value!r}, expected a positive number: a power law has no logarithm at zero."
            )
    if low is not None and high is not None and low >= high:
        raise ValueError(f"x_min, x_max: found {low!r} and {high!r}, expected x_min below x_max.")
    return low, high


def _problem(part: Usable, low: Limit, high: Limit, min_tail: int) -> str:
    """Why no power law can be fitted; empty if one can."""
    logs = part.logs if low is None else part.logs[part.values >= low]
    where = "" if low is None else f" from x_min = {low:.6g} on"
    if len(logs) < min_tail:
        return f"{len(logs)} eigenvalue(s) left{where}, a tail needs {min_tail}"
    if low is None and logs[len(logs) - min_tail] >= logs[-1] and not starts(pack([logs]), min_tail).any():
        return f"no {min_tail} of the {len(logs)} eigenvalues are followed by a larger one: too few distinct values"
    if low is not None and logs[-1] <= np.log(low):
        return f"all {len(logs)} eigenvalues{where} equal x_min: too few distinct values"
    if low is not None and high is not None and logs[0] >= np.log(high):
        return f"all {len(logs)} eigenvalues{where} equal x_max: too few distinct values"
    return ""


def _failed(part: Usable, low: Limit, high: Limit, reason: str) -> PowerLawFit:
    x_min = FAILED if low is None else low
    counts = (0, len(part.logs), part.n_zero, part.n_above)
    return PowerLawFit(FAILED, x_min, high, FAILED, FAILED, *counts, "failed", reason)


def _fixed(part: Usable, low: float, high: float | None) -> PowerLawFit:
    start = int(np.searchsorted(part.values, low))
    ceiling = None if high is None else float(np.log(high))
    return _fit(part, start, low, high, *fit_tail(part.logs[start:], float(np.log(low)), ceiling))


def _fit(part: Usable, start: int, low: float, high: float | None, rate: float, distance: float) -> PowerLawFit:
    number = len(part.logs) - start
    sigma = rate / np.sqrt(number) if high is None else truncated_error(rate, float(np.log(high / low)), number)
    counts = (number, len(part.logs), part.n_zero, part.n_above)
    return PowerLawFit(1.0 + float(rate), low, high, float(distance), float(sigma), *counts, "ok", "")
