"""Which tensors of a checkpoint are layers, and which matrices they give: slices as in paper 3, or unfolded kernels.

Most checkpoints give the names and shapes of tensors, but do not say what they are for. A tensor with two axes is
therefore read as a linear layer, and one with three to five axes as a convolution whose kernel axes follow (out, in).
If the shape misleads, for example because of groups, the caller can say so.

A tensor with three axes whose name mentions experts is read as a stack of matrices (experts, out, in). Some layers,
such as GPT-2's, are stored as (in, out). Their spectrum is the same; only rows and columns are reported swapped.

A convolution kernel (out, in, *kernel) is not a matrix. The paper takes one matrix (out, in) per tap, called a slice.
The reference tool pools the eigenvalues of all slices in one density. Textbooks unfold the kernel into (out, in·taps).
None of these is the linear map that the layer applies, whose spectrum is
:func:`~capcore.spectra.eigenvalues.operator_spectra`. Groups of channels make each of them block-diagonal, so the
spectrum is that of all blocks together. In a depthwise kernel each group has one channel, and no matrix is left.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TypeVar

import numpy as np

from capcore.checkpoints.tensors import Checkpoint, Tensor
from capcore.checks.arguments import all_of_kind, of_kind, one_of, plain_array, positive_integer
from capcore.results.notebook import Record

ARRANGEMENTS = ("slices", "pooled", "unfolded", "operator")
KINDS = ("linear", "embedding", "stack", "conv1d", "conv2d", "conv3d", "skip")
LAYOUTS = ("channels-first", "channels-last")
_EMBEDDING = re.compile(r"embed|\bw[tp]e\b|token", re.IGNORECASE)
_STATISTICS = re.compile(r"running_|moving_|num_batches|(^|[._/])(mean|var|variance)$")
_EXPERTS = re.compile(r"experts|(^|[._])moe([._]|$)|_exps\b")
_BIAS = re.compile(r"bias(_table|_[ih]h\w*)?$")
_RATES = re.compile(r"(^|[._])(A_log|ssm_a)$")
_DEPTHWISE = re.compile(r"depthwise_(kernel|weights?)(:0)?$|(^|\.)(ssm_conv1d\w*|shortconv\.conv)\.weight$")
"""Names of depthwise kernels, which shapes do not reveal: (*kernel, in, multiplier) in Keras, (in, taps) in GGUF."""
_QUANTISED = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float", "bfloat", "complex", "q")
"""Prefixes of the types in which weights are stored. 64-bit integers are left out: they are counters and positions."""
T = TypeVar("T")


@dataclass(frozen=True)
class Layer:
    """One layer with weights.

    Attributes
    ----------
    name : str
        Name of its tensor.
    kind : str
        ``linear``, ``embedding``, ``stack``, ``conv1d``, ``conv2d`` or ``conv3d``.
    shape : tuple of int
        (groups, out/groups, in/groups, *kernel), whatever the order in the file. Channels of different groups do not
        mix, and most layers have only one group. A stack of n matrices has the shape (1, out, in, n), with the matrices
        as its slices.
    tensor : Tensor
        The tensor as stored in the checkpoint; ``channels_last`` and ``transposed`` describe the order of its axes.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    tensor: Tensor = field(repr=False)
    channels_last: bool = field(default=False, repr=False)
    transposed: bool = field(default=False, repr=False)

    @property
    def groups(self) -> int:
        """Number of groups of channels."""
        return self.shape[0]

    @property
    def kernel(self) -> tuple[int, ...]:
        """Number of taps along each axis, or of matrices in a stack; ``()`` for a layer without a kernel."""
        return self.shape[3:]

    @property
    def is_convolution(self) -> bool:
        """Whether the layer is a convolution, so that its slices are taps that act on the same input."""
        return self.kind.startswith("conv")

    def weights(self) -> np.ndarray:
        """Read the weights as an array of this ``shape``, in the file's data type and as a view if possible."""
        values = self.tensor.read()
        if self.kind == "embedding":  # there may be axes of length one before or between
            return values.reshape(self.shape)
        if self.kind == "stack":
            values = np.moveaxis(values, 0, -1)
            return (values.swapaxes(0, 1) if self.transposed else values)[None]
        if self.kind == "linear":  # any axes, of which the first or the last is one of the matrix
            last = self.channels_last != self.transposed
            values = values.reshape((-1, values.shape[-1]) if last else (len(values), -1))
        if self.channels_last:
            values = np.moveaxis(values, (-1, -2), (0, 1))
        split = values.reshape(self.groups, values.shape[0] // self.groups, *values.shape[1:])
        return split.swapaxes(1, 2) if self.transposed else split


@dataclass(frozen=True)
class Skipped(Record):
    """A tensor, or a part of one, that is not analysed, with the reason.

    Attributes
    ----------
    name : str
        Name of the tensor or slice.
    shape : tuple of int
        Its shape.
    reason : str
        Why it is not analysed, in a sentence.
    weights : bool
        Whether a tensor that is not a layer may still hold the weights of one, such as quantised weights that are not
        read. Biases, scales, statistics and masks do not.
    """

    name: str
    shape: tuple[int, ...]
    reason: str
    weights: bool = False


@dataclass(frozen=True, repr=False)
class Layers(Record):
    """Layers in the order of the checkpoint, and every other tensor with the reason why it is not a layer."""

    layers: tuple[Layer, ...]
    skipped: tuple[Skipped, ...]


def find_layers(
    checkpoint: Checkpoint,
    *,
    kinds: Mapping[str, str] | None = None,
    groups: Mapping[str, int] | None = None,
    transposed: Sequence[str] = (),
    layout: str = "channels-first",
) -> Layers:
    """Find the :class:`~capcore.spectra.layers.Layers` of a checkpoint.

    Patterns of names are shell patterns such as ``layer1.*``. If several fit a name, the first one counts.

    Parameters
    ----------
    checkpoint : Checkpoint
        From :func:`~capcore.checkpoints.opening.read_checkpoint`.
    kinds : mapping, optional
        Kind of layer by pattern, for tensors whose shape misleads. The kind ``skip`` leaves them out. A tensor of more
        than two axes that is ``linear`` is a matrix of its first axis by all others. If it is ``transposed``, or of the
        layout ``channels-last``, it is one of its last axis by all others; if it is both, of its first again.
    groups : mapping, optional
        Number of groups of a convolution by pattern. ONNX files store it, but for most formats only the caller knows:
        a (64, 1, 3, 3) kernel may be depthwise, or it may read greyscale images.
    transposed : sequence of str
        Patterns of layers that are stored as (in, out) instead of (out, in), such as GPT-2's linear layers and
        transposed convolutions.
    layout : str
        ``channels-first`` for (out, in, *kernel), as in PyTorch, or ``channels-last`` for (*kernel, in, out), as in
        Keras and Flax.

    Raises
    ------
    ValueError
        If a pattern fits no tensor, or if groups do not divide the channels.

    Examples
    --------
    >>> from capcore.checkpoints.opening import read_checkpoint
    >>> network = find_layers(read_checkpoint({"fc.weight": np.ones((5, 3)), "fc.bias": np.ones(5)}))
    >>> [layer.name for layer in network.layers], network.skipped[0].reason
    (['fc.weight'], 'A bias: a vector has no spectrum.')
    """
    of_kind(checkpoint, "checkpoint", Checkpoint)
    of_kind(kinds, "kinds", Mapping | None, "a mapping of patterns to kinds")
    of_kind(groups, "groups", Mapping | None, "a mapping of patterns to numbers")
    one_of(layout, "layout", LAYOUTS)
    kinds, groups = dict(kinds or {}), dict(groups or {})
    for kind in kinds.values():
        one_of(kind, "kinds", KINDS)
    for pattern in [*kinds, *groups, *transposed]:
        if not any(fnmatchcase(name, pattern) for name in checkpoint):
            raise ValueError(f"{pattern!r}: found no tensor that it fits, expected one, as {[*checkpoint][:3]}.")
    layers, skipped = [], []
    for name, tensor in checkpoint.tensors.items():
        kind = by_pattern(kinds, name, tensor.kind)
        reason = "Left out by the caller." if kind == "skip" else _no_layer(tensor)
        if reason:
            skipped.append(Skipped(name, tensor.shape, reason, kind != "skip" and _may_be_weights(tensor)))
            continue
        swap = any(fnmatchcase(name, pattern) for pattern in transposed) or tensor.transposed
        n_groups = positive_integer(by_pattern(groups, name, tensor.groups), "groups")
        layers.append(_layer(tensor, kind, n_groups, swap, layout == "channels-last"))
    return Layers(tuple(layers), tuple(skipped))


def selected(
    checkpoint: Checkpoint, layers: str | Sequence[str] = (), skip: str | Sequence[str] = (), *, drop: bool = False
) -> Checkpoint:
    """Set aside, with the reason, the tensors that ``layers`` and ``skip`` exclude.

    Parameters
    ----------
    checkpoint : Checkpoint
    layers, skip : str or sequence of str
        Shell patterns such as ``layer1.*``, with or without ``.weight`` at the end. No ``layers`` means all.
    drop : bool
        Drop them instead of setting them aside.

    Raises
    ------
    ValueError
        If a pattern fits no tensor.

    Examples
    --------
    >>> from capcore.checkpoints import of_arrays
    >>> chosen = selected(of_arrays({"a.weight": np.eye(2), "b.weight": np.eye(2)}), ["a"])
    >>> [tensor.aside for tensor in chosen.tensors.values()]
    ['', 'Left out by the choice of layers.']
    """
    wanted = (_matching(checkpoint, "layers", layers) or {*checkpoint}) - _matching(checkpoint, "skip", skip)
    tensors = {
        name: tensor if name in wanted else replace(tensor, aside="Left out by the choice of layers.")
        for name, tensor in checkpoint.tensors.items()
        if name in wanted or not drop
    }
    return replace(checkpoint, tensors=tensors)


def _matching(checkpoint: Checkpoint, option: str, patterns: str | Sequence[str]) -> set[str]:
    """Names of the tensors that patterns fit, each at least one."""
    patterns = [patterns] if isinstance(patterns, str) else patterns
    all_of_kind(patterns, option, str, "patterns of names")
    names = set()
    for pattern in patterns:
        fitting = {name for name in checkpoint if fnmatchcase(name, pattern)}
        fitting |= {name for name in checkpoint if fnmatchcase(name.removesuffix(".weight"), pattern)}
        if not fitting:
            matrices = [name for name, tensor in checkpoint.tensors.items() if len(tensor.shape) > 1] or [*checkpoint]
            near = ", ".join(map(repr, get_close_matches(pattern, matrices, 3, 0.3) or matrices[:3]))
            raise ValueError(f"{option}: found no tensor that matches {pattern!r}, expected a name such as {near}.")
        names |= fitting
    return names


def by_pattern(options: Mapping[str, T], name: str, default: T) -> T:
    """Return the value of the first pattern that fits ``name``, or else ``default``.

    >>> by_pattern({"layer1.*": 32, "*": 16}, "layer2.conv", 0)
    16
    """
    return next((value for pattern, value in options.items() if fnmatchcase(name, pattern)), default)


def _no_layer(tensor: Tensor) -> str:
    """Why a tensor is not a layer, or an empty string if it is one."""
    name, shape = tensor.name, tensor.shape
    squeezed = [length for length in shape if length != 1]
    if tensor.aside or tensor.unread:
        return tensor.aside or tensor.unread
    if _is_mask(tensor):
        return f"A mask, not weights ({tensor.dtype})."
    if not tensor.is_real:
        return f"Of type {tensor.dtype}: weights are floating-point numbers."
    if tensor.size == 0:
        return "Empty."
    if _STATISTICS.search(name) and len(shape) < 2:
        return "Statistics of a normalisation, not weights."
    if len(shape) < 2 or (len(squeezed) < 2 and _EMBEDDING.search(name)):
        vector = "A bias" if _BIAS.search(name) else "A scale, as of a normalisation"
        return f"{vector}: a vector has no spectrum." if shape else "A single number."
    if _BIAS.search(name):
        return "A bias, though of several axes: it is added, and multiplies nothing."
    if _RATES.search(name):
        return "Logarithms of a state space's rates: no matrix that multiplies anything."
    if len(shape) > 5:
        return f"{len(shape)} axes: no layer is known to have so many."
    if _DEPTHWISE.search(name):
        return "No matrix: a depthwise kernel, of which every channel has its own and none mixes with another."
    return ""


def _is_mask(tensor: Tensor) -> bool:
    """Whether a tensor is a mask: Boolean, or (1, 1, n, n) and named like a bias, as in GPT-2's files."""
    square = len(tensor.shape) == 4 and tensor.shape[:2] == (1, 1) and tensor.shape[2] == tensor.shape[3] > 1
    return tensor.dtype == "bool" or (square and tensor.name.endswith((".bias", ".mask")))


def _may_be_weights(tensor: Tensor) -> bool:
    """Whether a tensor that is not a layer may still hold weights, in a form that cannot be read or is not a matrix."""
    wide = sum(length > 1 for length in tensor.shape) > 1
    packed = tensor.dtype in ("int8", "uint8") and (len(tensor.shape) > 1 or tensor.name.endswith("weight"))
    if tensor.aside or _is_mask(tensor) or tensor.size < 2 or not tensor.dtype.startswith(_QUANTISED):
        return False
    if "flat_param" in tensor.name and tensor.unread:
        return True
    return (wide or packed) and (not tensor.is_real or len(tensor.shape) > 5 or bool(_DEPTHWISE.search(tensor.name)))


def _layer(tensor: Tensor, kind: str, groups: int, transposed: bool, last: bool) -> Layer:
    shape, name = tensor.shape, tensor.name
    squeezed = tuple(length for length in shape if length != 1)
    if kind == "embedding" or (not kind and _EMBEDDING.search(name) and len(squeezed) == 2):
        matrix = shape if len(shape) == 2 else squeezed
        if len(matrix) != 2:
            raise ValueError(f"{name}: found the shape {shape}, expected two axes for an embedding.")
        return Layer(name, "embedding", (1, *matrix), tensor)
    if kind == "stack" or (not kind and len(shape) == 3 and _EXPERTS.search(name)):
        if len(shape) != 3 or groups != 1:
            raise ValueError(f"{name}: found shape {shape}, expected (matrices, out, in) without groups for a stack.")
        rows, columns = shape[:0:-1] if transposed else shape[1:]
        return Layer(name, "stack", (1, rows, columns, shape[0]), tensor, transposed=transposed)
    if kind == "linear":
        shape = (math.prod(shape[:-1]), shape[-1]) if last != transposed else (shape[0], math.prod(shape[1:]))
    natural = "linear" if len(shape) == 2 else f"conv{len(shape) - 2}d"
    if kind not in ("", natural):
        raise ValueError(f"{name}: found the shape {shape} for a layer of kind {kind!r}, expected {natural!r}.")
    first, second, *kernel = (shape[-1], shape[-2], *shape[:-2]) if last else shape
    if first % groups:
        raise ValueError(f"{name}: found {groups} groups for {first} channels, expected a divisor.")
    channels = (second, first // groups) if transposed else (first // groups, second)
    return Layer(name, natural, (groups, *channels, *kernel), tensor, last, transposed)


def slices(weights: np.ndarray) -> np.ndarray:
    """Slice a layer into matrices (taps, groups, out/groups, in/groups), the feature maps W_{l,i} of paper 3.

    ``weights`` : (groups, out/groups, in/groups, *kernel). Taps are in C order, and a linear layer has one.

    >>> slices(np.zeros((1, 8, 4, 3, 3))).shape
    (9, 1, 8, 4)
    """
    weights = _checked(weights)
    return np.moveaxis(weights.reshape(*weights.shape[:3], -1), -1, 0)


def unfolded(weights: np.ndarray) -> np.ndarray:
    """Unfold a layer into matrices (groups, out/groups, in/groups·taps), one row for all weights of an output channel.

    ``weights`` : (groups, out/groups, in/groups, *kernel).

    >>> unfolded(np.zeros((1, 8, 4, 3, 3))).shape
    (1, 8, 36)
    """
    weights = _checked(weights)
    return weights.reshape(*weights.shape[:2], -1)


def _checked(weights: np.ndarray) -> np.ndarray:
    weights = plain_array(weights, "weights")
    if weights.ndim < 3 or not weights.size:
        raise ValueError(f"weights: found shape {weights.shape}, expected (groups, out/groups, in/groups, *kernel).")
    return weights
