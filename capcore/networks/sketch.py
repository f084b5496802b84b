"""Capacities from products: Hutchinson's estimator zᵀSz of random signs z, and its error.

Half-widths are those of 95 % intervals by Student's law, plus what solves by conjugate gradients may still lack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr, svd

from capcore.networks.response import SketchedModel
from capcore.networks.results import Capacities, by_group, half_widths, shaped

FEW = 4
"""Number of columns that a sketch spends on the largest responses, and on the largest leverages."""


def estimate(model: SketchedModel, prepared: Mapping[str, Any], probes: int, rng: Any) -> dict[str, Any]:
    """Capacities and their half-widths, with the signs, S times them, and the most that a solve may lack."""
    signs = rng.choice([-1.0, 1.0], size=(model.roots.size, probes))
    (images, lacking), steep = model.applied(signs), steep_part(model, rng)
    lacked = [float(lacking.max())]
    known = np.square(steep).sum(axis=1)
    each = known[:, None] + signs * (images - steep @ (steep.T @ signs))
    parts = each.reshape(*model.roots.shape, probes)
    samples, per_output, per_example = each.sum(axis=0), parts.sum(axis=0), parts.sum(axis=1)
    means, errors = {}, {}
    for name, (basis, labels, form) in prepared.items():
        if basis.shape[1] <= probes:
            images_of, lacking = model.applied(basis)
            along = (basis * images_of).sum(axis=0)
            mean, error = by_group(along, labels, form), by_group(lacking * along, labels, form)
        else:
            own = rng.choice([-1.0, 1.0], size=(basis.shape[1], probes))
            images_of, lacking = model.applied(basis @ own)
            part = basis.T @ steep
            fixed = by_group(np.square(part).sum(axis=1), labels, form)
            sums = by_group(own * (basis.T @ images_of - part @ (part.T @ own)), labels, form)
            mean = fixed + sums.mean(axis=1)
            error = half_widths(sums, quadratic=form == ()) + lacking.max() * np.abs(mean)
        means[name], errors[name] = shaped(mean, form), shaped(error, form)
        lacked.append(float(lacking.max(initial=0.0)))
    total = float(samples.mean())

    def error_of(parts: np.ndarray, quadratic: bool = False) -> np.ndarray:
        return half_widths(parts, quadratic) + lacked[0] * np.abs(parts.mean(axis=-1))

    spread = float(half_widths(samples - known.sum(), quadratic=True)) + lacked[0] * total
    return {
        "signs": signs,
        "images": images,
        "lacking": max(lacked),
        "means": Capacities(total, per_output.mean(axis=-1), per_example.mean(axis=-1), means),
        "errors": Capacities(spread, error_of(per_output), error_of(per_example), errors),
    }


def steep_part(model: SketchedModel, rng: Any) -> np.ndarray:
    """(N·K, r) root of the part of S that responds by more than 1, found without the probes.

    With residual curvature a few eigenvalues of S can exceed all others. They would dominate the scatter of the random
    signs by squares of single normal numbers, whose law is far from Student's. Subtracting a fixed part from what is
    sampled, and adding its diagonal, changes no expectation (Nyström's approximation, as in Meyer et al., 2021).
    """
    if not model.errors.any():
        return np.empty((model.roots.size, 0))
    first = model.applied(rng.choice([-1.0, 1.0], size=(model.roots.size, FEW)))[0]
    basis = qr(first, mode="economic", check_finite=False)[0]
    image = model.applied(basis)[0]
    values, vectors = eigh(basis.T @ image, check_finite=False)
    above = values > 1
    return image @ (vectors[:, above] / np.sqrt(values[above]))


def leverage_of_a_few(model: SketchedModel, images: np.ndarray, per_example: np.ndarray) -> float:
    """Largest response of an example's outputs to themselves, along the main direction that the probes suggest."""
    chosen = np.argsort(per_example)[-FEW:]
    columns = np.zeros((*model.roots.shape, len(chosen)))
    for column, i in enumerate(chosen):
        columns[i, :, column] = svd(images.reshape(*model.roots.shape, -1)[i], full_matrices=False)[0][:, 0]
    columns = columns.reshape(model.roots.size, -1)
    return float((columns * model.applied(columns)[0]).sum(axis=0).max())
