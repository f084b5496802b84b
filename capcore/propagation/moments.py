"""Mean, covariance and shape of the displacement through a stack of convolutions: the effective receptive field.

Layers displace independently, so cumulants add, exactly: no array of positions is needed, however deep or dilated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.generator import lumped


@dataclass(frozen=True, eq=False)
class Displacement:
    """Of the capacity of one output, on unbounded positions.

    Attributes
    ----------
    mean : (d,). covariance : (d, d). skewness, excess_kurtosis : (d,) along every axis, 0 for a Gaussian; NaN where
        nothing moves.
    """

    mean: np.ndarray
    covariance: np.ndarray
    skewness: np.ndarray
    excess_kurtosis: np.ndarray


def displacement(layers: Sequence[ConvolutionTransport]) -> Displacement:
    """Moments of where the capacity of one output ends; §3.1 for equal layers, Eqs 20–23 for dilated ones.

    Raises :class:`~capcore.propagation.matrix.NotStochasticError` for layers that do not conserve capacity, and
    ``ValueError`` for channels that are not lumpable.

    >>> field = displacement([ConvolutionTransport([[[0.25], [0.5], [0.25]]])] * 100)
    >>> field.covariance.item(), field.excess_kurtosis.round(6).item()
    (50.0, -0.01)
    """
    if not layers:
        raise ValueError("layers: found none, expected at least one.")
    parts: dict[int, tuple[np.ndarray, ...]] = {}
    for layer in layers:
        if id(layer) not in parts:
            parts[id(layer)] = _cumulants(lumped(layer.require_stochastic()))
    mean, covariance, third, fourth = (
        np.sum(column, axis=0) for column in zip(*(parts[id(x)] for x in layers), strict=True)
    )
    variance = np.diag(covariance)
    unknown = np.full(len(variance), np.nan)
    moving = variance > 0
    skewness = np.divide(third, np.maximum(variance, 0) ** 1.5, out=unknown.copy(), where=moving)
    return Displacement(mean, covariance, skewness, np.divide(fourth, variance**2, out=unknown, where=moving))


def _cumulants(layer: ConvolutionTransport) -> tuple[np.ndarray, ...]:
    """Mean (d,), covariance (d, d), and third and fourth cumulants (d,) along the axes, of one layer's step."""
    p, offsets = layer.weights.reshape(-1), layer.offsets.astype(float)
    mean = p @ offsets
    away = offsets - mean
    covariance = (away.T * p) @ away
    return mean, covariance, p @ away**3, p @ away**4 - 3 * np.diag(covariance) ** 2
