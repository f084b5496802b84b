"""Where a receptive field of audio length spends its capacity, and what the paper's own method would need there.

An even allocation gives every input the same capacity. Two numbers say how far a model is from it: how many times its
even share the most recent hundredth of the inputs has, and how many times its even share the far half has.

``python -m chapters run audio_scale`` makes it again, in about ten minutes on two cores.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore import Hierarchical, exponential_sequence
from capcore.capacity.allocation import allocate
from capcore.checks.arguments import quiet
from capcore.fitting.optimum import fit
from capcore.large.allocation import allocate_large
from capcore.large.fit import fit_large
from capcore.large.octaves.fit import fit_octaves
from capcore.processes import FAMILIES, PowerLaw, Process
from chapters.gaussian_prediction.study import gram_eigenvalues
from chapters.kit.witness import Witness

REGULAR = ("PowerLaw", "FractionalGaussianNoise", "RationalQuadratic")
"""Families whose target no smaller model reproduces exactly."""

SETTINGS: dict[str, Any] = {
    "n_layers": 14,
    "channels": [1, 2, 4, 8],
    "families": list(REGULAR),
    "lengths": [6, 8, 10, 12, 14, 16, 18, 20],
    "listed_up_to": 16,  # layers; longer fields are fitted without listing their inputs
    "paper": {"lengths": [6, 7, 8, 9, 10, 11], "max_iterations": 2000, "seed": 0},
}
QUICK: dict[str, Any] = {
    "n_layers": 8,
    "channels": [1],
    "lengths": [6, 8],
    "listed_up_to": 7,
    "paper": {"lengths": [6], "max_iterations": 3, "seed": 0},
}
WITNESS = Witness(
    ["channels", "families", "lengths", "paper.lengths"],
    volatile=["seconds", "stationarity"],
    elsewhere={"": 1e-4, "paper": inf},
    reason="At an optimum the gradient is rounding; the paper's method starts at random.",
)
THREADS = None  # seconds are stored: with as many threads of linear algebra as there are


def ratios(per_input: np.ndarray) -> dict[str, float]:
    """Capacity of the most recent hundredth of the inputs, and of the far half, over that of an even allocation.

    >>> ratios(np.array([1.0, 0.5, 0.25, 0.25]))
    {'near': 2.0, 'far': 0.5}
    """
    parts = {"near": per_input[: max(1, per_input.size // 100)], "far": per_input[per_input.size // 2 :]}
    return {name: float(part.mean() / per_input.mean()) for name, part in parts.items()}


def profile(n_layers: int, channels: int, process: Process, listed_up_to: int = 16, seed: int = 0) -> dict[str, Any]:
    """One optimum of a stack of kernel size 2, and its capacity by octave of lag; plain types, seconds included.

    Parameters
    ----------
    listed_up_to : layers beyond which the fit works with the digits of the lags, and never lists the inputs, for
        processes that are sums of decaying exponentials at any length.

    >>> row = profile(8, 2, PowerLaw())
    >>> row["n_inputs"], row["total"], len(row["per_octave"]), row["stationarity"] < 1e-8
    (256, 28, 9, True)
    """
    arch = Hierarchical(channels, n_layers)
    begin = perf_counter()
    sequence = None
    with suppress(ValueError):  # no sum of exponentials is known for this process
        sequence = exponential_sequence(process, arch.n_inputs) if n_layers > listed_up_to else None
    optimum: Any
    if sequence is None:
        optimum = fit_large(arch, process, rng=seed)
        params, singular = optimum.params, optimum.is_singular
    else:
        optimum = fit_octaves(arch.channels, arch.kernel_sizes, sequence)
        arch = Hierarchical([kernel.shape[2] for kernel in optimum.kernels[:-1]], kernel_size=arch.kernel_sizes)
        params, singular = np.concatenate([kernel.reshape(-1) for kernel in optimum.kernels]), False
    fitted = perf_counter()
    with quiet():
        found_capacity = allocate_large(arch, params, process)
    return {
        "n_inputs": arch.n_inputs,
        "channels": channels,
        "total": found_capacity.total,
        "generic_total": found_capacity.generic_total,
        "loss": float(optimum.loss),
        "stationarity": float(optimum.stationarity),
        "converged": bool(optimum.converged),
        "singular": bool(singular),
        **ratios(found_capacity.per_input),
        "per_octave": found_capacity.per_octave.tolist(),
        "seconds": {"fit": fitted - begin, "allocation": perf_counter() - fitted},
    }


def paper_method(n_layers: int, channels: int, process: Process, max_iterations: int, seed: int = 0) -> dict[str, Any]:
    """The same by the paper's means: L-BFGS-B from a random start, then the n × n matrix K̃K̃ᵀ and its eigenvectors.

    The shares are those of the package's own dense allocation at the same parameters, which needs no Gram matrix.
    """
    arch = Hierarchical(channels, n_layers)
    begin = perf_counter()
    optimum = fit(arch, process, method="l-bfgs-b", start="random", rng=seed, max_iterations=max_iterations)
    fitted = perf_counter()
    gram_eigenvalues(process.covariance(arch.n_inputs) @ arch.jacobian(optimum.params))
    ended = perf_counter()
    with quiet():
        per_input = allocate(arch, optimum.params, process).per_input
    return {
        "n_inputs": arch.n_inputs,
        "loss": optimum.loss,
        **ratios(per_input),
        "seconds": {"fit": fitted - begin, "allocation": ended - fitted},
    }


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """``channels``, ``families``, ``lengths`` (:func:`profile`) and ``paper`` (:func:`paper_method`)."""
    widest, length, paper = 4, settings["n_layers"], settings["paper"]
    limits = {"max_iterations": paper["max_iterations"], "seed": paper["seed"]}
    listed = settings["listed_up_to"]
    work: list[tuple[str, object, Callable[..., dict[str, Any]]]] = [
        *(("channels", c, partial(profile, length, c, PowerLaw())) for c in settings["channels"]),
        *(("families", name, partial(profile, length, widest, FAMILIES[name]())) for name in settings["families"]),
        *(("lengths", n, partial(profile, n, widest, PowerLaw(), listed)) for n in settings["lengths"]),
        *(("paper", n, partial(paper_method, n, widest, PowerLaw(), **limits)) for n in paper["lengths"]),
    ]
    values: dict[str, Any] = {}
    for group, key, make in tqdm(work, unit="model", disable=not progress):
        values.setdefault(group, {})[str(key)] = make()
    return values
