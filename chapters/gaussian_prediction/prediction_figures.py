"""Sampled prediction errors, and the autocorrelation errors of trained models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from chapters.gaussian_prediction.model_autocorrelation import AutocorrelationError
from chapters.gaussian_prediction.prediction import SampledError


def plot_sampled_errors(samples: Mapping[str, SampledError], expected: Mapping[str, float], ax: Axes) -> Axes:
    """Relative distance of each sampled mean from the value it should have, with one and two standard errors.

    Parameters
    ----------
    samples, expected : label → sampled error, and the value without sampling.
    """
    labels = list(samples)
    height = np.arange(len(labels))
    means = np.array([samples[label].mean / expected[label] - 1 for label in labels])
    errors = np.array([samples[label].standard_error / expected[label] for label in labels])
    ax.errorbar(100 * means, height, xerr=200 * errors, fmt="none", color="0.6", linewidth=1.0, capsize=0)
    ax.errorbar(100 * means, height, xerr=100 * errors, fmt="o", color="C0", linewidth=2.2)
    ax.axvline(0, color="0.3", linestyle="--", linewidth=0.9)
    ax.set_yticks(height, labels)
    ax.set(ylim=(len(labels) - 0.5, -0.5), xlabel="sampled mean squared error − Eq. 33, in % of Eq. 33")
    return ax


def plot_autocorrelation_errors(
    errors: Sequence[AutocorrelationError], labels: Sequence[str], axes: Sequence[Axes]
) -> Sequence[Axes]:
    """One panel per model: what is left of E in the system of Ĉ, and the source ΣX, over the lags.

    Each is relative to the largest |E| of its model.
    """
    for ax, error, label in zip(axes, errors, labels, strict=False):
        lags = np.arange(1, error.residual.size + 1)
        ax.plot(lags, error.error[1:] / error.size, color="0.6", linewidth=1.0, label="error E")
        ax.plot(lags, error.residual / error.size, color="C0", label="residual of E")
        ax.plot(lags, error.source / error.size, "o", color="C1", markerfacecolor="none", ms=4, label="source ΣX")
        ax.axhline(0, color="0.4", linewidth=0.7)
        ax.set(title=label, xlabel="lag k")
    axes[0].set_ylabel("relative to max |E|")
    return axes
