"""Capacities from products: Hutchinson's estimator zᵀSz of random signs z, and its error.

Half-widths are those of 95 % intervals by Student's law, plus what solves by conjugate gradients may still lack.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import svd
from scipy.stats import t

from capcore.networks.products import FEW, SketchedModel
from capcore.networks.results import Capacities
from capcore.networks.subspaces import by_group, shaped

LEVEL = 0.95
"""Level of the intervals whose half-widths are reported as errors."""
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Estimate:
    """Capacities and their half-widths, S times the signs (N·K, m), and the most that a solve may lack."""

    means: Capacities
    errors: Capacities
    images: np.ndarray
    lacking: float


def half_widths(samples: np.ndarray, quadratic: bool = False) -> np.ndarray:
    """(…) half-widths of 95 % intervals of means of samples (…, m), by Student's law of m − 1 degrees of freedom.

    Parameters
    ----------
    samples : (…, m) array
        Independent and identically distributed along the last axis.
    quadratic : bool
        Whether they are values of a non-negative quadratic form. Their scatter grows with their mean, so a mean that is
        too low comes with an interval that is too short. On a logarithmic scale the interval ends at mean·exp(x) for
        a relative half-width of x; the half-width is this end's, to second order. Such samples have x at most
        Student's factor.

    Examples
    --------
    >>> half_widths(np.array([1.0, 2.0, 3.0])).round(2), half_widths(np.array([1.0, 2.0, 3.0]), True).round(2)
    (np.float64(2.48), np.float64(4.03))
    """
    m = samples.shape[-1]
    factor = float(t.ppf((1 + LEVEL) / 2, m - 1))
    widths = factor * samples.std(axis=-1, ddof=1) / np.sqrt(m)
    if not quadratic:
        return widths
    return widths * (1 + widths / np.maximum(np.abs(samples.mean(axis=-1)), widths / factor + TINY) / 2)


def estimate(model: SketchedModel, prepared: Mapping[str, Any], probes: int, rng: Any) -> Estimate:
    """Capacities and their half-widths."""
    signs = rng.choice([-1.0, 1.0], size=(model.roots.size, probes))
    images, lacking = model.applied(signs)
    most = float(lacking.max())
    samples, lacked = signs * images, [most]
    means, errors = {}, {}
    for name, (basis, labels, form) in prepared.items():
        if basis.shape[1] <= probes:
            images_of, lacking = model.applied(basis)
            along = (basis * images_of).sum(axis=0)
            mean, error = by_group(along, labels, form), by_group(lacking * along, labels, form)
        else:
            own = rng.choice([-1.0, 1.0], size=(basis.shape[1], probes))
            images_of, lacking = model.applied(basis @ own)
            sums = by_group(own * (basis.T @ images_of), labels, form)
            mean = sums.mean(axis=1)
            error = half_widths(sums, quadratic=form == ()) + lacking.max() * np.abs(mean)
        means[name], errors[name] = shaped(mean, form), shaped(error, form)
        lacked.append(float(lacking.max(initial=0.0)))

    def of(axis: int) -> tuple[np.ndarray, np.ndarray]:
        sums = samples.reshape(*model.roots.shape, probes).sum(axis=axis)
        return sums.mean(axis=-1), half_widths(sums) + most * np.abs(sums.mean(axis=-1))

    totals = samples.sum(axis=0)
    spread = float(half_widths(totals, quadratic=True)) + most * float(totals.mean())
    outputs, examples = of(0), of(1)
    return Estimate(
        Capacities(float(totals.mean()), outputs[0], examples[0], means),
        Capacities(spread, outputs[1], examples[1], errors),
        images,
        max(lacked),
    )


def leverage_of_a_few(model: SketchedModel, images: np.ndarray, per_example: np.ndarray) -> tuple[int, float]:
    """The largest response of an example's outputs to themselves, along the direction that the probes suggest, and
    which example has it: among the few that seem to have the largest leverage."""
    examples = np.argsort(per_example)[-FEW:]
    columns = np.zeros((*model.roots.shape, len(examples)))
    for column, i in enumerate(examples):
        columns[i, :, column] = svd(images.reshape(*model.roots.shape, -1)[i], full_matrices=False)[0][:, 0]
    columns = columns.reshape(model.roots.size, -1)
    leverages = (columns * model.applied(columns)[0]).sum(axis=0)
    return int(examples[leverages.argmax()]), float(leverages.max())
