"""Stacks as searches handle them: kernels and channels, drawn at random, changed a little, brought within a budget."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from capcore.architectures import Hierarchical
from capcore.designs.bonds import bonds

MOST = 8
"""Channels of a search at most; 128 inputs have no cut of a larger full rank."""
LOW = 0.8  # share of the budget that a random stack uses at least

Stack = tuple[tuple[int, ...], tuple[int, ...]]
"""Kernel sizes and channels, each channel count no larger than the attainable rank."""


def stack_of(channels: Mapping[int, int], n_inputs: int) -> Stack:
    """The stack cut above 2^k inputs with so many channels, k → channels.

    >>> stack_of({1: 5, 3: 1}, 16)
    ((2, 4, 2), (2, 1))
    """
    cuts = sorted(channels)
    sizes = [1, *(2**cut for cut in cuts), n_inputs]
    kernels = tuple(above // below for below, above in pairwise(sizes))
    ranks = bonds(kernels, [channels[cut] for cut in cuts])
    return kernels, tuple(rank for _, rank in ranks)


def channels_of(stack: Stack) -> dict[int, int]:
    """The other way round.

    >>> channels_of(((2, 4, 2), (2, 1)))
    {1: 2, 3: 1}
    """
    kernels, channels = stack
    cuts = np.cumsum(np.log2(kernels)).round().astype(int)[:-1].tolist()
    return dict(zip(cuts, channels, strict=True))


def arch_of(stack: Stack) -> Hierarchical:
    """The linear stack itself."""
    kernels, channels = stack
    return Hierarchical(list(channels), kernel_size=list(kernels))


def size(stack: Stack) -> int:
    """Number of parameters.

    >>> size(((2, 4, 2), (2, 1)))
    14
    """
    return arch_of(stack).n_params


def random_stack(n_inputs: int, budget: int, rng: np.random.Generator) -> Stack:
    """A random stack that uses most of a budget: random cuts, then random channels up to a random width."""
    while True:
        often = rng.choice([0.3, 0.5, 0.8])
        cuts = [cut for cut in range(1, depth(n_inputs)) if rng.random() < often]
        widest = rng.integers(2, MOST + 1)
        stack = stack_of({cut: int(rng.integers(1, widest + 1)) for cut in cuts}, n_inputs)
        if cuts and LOW * budget <= size(stack) <= budget:
            return stack


def changed(stack: Stack, n_inputs: int, budget: int, rng: np.random.Generator) -> Stack:
    """Another stack within the budget, one or two small changes away: a cut more or less, a channel more or less."""
    while True:
        channels = channels_of(stack)
        for _ in range(rng.integers(1, 3)):
            free = [cut for cut in range(1, depth(n_inputs)) if cut not in channels]
            kind = rng.random()
            if kind < 0.25 and free:
                channels[int(rng.choice(free))] = int(rng.integers(1, MOST + 1))
            elif kind < 0.5 and len(channels) > 1:
                channels.pop(int(rng.choice(list(channels))))
            else:
                cut = int(rng.choice(list(channels)))
                channels[cut] = int(np.clip(channels[cut] + rng.choice([-1, 1]), 1, MOST))
        neighbour = stack_of(channels, n_inputs)
        if neighbour != stack and size(neighbour) <= budget:
            return neighbour


def within(channels: Mapping[int, int], n_inputs: int, budget: int) -> Stack:
    """The stack, scaled down as a whole until it fits; once all cuts have one channel, its widest kernel is cut.

    >>> within({1: 4, 2: 8}, 16, 20), within({}, 16, 10)
    (((2, 2, 4), (1, 2)), ((4, 4), (1,)))
    """
    widths = dict(sorted(channels.items()))
    for share in np.linspace(1, 0, 4 * MOST + 1):
        stack = stack_of({cut: max(1, round(share * width)) for cut, width in widths.items()}, n_inputs)
        if stack[1] and size(stack) <= budget:
            return stack
    while True:
        ends = [0, *widths, depth(n_inputs)]
        below, above = max(pairwise(ends), key=lambda pair: pair[1] - pair[0])
        if above - below < 2:
            raise ValueError(f"budget: found {budget}, expected at least {size(stack)}, the smallest of these stacks.")
        widths = dict.fromkeys(sorted({*widths, (below + above) // 2}), 1)
        stack = stack_of(widths, n_inputs)
        if size(stack) <= budget:
            return stack


def depth(n_inputs: int) -> int:
    """Layers of kernel 2 that read so many inputs.

    >>> depth(128)
    7
    """
    return int(n_inputs).bit_length() - 1
