"""Sets of taps: linear models that read a few lags, or means over ranges of lags, with one weight for each.

Their columns have disjoint supports, so that κ is the number of parameters, exactly and at all parameters, and the best
weights are a projection. At few parameters they predict a process with a long memory better than any stack.
"""

from inspect import signature

import numpy as np

from capcore.architectures.linear import Linear
from capcore.checks.arguments import positive_integer
from capcore.checks.memory import arrays, check_memory

MOST_DOUBLINGS = 40  # of the widths of pools: more would reach back further than an array can be long


class Taps(Linear):
    """A linear model whose columns have disjoint supports: κ = n_params, without a tolerance.

    Parameters
    ----------
    starts, ends : list of int
        Column j is the mean over the lags from ``starts[j]`` to ``ends[j]`` − 1.
    n_inputs : int
        Positions, of one component each.

    Examples
    --------
    >>> Taps([0, 1], [1, 3], n_inputs=3).coefficients([5.0, 4.0]).tolist()
    [5.0, 2.0, 2.0]
    """

    def __init__(self, starts: list[int], ends: list[int], n_inputs: int) -> None:
        basis = np.zeros((n_inputs, len(starts)))
        for j, (start, end) in enumerate(zip(starts, ends, strict=True)):
            basis[start:end, j] = 1 / (end - start)
        super().__init__(basis)
        self.starts, self.ends = list(starts), list(ends)

    def __repr__(self) -> str:
        names = signature(type(self)).parameters
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)}' for name in names)})"

    def generic_capacity(self) -> int:
        """``n_params``: columns with disjoint supports are independent."""
        return self.n_params


class AutoRegressiveTaps(Taps):
    """The most recent lags, a weight for each: the autoregressive model AR(q), whose family is nested in q.

    Parameters
    ----------
    taps : int
        q, the number of lags.
    n_inputs : int, optional
        Positions that the model is given; it does not read those beyond ``taps``. Default: ``taps``.

    Examples
    --------
    >>> arch = AutoRegressiveTaps(2, n_inputs=4)
    >>> arch.coefficients([3.0, 5.0]).tolist(), arch.generic_capacity()
    ([3.0, 5.0, 0.0, 0.0], 2)
    """

    def __init__(self, taps: int, n_inputs: int | None = None) -> None:
        self.taps = positive_integer(taps, "taps")
        length = self.taps if n_inputs is None else positive_integer(n_inputs, "n_inputs")
        check_room(self.taps, "taps", length)
        super().__init__([*range(self.taps)], [*range(1, self.taps + 1)], length)


class LogTaps(Taps):
    """Lags at geometric distances, a weight for each: the first, the last and, between them, evenly in the logarithm.

    Parameters
    ----------
    n_inputs : int
        Positions; the last lag that is read is ``n_inputs`` − 1.
    taps : int
        Number of lags.

    Examples
    --------
    >>> LogTaps(n_inputs=64, taps=6).starts
    [0, 1, 4, 11, 27, 63]
    """

    def __init__(self, n_inputs: int, taps: int) -> None:
        self.taps = positive_integer(taps, "taps")
        length = positive_integer(n_inputs, "n_inputs")
        check_room(self.taps, "taps", length)
        lags = [at - 1 for at in geometric(1, length, self.taps - 1)] if self.taps > 1 else [0]
        super().__init__(lags, [lag + 1 for lag in lags], length)


class NearAndPools(Taps):
    """The most recent lags one by one, and means over ranges of lags that widen geometrically behind them.

    It has the two scales of paper 1, §5.1.4, in their simplest form: details of the recent past, and averages of the
    distant past.

    Parameters
    ----------
    near : int
        Number of recent lags, a weight for each.
    pools : int
        Number of means.
    n_inputs : int, optional
        Positions; the last pool ends there. Default: near · 2^pools, so that each pool reaches back twice as far as the
        one before.

    Examples
    --------
    >>> arch = NearAndPools(near=16, pools=8)
    >>> arch.n_inputs, arch.n_params, arch.generic_capacity()
    (4096, 24, 24)
    >>> NearAndPools(near=2, pools=2, n_inputs=8).coefficients([3.0, 5.0, 4.0, 8.0]).tolist()
    [3.0, 5.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    """

    def __init__(self, near: int, pools: int, n_inputs: int | None = None) -> None:
        self.near = positive_integer(near, "near")
        self.pools = positive_integer(pools, "pools")
        if n_inputs is None and self.pools > MOST_DOUBLINGS:
            raise ValueError(f"pools: found {self.pools:,} that double, expected at most {MOST_DOUBLINGS}.")
        length = self.near << self.pools if n_inputs is None else positive_integer(n_inputs, "n_inputs")
        check_room(self.near + self.pools, "near + pools", length)
        edges = geometric(self.near, length, self.pools)
        starts = [*range(self.near), *edges[:-1]]
        super().__init__(starts, [*range(1, self.near + 1), *edges[1:]], length)


def geometric(first: int, last: int, steps: int) -> list[int]:
    """``steps`` + 1 whole numbers from ``first`` to ``last`` that ascend, in even ratios where they can.

    >>> geometric(2, 16, 3), geometric(1, 5, 3)
    ([2, 4, 8, 16], [1, 2, 3, 5])
    """
    ranges = [first]
    for step in range(1, steps):
        even = round(first * (last / first) ** (step / steps))
        ranges.append(min(max(even, ranges[-1] + 1), last - steps + step))
    return [*ranges, last]


def check_room(count: int, name: str, n_inputs: int) -> None:
    """Raise ``ValueError`` if there are more columns than lags, ``TooLargeError`` if they would not fit into memory."""
    if count > n_inputs:
        raise ValueError(f"{name}: found {count}, expected at most {n_inputs} (n_inputs). Use fewer, or more inputs.")
    shape = f"basis: found {min(n_inputs, 10**99):.2e} inputs and {min(count, 10**99):.2e} columns"
    check_memory(arrays(n_inputs, count, copies=3), shape, "Use fewer.")
