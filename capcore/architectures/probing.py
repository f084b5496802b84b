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
SHORTEST = 64
"""Length of an axis that is not looked at, and the least of one that is."""
SPARE = 8
"""Length of an input that is made, in multiples of what the kernels alone read: some layers are called repeatedly."""


class Convolution(NamedTuple):
    """One layer with a kernel. ``adds``: the inputs that it adds to the field; ``widths``: channels below and above."""

    name: str
    kernel_size: int
    dilation: int
    stride: int
    adds: int
    widths: tuple[int, int] | None = None


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


def field_of(reads: Callable[[int], np.ndarray], n_outputs: int | None, phases: int = 2) -> Field:
    """The largest field of some outputs: neighbours in the middle, and the last one.

    Parameters
    ----------
    reads : callable
        Index of an output → mask (n,) of the inputs that it reads.
    n_outputs : int or None
        None if there is one output, without an index: it is then placed at the last input.
    phases : int
        How many neighbours: where layers upsample, their fields differ, and the first and the last are alike.

    Examples
    --------
    >>> field_of(lambda i: np.isin(np.arange(9), [i, i - 2]), 9)
    Field(first=-2, last=0, stride=1, n_read=2, whole=False)
    """
    last = (n_outputs or 1) - 1
    near = range((last + 1) // 2, min((last + 1) // 2 + phases, last + 1))
    masks = {at: reads(at) for at in (*near, last)}
    extents = {at: np.flatnonzero(mask) for at, mask in masks.items() if mask.any()}
    if not extents:
        raise ValueError("model: found no derivative by the inputs, expected one. Leave embeddings of tokens out.")
    steps = [at for at in near if at in extents]
    ends = [extents[at][0] + extents[at][-1] for at in steps]
    stride = (ends[-1] - ends[0]) / (2 * (len(steps) - 1)) if len(steps) > 1 else 1.0
    at, where = max(extents.items(), key=lambda item: (item[1][-1] - item[1][0], -item[0]))
    low, high, n = int(where[0]), int(where[-1]), masks[at].size
    own = n - 1 if n_outputs is None else int(at * stride)
    whole = low == 0 and high == n - 1 if n_outputs is None else low == 0 or high == n - 1
    return Field(low - own, high - own, int(stride) if stride == int(stride) else stride, len(where), whole)


class Asked:
    """A network with positive weights, asked which inputs its outputs depend on.

    Parameters
    ----------
    network : Adapter
    shape : tuple of int
        Of its inputs.
    """

    def __init__(self, network: Adapter, shape: tuple[int, ...]) -> None:
        self.network, self.shape, self._agreed = network, shape, True
        self.outputs = network.output_shape(network.params, shape)
        tree, rng, array = ravelled(network.all_params), np.random.default_rng(0), network.array
        above = 0 if network.module else -1  # the axis of weights that counts what they lead to
        leaves = [leaf for leaf in tree.leaves.values() if leaf.size]
        fan = np.concatenate([np.full(leaf.size, leaf.size / (*leaf.shape, 1)[above]) for leaf in leaves])
        draws = [(GAIN * rng.uniform(0.5, 1.5, fan.size) / fan, rng.uniform(0.5, 1.5, shape)) for _ in range(DRAWS)]
        places = np.sum(np.indices(shape), axis=0)
        rising = places * min(0.1, SPAN / max(places.max(), 1)) + SPAN
        draws += [(draws[0][0], np.exp(values)) for values in (rising, rising[(slice(None, None, -1),) * len(shape)])]

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
        axes, wide = {}, {}
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
        return [axis for axis in moving or long if self._is_open(axis)] or moving

    def _is_open(self, axis: int) -> bool:
        longer = tuple(size * (1 + (i == axis)) for i, size in enumerate(self.shape))
        try:
            self.network.output_shape(self.network.params, longer)
        except ValueError:
            return False
        return True

    def field(self, axis: int, index: Any = None, phases: int = 2) -> Field:
        """The field along an axis of the outputs, or of the one at an index."""
        along = self.moving.get(axis) if index is None else None

        def reads(at: int) -> np.ndarray:
            where = index if along is None else (slice(None),) * along + (at,)
            return _projected(self.reads(() if where is None else where), axis)

        self._agreed = True
        field = field_of(reads, None if along is None else self.outputs[along], phases)
        return field if self._agreed or field.n_read == field.size else field._replace(n_read=None)


def measured(
    network: Adapter, shape: tuple[int, ...], output: Output = None, time_axis: int | None = None
) -> list[tuple[Field, tuple[Convolution, ...]]]:
    """For each axis of positions of a network, the field of an output and the layers with a kernel."""
    asked = Asked(network, shape)
    index = None if output is None else index_of(asked.outputs, output)
    axes = asked.axes if time_axis is None else [axis_of(shape, time_axis)]
    if not axes:
        raise ValueError(f"inputs: found the shape {shape}, along which no outputs move. Say which is time_axis.")
    fields = []
    for k, axis in enumerate(axes):
        layers = _noted(network, shape, axis, k)
        period = min(int(np.prod([layer.stride for layer in layers], dtype=object)), SHORTEST)
        fields.append((asked.field(axis, index, 2 * period + 1), tuple(layers)))
    return fields


def grown(network: Adapter) -> list[tuple[Field, tuple[Convolution, ...]]]:
    """As :func:`measured`, for a PyTorch module of convolutions: along each axis at a length that holds its field."""
    kernels = [part for part in network.module.modules() if hasattr(part, "kernel_size")]
    first = next((part for part in kernels if hasattr(part, "in_channels")), None)
    if first is None:
        raise ValueError("inputs: not given, and found no convolution that tells their shape, expected an example.")
    names = ("kernel_size", "dilation", "stride")
    sizes = [[int(np.max(getattr(part, name, 1)) or 1) for name in names] for part in kernels]
    strides = min(int(np.prod([stride for _, _, stride in sizes], dtype=object)), 2**10)
    bound, multiple = 1 + sum((k - 1) * d for k, d, _ in sizes) * strides, int(np.lcm(SHORTEST, strides))
    n = -(-SPARE * bound // multiple) * multiple  # so that what is halved can be doubled again
    fields, n_axes = [], len(first.kernel_size)
    for axis in range(2, 2 + n_axes):
        others = (SHORTEST,) * n_axes
        fields += measured(network, (1, first.in_channels, *others[: axis - 2], n, *others[axis - 1 :]), time_axis=axis)
        if fields[-1][0].whole:
            raise ValueError(f"model: found that an output reads all {n:,} inputs, expected fewer. Give inputs=….")
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
        chosen = places if output is None else (places if isinstance(output, int) else places.reshape(shape))[output]
    except IndexError:
        chosen = places[:0]
    if np.size(chosen) != 1:
        raise ValueError(f"output: found {output!r} for outputs of shape {shape}, expected an index, such as -1.")
    return tuple(int(i) for i in np.unravel_index(int(np.ravel(chosen)[0]), shape))


def axis_of(shape: tuple[int, ...], given: int) -> int:
    """A given axis that is time, as an index from the front; raises ``ValueError`` if inputs have no such axis."""
    if not -len(shape) <= given < len(shape):
        raise ValueError(f"time_axis: found {given}, expected an axis of inputs of shape {shape}.")
    return given % len(shape)


def _projected(mask: np.ndarray, axis: int) -> np.ndarray:
    return mask.any(axis=tuple(i for i in range(mask.ndim) if i != axis))


def _noted(network: Adapter, shape: tuple[int, ...], along: int, axis: int) -> list[Convolution]:
    """The layers with a kernel of a PyTorch module, in the order in which they are called."""
    layers: list[Convolution] = []

    def hook(name: str) -> Callable[[Any, Any, Any], None]:
        def note(part: Any, given: Any, _: Any) -> None:
            kernel, stride = (_along(getattr(part, name), axis) for name in ("kernel_size", "stride"))
            dilation = _along(getattr(part, "dilation", 1), axis)
            plain = getattr(part, "groups", 0) == 1 and not getattr(part, "transposed", True)
            widths = (part.in_channels, part.out_channels) if plain else None
            jump = max(round(shape[along] / given[0].shape[2 + axis]), 1) if given[0].ndim > 2 + axis else 1
            layers.append(Convolution(name, kernel, dilation, stride, (kernel - 1) * dilation * jump, widths))

        return note

    parts = network.module.named_modules() if network.module else ()
    handles = [part.register_forward_hook(hook(name)) for name, part in parts if hasattr(part, "kernel_size")]
    network.output_shape(network.params, shape)
    for handle in handles:
        handle.remove()
    return layers


def _along(value: Any, axis: int) -> int:
    number = value[min(axis, len(value) - 1)] if isinstance(value, tuple | list) else value
    return int(number or 1)
