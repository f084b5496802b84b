"""The least memory that a notebook takes with its parameters: what could never fit is refused before its first step.

A declaration says what each of its whole numbers counts (``kit.parameters``). Estimates are lower bounds, from the
smallest arrays that a notebook with such a parameter holds; functions refuse the rest when they are called
(:mod:`capcore.checks.memory`).
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from capcore.checks.memory import TRAIN_COLUMNS, arrays, check_memory

COPIES = 8  # weights, gradients, two moments of Adam, activations, and what a decomposition of them takes
ROOM = 16  # numbers kept for one draw or position, at least


class Size(Enum):
    """What a whole number, or a list of them, counts. Widths are refused before depths, which multiply them."""

    WIDTH = "channels, units or components: a square matrix of weights, with what training or a rank needs beside it"
    SQUARE = "inputs whose covariance is held as a matrix"
    COUNT = "draws, samples, steps or positions: a number each, at least, and some copies"
    DEPTH = "layers of a network of some width, each with its matrix"
    POWER = "layers that multiply the inputs by the size of a kernel each"


def check_sizes(parameters: Mapping[str, Any], counted: Mapping[str, Size]) -> None:
    """Raise ``TooLargeError`` of :mod:`capcore.checks.memory` for the first of the ``counted`` that could not fit.

    >>> check_sizes({"channel_list": [1, 2, 4], "n_layers": 6}, {"channel_list": Size.WIDTH, "n_layers": Size.POWER})
    >>> check_sizes({"width": 10**9}, {"width": Size.WIDTH})
    Traceback (most recent call last):
    ...
    capcore.checks.memory.TooLargeError: width: found 1000000000, which takes about 6.4e+07 TB of memory, ...
    """
    widths = [_whole(parameters[name]) for name, size in counted.items() if size is Size.WIDTH]
    width = min(widths[0], default=1) if widths else 1
    taps = parameters.get("kernel_size", 2)
    for kind in Size:
        for name in (name for name, size in counted.items() if size is kind):
            for number in _whole(parameters[name]):
                n_bytes = _least(kind, number, width, taps)
                kernels = f", kernel_size {taps}" if kind is Size.POWER and "kernel_size" in parameters else ""
                check_memory(n_bytes, f"{name}: found {number}{kernels}", "Choose a smaller one.")


def _least(kind: Size, number: int, width: int, taps: int) -> float:
    """Bytes of the smallest arrays that come with a number of this kind."""
    if kind is Size.COUNT:
        return arrays(number, ROOM)
    if kind is Size.DEPTH:
        return arrays(number, width, width, copies=COPIES)
    if kind is Size.POWER:
        return arrays(10**300 if number * taps.bit_length() > 1000 else taps**number, TRAIN_COLUMNS)
    return arrays(number, number, copies=COPIES)


def _whole(value: Any) -> list[int]:
    """A number, or the numbers in a list, in lists of a list too."""
    return [number for each in value for number in _whole(each)] if isinstance(value, list) else [value]
