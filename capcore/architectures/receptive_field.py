"""Receptive fields: how many inputs one output of a stack of convolutions reads.

In a plain stack every layer adds (k − 1) · d inputs to one. For modules and functions no formula is assumed: they are
run, and asked on which inputs an output depends
(:mod:`capcore.architectures.probing`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from capcore.architectures.adapter import adapted
from capcore.architectures.base import Architecture
from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.probing import Convolution, Field, Output, checked_inputs, grown, measured
from capcore.checks.arguments import plain_array, plain_number
from capcore.results.notebook import as_table

LISTED = 2**22
"""Inputs up to which it is counted how many of them are read."""


@dataclass(frozen=True, eq=False)
class ReceptiveField:
    """The inputs that one output reads.

    Attributes
    ----------
    size : int, or tuple of int
        Number of positions from the first to the last that is read; one number for each axis of an image.
    first, last : int, or tuple of int
        These two, relative to the output's index times the stride: negative is the past. A padded causal model has
        last = 0; a model without padding has first = 0. A single output counts as placed at the last input.
    stride : float, or tuple of float
        Inputs by which the field moves from one output to the next.
    n_read : int or None
        How many of the positions are read: below ``size`` where dilations leave holes. None for images and beyond 2^22.
    layers : tuple of Convolution
        Name, kernel size, dilation, stride, and the inputs that it adds, of each layer that has a kernel, along the
        first axis. One after another they add up to ``size`` − 1; of parallel branches the longest counts.
    skeleton : Architecture or None
        The stack of convolutions without activations, residual branches and pointwise layers: a
        :class:`~capcore.architectures.hierarchical.Hierarchical` model with the kernel sizes and dilations of the
        layers, whose channels are the narrower of what one layer writes and the next one reads. None unless the layers
        form one chain without strides or groups, whose field is the measured one.
    """

    size: int | tuple[int, ...]
    first: int | tuple[int, ...]
    last: int | tuple[int, ...]
    stride: float | tuple[float, ...]
    n_read: int | None
    layers: tuple[Convolution, ...] = field(repr=False, default=())
    skeleton: Architecture | None = field(repr=False, default=None)

    _repr_html_ = as_table


def receptive_field(
    model: Any = None,
    params: Any = None,
    inputs: object = None,
    *,
    kernel_size: Any = None,
    dilations: Any = 1,
    channels: int | Sequence[int] = 4,
    output: Output = None,
    time_axis: int | None = None,
) -> ReceptiveField:
    """The inputs that one output reads: of a model that is run and asked, or of a stack that is given by numbers.

    Weights are replaced by positive random numbers, and the derivative of an output in the middle says which inputs it
    depends on. So padding, chomping, strides, residual branches, gates and skip connections count as they are written;
    of pools of maxima, only PyTorch's. Normalisation over time, attention and recurrence read the whole sequence.

    Parameters
    ----------
    model : object, optional
        A network, as :func:`~capcore.architectures.own_model.linearised` takes it, or an architecture.
    params : object, optional
        Of a function: any pytree; the variables of a Linen module.
    inputs : array_like, optional
        An example in the shape that the model takes; for a PyTorch module of convolutions one is made.
    kernel_size : int or list of int, optional
        Taps of the layers of a plain stack, instead of a model.
    dilations : int or list of int
        Of its layers, the lowest first. Repeat a dilation for each convolution of a block.
    channels : int or list of int
        Of its hidden layers. They matter for ``skeleton`` only.
    output : int or tuple of int, optional
        The index of the output that is meant, as in :func:`~capcore.architectures.own_model.linearised`; by default
        the one in the middle, or at the end, that reads most.
    time_axis : int, optional
        The axis of ``inputs`` that is time; by default those along which outputs read other inputs.

    Raises
    ------
    TypeError
        For a model of another kind, with the function of the package that takes it.
    ValueError
        If the output reads everything, or arguments do not go together.

    Examples
    --------
    >>> receptive_field(kernel_size=2, dilations=[2**l for l in range(10)]).size  # a block of WaveNet
    1024
    >>> receptive_field(kernel_size=2, dilations=[1, 4, 16])  # with holes
    ReceptiveField(size=22, first=-21, last=0, stride=1, n_read=8)
    """
    if (model is None) == (kernel_size is None):
        raise ValueError("model, kernel_size: found both or neither, expected a model or the numbers of a stack.")
    if model is None:
        n_layers = max(np.size(plain_array(value, "kernel_size, dilations")) for value in (kernel_size, dilations))
        model = Hierarchical(plain_number(channels, "channels"), n_layers, kernel_size, dilations)
    if isinstance(model, Hierarchical):
        return _of_stack(model)
    if isinstance(model, Architecture):
        n = model.n_inputs
        return ReceptiveField(n, 1 - n, 0, 1, n, skeleton=model)
    network = adapted(model, params)
    if inputs is None and network.module:
        if (output, time_axis) != (None, None):
            raise ValueError("output, time_axis: found some without inputs, expected both beside inputs=….")
        return _joined(grown(network))
    return _joined(measured(network, checked_inputs(inputs).shape, output, time_axis))


def _of_stack(stack: Hierarchical) -> ReceptiveField:
    rows = enumerate(zip(stack.kernel_sizes, stack.dilations, strict=True), 1)
    layers = tuple(Convolution(f"layer {l}", k, d, 1, (k - 1) * d) for l, (k, d) in rows)
    n, n_read = stack.n_inputs, None
    if n <= LISTED:
        thin = Hierarchical(1, stack.n_layers, stack.kernel_sizes, stack.dilations)
        n_read = int(np.count_nonzero(thin.coefficients(np.ones(thin.n_params))))
    return ReceptiveField(n, 1 - n, 0, 1, n_read, layers, stack)


def _joined(axes: list[tuple[Field, tuple[Convolution, ...]]]) -> ReceptiveField:
    """One number of every kind for a sequence, a tuple for an image."""
    (one, layers), *others = axes
    if not others:
        n_read, skeleton = one.n_read, _skeleton(one.size, layers)
        return ReceptiveField(one.size, one.first, one.last, one.stride, n_read, layers, skeleton)
    size, first, last, stride = zip(*((f.size, f.first, f.last, f.stride) for f, _ in axes), strict=True)
    return ReceptiveField(size, first, last, stride, None, layers)


def _skeleton(size: int, layers: Sequence[Convolution]) -> Hierarchical | None:
    """The stack of the layers with more than one tap, if they form one chain with a field of this size."""
    chain = [layer for layer in layers if layer.kernel_size > 1]
    widths = [layer.widths for layer in chain if layer.widths]
    plain = len(widths) == len(chain) and all(layer.stride == 1 for layer in layers)
    if not chain or not plain or size != 1 + sum(layer.adds for layer in chain):
        return None
    hidden = [min(below[1], above[0]) for below, above in pairwise(widths)]
    ks, ds = [layer.kernel_size for layer in chain], [layer.dilation for layer in chain]
    return Hierarchical(hidden, len(chain), ks, ds, widths[0][0])
