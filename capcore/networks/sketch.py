"""Capacities from products: Hutchinson's estimator zᵀSz of random signs z, and its error.

Half-widths are those of 95 % intervals by Student's law, plus what solves by conjugate gradients may still lack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr, svd

from capcore.networks.capacities import Capacities, by_group, half_widths, shaped
from capcore.networks.cost import Budget
from capcore.networks.products import FEW, SketchedModel


def columns_solved(prepared: Mapping[str, Any], probes: int, full: bool) -> tuple[int, list[int]]:
    """Columns that are solved for in all, and for each subspace.

    >>> columns_solved({"one": (np.eye(9)[:, :3], None, None)}, 16, False)
    (24, [3])
    """
    each = [min(basis.shape[1], probes) for basis, _, _ in prepared.values()]
    return probes + sum(each) + FEW + 1 + (2 * FEW + probes if full else 0), each


def estimate(
    model: SketchedModel, prepared: Mapping[str, Any], probes: int, rng: Any, budget: Budget | None = None
) -> dict[str, Any]:
    """Capacities and their half-widths, with the signs, S times them, and the most that a solve may lack.

    A limited budget is shared among the columns to solve for. The signs are then taken few at a time, and those that
    it does not suffice for are left out.
    """
    budget, full = Budget() if budget is None else budget, bool(model.errors.any())
    to_solve, of_each = columns_solved(prepared, probes, full)
    signs = rng.choice([-1.0, 1.0], size=(model.roots.size, probes))
    steep = steep_part(within(model, budget, 2 * FEW / to_solve), rng)
    to_solve -= 2 * FEW if full else 0
    whole = within(model, budget, probes / to_solve)
    images, lacking = _images(whole, signs) if budget.limited else whole.applied(signs)
    to_solve -= probes
    signs = signs[:, : images.shape[1]]
    probes = images.shape[1]
    lacked = [float(lacking.max())]
    known = np.square(steep).sum(axis=1)
    each = known[:, None] + signs * (images - steep @ (steep.T @ signs))
    parts = each.reshape(*model.roots.shape, probes)
    samples, per_output, per_example = each.sum(axis=0), parts.sum(axis=0), parts.sum(axis=1)
    means, errors = {}, {}
    for (name, (basis, labels, form)), count in zip(prepared.items(), of_each, strict=True):
        shared, to_solve = within(model, budget, count / to_solve), to_solve - count
        if basis.shape[1] <= probes:
            images_of, lacking = shared.applied(basis)
            along = (basis * images_of).sum(axis=0)
            mean, error = by_group(along, labels, form), by_group(lacking * along, labels, form)
        else:
            own = rng.choice([-1.0, 1.0], size=(basis.shape[1], probes))
            images_of, lacking = shared.applied(basis @ own)
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


def within(model: SketchedModel, budget: Budget, part: float) -> SketchedModel:
    """The model with a share of what is left of a budget; as it is where there is no limit."""
    return replace(model, budget=budget.share(part)) if budget.limited else model


def _images(model: SketchedModel, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S times as many signs as the model's budget suffices for, at least two, and what the solves may lack."""
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    for begin in range(0, signs.shape[1], FEW):
        if parts and model.budget.spent():
            break
        found = model.applied(signs[:, begin : begin + FEW])
        if parts and model.budget.spent() and found[1].max() > model.tolerance:  # cut short, it would say too little
            break
        parts.append(found)
    images, lacking = zip(*parts, strict=True)
    return np.hstack(images), np.concatenate(lacking)


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


def leverage_of_a_few(model: SketchedModel, images: np.ndarray, per_example: np.ndarray) -> tuple[int, float]:
    """The largest response of an example's outputs to themselves, along the direction that the probes suggest, and
    which example has it: among the few that seem to have the largest leverage."""
    chosen = np.argsort(per_example)[-FEW:]
    columns = np.zeros((*model.roots.shape, len(chosen)))
    for column, i in enumerate(chosen):
        columns[i, :, column] = svd(images.reshape(*model.roots.shape, -1)[i], full_matrices=False)[0][:, 0]
    columns = columns.reshape(model.roots.size, -1)
    found = (columns * model.applied(columns)[0]).sum(axis=0)
    return int(chosen[found.argmax()]), float(found.max())
