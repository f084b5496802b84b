"""The least memory that a notebook takes with its parameters: what could never fit is refused before its first step.

One table for all notebooks, by what a parameter counts. Estimates are lower bounds, from the smallest arrays that a
notebook with such a parameter holds; functions refuse the rest when they are called (:mod:`capcore.memory`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capcore.memory import TRAIN_COLUMNS, arrays, fits, too_large

WIDTHS = frozenset(
    "base_channels channel_sweep channels count dims guided large many n_units profile_channels "  # noqa: SIM905
    "shown_channels size teacher_width uniform units wide wide_channels width widths".split()
)
"""Channels, units and components: a square matrix of weights, with what training or a rank needs beside it."""
DEPTHS = frozenset("layers network_depth teacher_layers".split())  # noqa: SIM905
"""Layers of a network of some width, each with its matrix; ``n_layers`` where there is a ``width``."""
POWERS = frozenset("longest n_dilations n_layers".split())  # noqa: SIM905
"""Layers that multiply the inputs by the size of a kernel each."""
SQUARES = frozenset(["n_inputs"])
"""Inputs whose covariance is held as a matrix."""
COUNTS = frozenset(
    "bias_layers deepest depths digits draws lengths n_bootstrap n_converged n_draws n_epochs n_examples "  # noqa: SIM905
    "n_gaussian n_images n_lines n_networks n_positions n_resamples n_rotations n_runs n_samples n_seeds n_segments "
    "n_spaces n_starts n_steps n_studies n_subsets n_train n_trials n_values octaves samples "
    "very_deep".split()
)
"""Draws, samples, steps and positions: a number each, at least, and some copies."""
COPIES = 8  # weights, gradients, two moments of Adam, activations, and what a decomposition of them takes
ROOM = 16  # numbers kept for one draw or position, at least


def check_sizes(parameters: Mapping[str, Any]) -> None:
    """Raise :class:`~capcore.memory.TooLargeError` for the first parameter whose arrays could not fit into memory.

    What is no whole number, nor a list of them, is left to the notebook's own checks.

    >>> check_sizes({"channels": [1, 2, 4], "n_layers": 6})
    >>> check_sizes({"channels": [1, 2, 10**9]})
    Traceback (most recent call last):
    ...
    capcore.memory.TooLargeError: channels: found 1000000000, which takes about 6.4e+07 TB of memory, expected ...
    """
    kernels = f", kernel_size {parameters['kernel_size']}" if "kernel_size" in parameters else ""
    for name, value in sorted(parameters.items(), key=lambda item: item[0] in DEPTHS | POWERS):  # widths before depths
        for size in value if isinstance(value, list | tuple) else [value]:
            if isinstance(size, bool) or not hasattr(size, "__index__") or size < 1:
                continue
            n_bytes = _least(name, int(size), parameters)
            if not fits(n_bytes):
                found = f"{name}: found {size}" + (kernels if name in POWERS else "")
                raise too_large(found, n_bytes, "Choose a smaller one.")


def _least(name: str, size: int, parameters: Mapping[str, Any]) -> float:
    """Bytes of the smallest arrays that come with a parameter of this value."""
    has_width = "width" in parameters
    if name in DEPTHS or (name == "n_layers" and has_width):
        width = _whole(parameters, "width", "teacher_width", "units")
        return arrays(size, width, width, copies=COPIES)
    if name in POWERS:
        base = _whole(parameters, "kernel_size") + (0 if "kernel_size" in parameters else 1)
        inputs = 10**300 if size * base.bit_length() > 1000 else base**size
        return arrays(inputs, TRAIN_COLUMNS)
    if name in WIDTHS:
        return arrays(size, size, copies=COPIES)
    if name in SQUARES:
        return arrays(size, size, copies=COPIES)
    return arrays(size, ROOM) if name in COUNTS else 0.0


def _whole(parameters: Mapping[str, Any], *names: str) -> int:
    """The first of these that is a whole number of at least one; else one."""
    found: Any
    for found in map(parameters.get, names):
        if hasattr(found, "__index__") and found >= 1:
            return int(found)
    return 1
