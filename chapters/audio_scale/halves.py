"""Capacity by octave of lag for stacks whose lower and upper halves have channels of their own, at many lengths.

Nothing lists the inputs, so that a million of them take seconds. The far half of a field is its last octave.

``python -m chapters run octaves`` makes it again, in about seven minutes on one core.
"""

from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from capcore import Hierarchical, PowerLaw, exponential_sequence
from capcore.large.octaves.capacity import octave_capacities
from capcore.large.octaves.fit import fit_octaves
from chapters.kit.witness import Witness

SETTINGS: dict[str, Any] = {"layers": [6, 8, 10, 12, 14, 16, 18, 20], "channels": [1, 2, 3, 4]}
QUICK: dict[str, Any] = {"layers": [6], "channels": [1, 2]}
WITNESS = Witness(
    ["layers channels"], elsewhere={"": 1e-3}, reason="An optimum is known to half the digits along flat directions."
)


def hidden_channels(n_layers: int, lower: int, upper: int) -> list[int]:
    """(L − 1,) channels of the hidden layers; where an equal number of layers meets, the fewer ones.

    >>> hidden_channels(6, 2, 4), hidden_channels(5, 2, 4)
    ([2, 2, 2, 4, 4], [2, 2, 4, 4])
    """
    half, between = divmod(n_layers - 1, 2)
    return [lower] * half + [min(lower, upper)] * between + [upper] * half


def key(n_layers: int, lower: int, upper: int) -> str:
    """Name of a design among the values.

    >>> key(14, 2, 4)
    '14 2 4'
    """
    return f"{n_layers} {lower} {upper}"


def design(n_layers: int, lower: int, upper: int) -> dict[str, Any]:
    """One optimum for the power law: its weights, loss, total, and capacity of the lags 0, 1, 2–3, 4–7, ….

    >>> row = design(6, 1, 1)
    >>> row["total"], row["n_params"], len(row["per_octave"]), row["converged"]
    (7, 12, 7, True)
    """
    arch = Hierarchical(hidden_channels(n_layers, lower, upper), n_layers)
    sequence = exponential_sequence(PowerLaw(), arch.n_inputs)
    octave_fit = fit_octaves(arch.channels, arch.kernel_sizes, sequence)
    capacity = octave_capacities(octave_fit.kernels, sequence)
    return {
        "n_params": arch.n_params,
        "total": capacity.total,
        "loss": float(f"{octave_fit.loss:.4g}"),
        "converged": bool(octave_fit.converged),
        "per_octave": capacity.per_octave.round(4).tolist(),
    }


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """``layers n_lower n_upper`` → :func:`design`, for every combination."""
    designs = [(n, a, b) for n in settings["layers"] for a in settings["channels"] for b in settings["channels"]]
    return {key(*settings): design(*settings) for settings in tqdm(designs, unit="optimum", disable=not progress)}
