"""Stacks without overlap that nearly agree in parameters and capacity, and differ in where their capacity lies."""

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import NamedTuple

from capcore.architectures import Hierarchical

N_INPUTS = 64
PARAMS, CAPACITIES = (40, 48), (22, 26)
"""Least and most parameters and κ of the stacks that are compared."""


class Stack(NamedTuple):
    """A stack whose layers join as many neighbours as their kernel is long, the lowest layer first."""

    kernels: tuple[int, ...]
    channels: tuple[int, ...]

    @property
    def n_params(self) -> int:
        """Parameters of the linear stack, without biases.

        >>> Stack((4, 4), (5,)).n_params
        40
        """
        widths = (1, *self.channels, 1)
        return sum(a * k * b for a, k, b in zip(widths, self.kernels, widths[1:], strict=False))

    @property
    def capacity(self) -> int:
        """κ: the parameters less the square of the channels at each bond, which change no coefficient."""
        return self.n_params - sum(c * c for c in self.channels)

    @property
    def model(self) -> tuple[tuple[int, int], ...]:
        """The inputs below, and the channels, of each bond that narrows: stacks with the same are one linear model.

        A bond with as many channels as the layer below can fill, or the layer above can read, keeps every vector.

        >>> Stack((2, 2, 4), (2, 3)).model, Stack((4, 4), (3,)).model
        (((4, 3),), ((4, 3),))
        """
        widths, shapes = (1, *self.channels, 1), []
        for i, c in enumerate(self.channels):
            if c < min(widths[i] * self.kernels[i], widths[i + 2] * self.kernels[i + 1]):
                shapes.append((prod(self.kernels[: i + 1]), c))
        return tuple(shapes)

    @property
    def arch(self) -> Hierarchical:
        """The linear stack."""
        return Hierarchical(list(self.channels), kernel_size=list(self.kernels))


def compositions(m: int) -> Iterator[tuple[int, ...]]:
    """All ways to write m as an ordered sum.

    >>> list(compositions(3))
    [(1, 1, 1), (1, 2), (2, 1), (3,)]
    """
    if m == 0:
        yield ()
    for first in range(1, m + 1):
        yield from ((first, *rest) for rest in compositions(m - first))


def possible() -> Iterator[Stack]:
    """All stacks of 64 inputs, kernels powers of two, whose channels are at most six and all needed."""
    for powers in compositions(6):
        ends = [sum(powers[:i]) for i in range(1, len(powers))]
        for channels in product(range(1, 7), repeat=len(ends)):
            widths = (1, *channels, 1)
            kernels = tuple(2**p for p in powers)
            pairs = list(zip(widths, kernels, widths[1:], strict=False))
            if all(b <= a * k and a <= b * k for a, k, b in pairs):
                yield Stack(kernels, channels)


def alike() -> list[Stack]:
    """All possible stacks with about as many parameters and about the same κ.

    >>> len(alike())
    25
    """
    return [
        stack
        for stack in possible()
        if PARAMS[0] <= stack.n_params <= PARAMS[1] and CAPACITIES[0] <= stack.capacity <= CAPACITIES[1]
    ]
