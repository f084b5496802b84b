"""Counting eigenvalues of K̃K̃ᵀ above their noise, as paper 1 does (section 5.1.2, footnote 7; Figure 5 left).

K̃K̃ᵀ has no negative eigenvalues; those that come out negative are rounding, and their size is that of the noise.
Whether such a count is right is decided by rounding, so it differs between processors. The counts of the registered
checks are therefore stored, and made again for other models.

``python -m chapters run eigenvalue_counts`` makes it again, in a few seconds.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from capcore import Architecture, Hierarchical, Problem
from capcore.fitting.optimum import fit
from capcore.processes import FAMILIES, PowerLaw, Process
from chapters.gaussian_prediction.study import gram_eigenvalues, models_by_channels
from chapters.hierarchical.lbfgs_sweep import describes
from chapters.kit.witness import CHAOTIC, Witness

SETTINGS: dict[str, Any] = {"channels": [1, 2, 4, 8], "n_layers": 6, "kernel_size": 2, "seed": 0}
QUICK: dict[str, Any] = {"channels": [1, 2], "n_layers": 4}
WITNESS = Witness(["channels"], **CHAOTIC)


def noise_scale(eigenvalues: object) -> float:
    """Modulus of the most negative eigenvalue; 0 where none is negative.

    >>> noise_scale([1.0, 1e-16, -2e-16])
    2e-16
    """
    return max(-float(np.asarray(eigenvalues, dtype=float).min()), 0.0)


def model_eigenvalues(arch: Architecture, params: np.ndarray, problem: Problem) -> np.ndarray:
    """(n,) eigenvalues of K̃K̃ᵀ, K̃ = Σ ∂A/∂W, at the given parameters, descending: the paper's Λ."""
    return gram_eigenvalues(problem.covariance @ arch.jacobian(params))


def count_models(models: Mapping[str, Hierarchical], process: Process, seed: int = 0) -> dict[str, Any]:
    """Counts above the noise at the optima, in plain types.

    Returns
    -------
    ``right`` : label → whether the count is the exact κ, for ``process``. ``families`` : family → the same.
    ``negative_share`` : label → share of negative values among the n − κ smallest; 0 where there are none.

    >>> counts = count_models({"full": Hierarchical(2, n_layers=2)}, PowerLaw())
    >>> counts["right"], counts["negative_share"], list(counts["families"]["AR1"])
    ({'full': True}, {'full': 0.0}, ['full'])
    """
    spectra = {label: _spectrum(arch, process, seed) for label, arch in models.items()}
    noise = {label: values[models[label].generic_capacity() :] for label, values in spectra.items()}
    return {
        "right": {label: _is_right(models[label], values) for label, values in spectra.items()},
        "negative_share": {label: float(np.mean(v < 0)) if v.size else 0.0 for label, v in noise.items()},
        "families": {
            name: {label: _is_right(arch, _spectrum(arch, family(), seed)) for label, arch in models.items()}
            for name, family in FAMILIES.items()
        },
    }


def run(settings: dict[str, Any] = SETTINGS) -> dict[str, Any]:
    """The counts of the registered checks: :func:`count_models` for the power law."""
    models = models_by_channels(settings["channels"], settings["n_layers"], settings["kernel_size"])
    return count_models(models, PowerLaw(), settings["seed"])


def _spectrum(arch: Hierarchical, process: Process, seed: int) -> np.ndarray:
    problem = Problem.of(arch, process)
    return model_eigenvalues(arch, fit(arch, problem, rng=seed).params, problem)


def _is_right(arch: Hierarchical, eigenvalues: np.ndarray) -> bool:
    return int(np.count_nonzero(eigenvalues > noise_scale(eigenvalues))) == arch.generic_capacity()


def registered_counts(
    content: dict[str, Any], models: Mapping[str, Hierarchical], process: Process, seed: int = 0
) -> dict[str, Any]:
    """The stored counts where they are of these models, process and seed, otherwise those counted now.

    ``content`` is ``stored("eigenvalue_counts")``.
    """
    settings, values = content["settings"], content["values"]
    same = all(describes(settings, arch, process) for arch in models.values()) and seed == settings["seed"]
    return values if same and list(models) == list(values["right"]) else count_models(models, process, seed)
