"""A candidate: a model with its best weights, and all that speaks for it and against it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from capcore.architectures.taps import AutoRegressiveTaps, LogTaps, NearAndPools


@dataclass(frozen=True, eq=False)
class Candidate:
    """One model of a design.

    Attributes
    ----------
    family : str
        The family that it comes from.
    arch : Architecture
        The model.
    params : (n_params,) array
        Its best weights for the process.
    loss : float
        Excess prediction variance.
    capacity : int
        κ, exact.
    bound : float
        Fitted bound of the loss of this model: the largest entry of the bond table for stacks, the loss itself for
        linear models, whose optimum is a projection, and NaN where none is known.
    proven : float
        A lower bound that needs no fit; NaN where it was not computed.
    prediction_error : float
        v* + loss, with what estimating the weights adds: :func:`final_prediction_error`.
    cost : float
        What estimating the weights adds, relative: κ/N for a known process, 2κ/(N − κ) for one that was fitted to the
        same N values, whose variance is too low; 0 if N is not known.
    far_share : float
        Share of the capacity on the distant half of the inputs.
    """

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

    family: str
    arch: Any
    params: np.ndarray = field(repr=False)
    loss: float
    capacity: int
    bound: float
    proven: float
    prediction_error: float
    cost: float
    far_share: float

    @property
    def n_params(self) -> int:
        """Number of parameters."""
        return int(self.arch.n_params)

    @property
    def words(self) -> str:
        """The model in a few words."""
        return described(self.arch)


def best_of_each(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    """Family → its model of the least final prediction error, and of these the smallest."""
    best: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=lambda one: (one.prediction_error, one.n_params)):
        best.setdefault(candidate.family, candidate)
    return best


def described(arch: Any) -> str:
    """A model in a few words.

    >>> from capcore.architectures import Hierarchical
    >>> described(NearAndPools(16, 8)), described(Hierarchical([2, 3], kernel_size=[4, 4, 2]))
    ('16 taps and 8 pools', '3 layers, kernels 4·4·2, channels 2·3')
    """
    if isinstance(arch, AutoRegressiveTaps):
        return _counted(arch.taps, "tap")
    if isinstance(arch, NearAndPools):
        return f"{_counted(arch.near, 'tap')} and {_counted(arch.pools, 'pool')}"
    if isinstance(arch, LogTaps):
        return f"{arch.taps} taps at geometric lags"
    dilations = "" if arch.has_disjoint_supports else f", dilations {_dots(arch.dilations)}"
    channels = f", channels {_dots(arch.channels)}" if arch.channels else ""
    return f"{arch.n_layers} layers, kernels {_dots(arch.kernel_sizes)}{dilations}{channels}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count > 1)}"


def _dots(values: list[int]) -> str:
    return f"{values[0]}" if len(values) > 3 and len(set(values)) == 1 else "·".join(map(str, values))


def final_prediction_error(
    variance: float, capacity: int, n_observed: int | None, n_fitted: int | None = None
) -> float:
    """What a model errs by on values to come, once its κ weights are estimated from N values: v(1 + κ/N).

    Weights that least squares finds in N values have the error covariance vΣ⁻¹/N about the best ones, in a space of κ
    dimensions, which adds vκ/N. A variance that κ weights were fitted to in m values is besides too low by the factor
    1 − κ/m. For N = m both together are Akaike's final prediction error, v(N + κ)/(N − κ).

    Source: Akaike (1969), "Fitting autoregressive models for prediction". Infinite for models of as many degrees of
    freedom as there are values.

    Parameters
    ----------
    variance : float
        v, the error variance at the best weights.
    capacity : int
        κ.
    n_observed : int, optional
        N; without it the answer is v.
    n_fitted : int, optional
        m, of a variance that was fitted; None for that of a known process.

    Examples
    --------
    >>> final_prediction_error(1.0, 10, 100), final_prediction_error(1.0, 10, 110, 110)
    (1.1, 1.2)
    >>> final_prediction_error(1.0, 10, None)
    1.0
    """
    if n_observed is None:
        return variance
    if capacity >= min(n_observed, n_fitted or n_observed):
        return float("inf")
    return variance * (1 + capacity / n_observed) / (1 - capacity / n_fitted if n_fitted else 1.0)
