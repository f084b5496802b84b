"""Receptive fields: how many inputs one output of a stack of convolutions reads.

In a plain stack every layer adds (k − 1) · d inputs to one. For modules and functions no formula is assumed: they are
run, and asked on which inputs an output depends
(:mod:`capcore.architectures.probing`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from capcore.architectures.adapter import adapted
from capcore.architectures.base import Architecture
from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.probing import Output, checked_inputs, measured
from capcore.checks.arguments import plain_array
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
        How many of the positions are read: below ``size`` where dilations leave holes. None for images, beyond 2^22,
        and where a pool of maxima has holes.
    """

    size: int | tuple[int, ...]
    first: int | tuple[int, ...]
    last: int | tuple[int, ...]
    stride: float | tuple[float, ...]
    n_read: int | None

    _repr_html_ = as_table


def receptive_field(
    model: Any = None,
    params: Any = None,
    inputs: object = None,
    *,
    kernel_size: Any = None,
    dilations: Any = 1,
    output: Output = None,
    time_axis: int | None = None,
) -> ReceptiveField:
    """The inputs that one output reads: of a model that is run and asked, or of a stack that is given by numbers.

    Weights are replaced by positive random numbers, and the derivative of an output in the middle says which inputs it
    depends on. So padding, chomping, strides, pooling, residual branches, gates and skip connections count as they are
    written. Where an output reads all of the example, longer ones are tried, if the model takes them. So normalisation
    over time, attention and recurrence, which read everything, are refused, unless their length is fixed.

    Parameters
    ----------
    model : object, optional
        A network, as :func:`~capcore.architectures.own_model.linearised` takes it, or an architecture.
    params : object, optional
        Of a function: any pytree; the variables of a Linen module.
    inputs : array_like, optional
        An example in the shape that the model takes.
    kernel_size : int or list of int, optional
        Taps of the layers of a plain stack, instead of a model.
    dilations : int or list of int
        Of its layers, the lowest first. Repeat a dilation for each convolution of a block.
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
        If an output reads everything, arguments do not go together, or the time axis is unclear.

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
        model = Hierarchical(1, n_layers, kernel_size, dilations)
    if isinstance(model, Architecture):
        n, n_read = model.n_inputs, None
        if isinstance(model, Hierarchical) and n <= LISTED:
            thin = Hierarchical(1, model.n_layers, model.kernel_sizes, model.dilations)
            n_read = int(np.count_nonzero(thin.coefficients(np.ones(thin.n_params))))
        return ReceptiveField(n, 1 - n, 0, 1, n_read if isinstance(model, Hierarchical) else n)
    fields = measured(adapted(model, params), checked_inputs(inputs).shape, output, time_axis)
    if len(fields) == 1:
        return ReceptiveField(fields[0].size, *fields[0][:4])
    size, first, last, stride = zip(*((f.size, f.first, f.last, f.stride) for f in fields), strict=True)
    return ReceptiveField(size, first, last, stride, None)
