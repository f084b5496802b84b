"""On which inputs an output of a network depends: asked of the network itself, by its derivative.

The weights of a copy are positive and small, and so are the inputs. Then nothing cancels, no rectifier is off and no
gate is saturated, and the derivative of an output is zero only where it does not depend on an input. The largest of
several numbers depends on all of them, while its derivative sees one. So inputs that rise, and that fall, show the last
and the first of what it reads; they grow so fast that no constant hides it.
"""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from capcore.architectures.adapter import Adapter
from capcore.architectures.trees import ravelled
from capcore.checks.arguments import finite_array, library

Output = int | tuple[int, ...] | None
"""The index of an output, in the array of all, or in that array ravelled."""
GAIN = 0.05
"""Sum of the weights of one output: a residual block then multiplies by 1.05, and a hundred of them by 130."""
DRAWS = 3
"""Random weights and inputs whose dependencies are joined, for what normalisation makes negative."""
SPAN = 100.0
"""Logarithm of the least of inputs that rise, and of their range."""
PERIODS = (16, 8, 4, 2, 1)
"""Outputs after which fields are alike; where layers upsample, those of neighbours differ."""
LONGEST = 2**10
"""Length up to which an axis of open length is doubled, until no output reads all of it."""


class Field(NamedTuple):
    """What one output reads along one axis.

    ``first`` and ``last`` are relative to its own index times the stride; ``n_read`` is None where a maximum chooses
    among inputs with holes between them; ``whole``: it reaches the end of the input.
    """

    first: int
    last: int
    stride: float
    n_read: int | None
    whole: bool = False

    @property
    def size(self) -> int:
        """Positions from the first to the last."""
        return self.last - self.first + 1


def field_of(reads: Callable[[int], np.ndarray], n_outputs: int | None, neighbours: int = PERIODS[0]) -> Field:
    """The largest field of some outputs: neighbours in the middle, and the last one.

    Parameters
    ----------
    reads : callable
        Index of an output → mask (n,) of the inputs that it reads.
    n_outputs : int or None
        None if there is one output, without an index: it is then placed at the last input.
    neighbours : int
        How many after the one in the middle.

    Examples
    --------
    >>> field_of(lambda i: np.isin(np.arange(9), [i, i - 2]), 9)
    Field(first=-2, last=0, stride=1, n_read=2, whole=False)
    """
    last = (n_outputs or 1) - 1
    middle = (last + 1) // 2
    masks = {at: reads(at) for at in (*range(middle, min(middle + neighbours, last) + 1), last)}
    extents = {at: np.flatnonzero(mask)[[0, -1]] for at, mask in masks.items() if mask.any()}
    if not extents:
        raise ValueError("model: found no derivative by the inputs, expected one. Leave embeddings of tokens out.")
    at, (low, high) = max(extents.items(), key=lambda item: (np.ptp(item[1]), -item[0]))
    alike = [extents.get(at + period, (0, high - low + 1)) for period in PERIODS]
    shifts = [
        (ends[0] - low) / period for period, ends in zip(PERIODS, alike, strict=True) if np.ptp(ends) == high - low
    ]
    stride, n = shifts[0] if shifts else 1.0, masks[at].size
    own = n - 1 if n_outputs is None else int(at * stride)
    whole = low == 0 and high == n - 1 if n_outputs is None else low == 0 or high == n - 1
    n_read, stride = int(masks[at].sum()), int(stride) if stride == int(stride) else float(stride)
    return Field(int(low) - own, int(high) - own, stride, n_read, bool(whole))


class Asked:
    """A network with positive weights, asked which inputs its outputs depend on.

    Parameters
    ----------
    network : Adapter
    shape : tuple of int
        Of its inputs.
    n_draws : int
        1 for a first look, which maxima may mislead.
    """

    def __init__(self, network: Adapter, shape: tuple[int, ...], n_draws: int = DRAWS) -> None:
        self.network, self.shape, self._agreed = network, shape, True
        self.outputs = network.output_shape(network.params, shape)
        tree, rng, array = ravelled(network.all_params), np.random.default_rng(0), network.array
        above = 0 if network.module else -1  # the axis of weights that counts what they lead to
        leaves = [leaf for leaf in tree.leaves.values() if leaf.size]
        fan = np.concatenate([np.full(leaf.size, leaf.size / (*leaf.shape, 1)[above]) for leaf in leaves])
        draws = [(GAIN * rng.uniform(0.5, 1.5, fan.size) / fan, rng.uniform(0.5, 1.5, shape)) for _ in range(n_draws)]
        places = np.sum(np.indices(shape), axis=0)
        rising = places * min(0.1, SPAN / max(places.max(), 1)) + SPAN
        falling = rising[(slice(None, None, -1),) * len(shape)]
        draws += [(draws[0][0], np.exp(values)) for values in (rising, falling) if n_draws > 1]

        def run(w: Any, x: Any) -> Any:
            return network.apply(tree.unravel(w), x)

        run = run if network.module else library("jax").jit(run)
        with network.calling():
            self._slopes = [network.transforms.vjp(partial(run, array(w)), array(x))[1] for w, x in draws]

    def reads(self, where: Any) -> np.ndarray:
        """A mask of the inputs that outputs at an index read."""
        chosen = np.zeros(self.outputs)
        chosen[where] = 1
        with self.network.calling():
            slopes = [slope(self.network.array(chosen))[0] for slope in self._slopes]
        masks = [np.abs(np.asarray(slope)) > 0 for slope in slopes]  # NaN is none, where large numbers overflow
        self._agreed &= all(np.array_equal(mask, np.any(masks, axis=0)) for mask in masks[:DRAWS])
        return np.any(masks, axis=0)

    @cached_property
    def moving(self) -> dict[int, int]:
        """Axes of inputs → the axis of outputs along which what they read moves; only wide ones, if there are any."""
        axes: dict[int, int] = {}
        wide: dict[int, int] = {}
        for along in (i for i, size in enumerate(self.outputs) if size > 1):
            ends = [self.reads((slice(None),) * along + (end,)) for end in (0, -1)]
            for axis in range(len(self.shape)):
                first, last = (_projected(mask, axis) for mask in ends)
                if np.any(first != last):
                    axes.setdefault(axis, along)
                    wide |= {axis: axes[axis]} if max(first.sum(), last.sum()) > 1 else {}
        return wide or axes

    @property
    def axes(self) -> list[int]:
        """Axes of positions: those along which what outputs read moves; if several or none, those of open length."""
        moving, long = [*self.moving], [i for i, size in enumerate(self.shape) if size > 1]
        if len(moving) == 1 or len(long) < 2:
            return moving or long or [0]
        return [axis for axis in moving or long if self.is_open(axis)] or moving

    def is_open(self, axis: int) -> bool:
        """Whether the model takes inputs of twice the length."""
        try:
            self.network.output_shape(self.network.params, self.doubled(axis))
        except ValueError:
            return False
        return True

    def doubled(self, axis: int) -> tuple[int, ...]:
        """The shape of inputs of twice the length along an axis."""
        return tuple(size * (1 + (i == axis)) for i, size in enumerate(self.shape))

    def field(self, axis: int, output: Output = None, neighbours: int = PERIODS[0]) -> Field:
        """The field along an axis of all outputs, or of the one that is meant."""
        along = self.moving.get(axis) if output is None else None
        index = () if output is None else index_of(self.outputs, output)

        def reads(at: int) -> np.ndarray:
            return _projected(self.reads(index if along is None else (slice(None),) * along + (at,)), axis)

        self._agreed = True
        field = field_of(reads, None if along is None else self.outputs[along], neighbours)
        return field if self._agreed or field.n_read == field.size else field._replace(n_read=None)


def measured(
    network: Adapter, shape: tuple[int, ...], output: Output = None, time_axis: int | None = None
) -> list[Field]:
    """For each axis of positions of a network, the field of an output."""
    asked = Asked(network, shape)
    axes = asked.axes if time_axis is None else [axis_of(shape, time_axis)]
    if not axes:
        raise ValueError(f"inputs: found the shape {shape}, along which no outputs move. Say which is time_axis.")
    fields = []
    for axis in axes:
        longer, whole = asked, asked.field(axis, output, 0).whole
        while whole and longer.is_open(axis):
            longer = Asked(network, longer.doubled(axis), 1)
            whole, n = longer.field(axis, output, 0).whole, longer.shape[axis]
            if whole and n >= LONGEST:
                raise ValueError(
                    f"model: found that an output reads all of {n:,} inputs, expected fewer. Give longer ones."
                )
        fields.append((asked if longer is asked else Asked(network, longer.shape)).field(axis, output))
    return fields


def checked_inputs(inputs: object) -> np.ndarray:
    """An example of what a network takes."""
    if inputs is None:
        raise ValueError("inputs: not given, expected an example in the shape that the model takes.")
    return finite_array(inputs, "inputs", (1, 2, 3, 4, 5))


def index_of(shape: tuple[int, ...], output: Output) -> tuple[int, ...]:
    """The index of the output that is meant, from the front; raises ``ValueError`` if it is not one number."""
    places = np.arange(int(np.prod(shape)))
    try:
        chosen = (
            places
            if output is None
            else (places if isinstance(output, int | np.integer) else places.reshape(shape))[output]
        )
    except IndexError:
        chosen = places[:0]
    if np.size(chosen) != 1:
        raise ValueError(f"output: found {output!r} for outputs of shape {shape}, expected an index, such as -1.")
    return tuple(int(i) for i in np.unravel_index(int(np.ravel(chosen)[0]), shape))


def axis_of(shape: tuple[int, ...], given: int) -> int:
    """A given axis that is time, as an index from the front; raises ``ValueError`` if inputs have no such axis."""
    if not isinstance(given, int) or not -len(shape) <= given < len(shape):
        raise ValueError(f"time_axis: found {given!r}, expected an axis of inputs of shape {shape}.")
    return given % len(shape)


def _projected(mask: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(mask.any(axis=tuple(i for i in range(mask.ndim) if i != axis)))
