"""The tensors of a checkpoint: name, type and shape are known at once, and values are read only on request."""

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from capcore.results.notebook import as_table

REAL = ("float16", "bfloat16", "float32", "float64")
"""Types that can be analysed as weights."""
SMALL = 2**16  # entries; tensors up to this size, such as vectors, are checked when a checkpoint is opened
DAMAGED = "The file is damaged or was written by something else: fetch it again, or save it anew."


class CheckpointError(ValueError):
    """A file that cannot or must not be read. The message says what was found, what was expected, and what to do."""

    def __str__(self) -> str:
        return shown(super().__str__())


class NoWeightsError(CheckpointError):
    """A file without weights, such as an optimiser's state. In a folder it is ignored."""


class NonFiniteError(CheckpointError):
    """A file with NaN or infinite weights, for callers who want to refuse it."""


@dataclass(frozen=True)
class Tensor:
    """One tensor of a checkpoint.

    Attributes
    ----------
    name : str
        The name in the file.
    dtype : str
        Type of the values that :meth:`read` returns, by NumPy's name; ``bfloat16``, ``float8_e4m3fn``, … for types that
        NumPy lacks.
    shape : tuple of int
        Sizes of the axes, as stored.
    values : callable
        Function that reads the values; see :meth:`read`.
    unread : str
        Why the values are not read; empty if they are.
    aside : str
        Why it is not a layer, although it can be read: for example a scale of another tensor, or a second copy.
    stored : str
        How the weights are stored, if that differs from how they are read, as for quantised weights.
    kind : str
        Kind of the layer, as for :func:`~capcore.spectra.layers.find_layers`; empty if the format does not tell.
    groups : int
        Number of groups of a convolution, whose channels do not mix; 1 if the format does not tell.
    transposed : bool
        Whether the format says that a convolution's kernel has shape (in, out/groups, *kernel).
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    values: Callable[[], np.ndarray] = field(default=lambda: np.zeros(0), repr=False, compare=False)
    unread: str = ""
    aside: str = ""
    stored: str = ""
    kind: str = ""
    groups: int = 1
    transposed: bool = False

    @property
    def size(self) -> int:
        """Number of entries."""
        return math.prod(self.shape)

    @property
    def is_real(self) -> bool:
        """Whether the entries are floating-point numbers that :meth:`read` returns."""
        return self.dtype in REAL and not self.unread

    def read(self) -> np.ndarray:
        """Array of shape ``shape`` in the file's type, which must not be modified. bfloat16 becomes float32, exactly.

        Raises ``CheckpointError`` if ``unread`` says why the values cannot be read.
        """
        if self.unread:
            raise CheckpointError(f"{self.name!r}: found values of type {self.dtype}. {self.unread}")
        return self.values()

    _repr_html_ = as_table


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Tensors by name: ``checkpoint["fc.weight"]`` reads one; ``checkpoint.tensors`` lists all, reading none.

    Attributes
    ----------
    name : str
        Of the file, without its folder.
    format : str
        ``safetensors``, ``npz``, ``npy``, ``torch``, ``onnx``, ``gguf``, ``hdf5``, ``lora`` or ``arrays``.
    digest : callable
        Function that computes the SHA-256 of each file by name; see :attr:`hashes`.
    size : int
        Bytes.
    tensors : mapping
        Name → :class:`~capcore.checkpoints.tensors.Tensor`.
    adapter_config : mapping
        Contents of the file of that name beside the weights of a LoRA adapter.
    """

    name: str
    format: str
    digest: Callable[[], Mapping[str, str]] = field(repr=False)
    size: int
    tensors: Mapping[str, Tensor] = field(repr=False)
    adapter_config: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def hashes(self) -> Mapping[str, str]:
        """SHA-256 by file, computed only once since it reads every byte."""
        return self.digest()

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the file; for several files, of their hashes in order; for arrays in memory, of the values."""
        hashes = [*self.hashes.values()]
        return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()

    @property
    def parts(self) -> Mapping[str, str]:
        """SHA-256 by file if there are several files, else empty."""
        return self.hashes if len(self.hashes) > 1 else {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.tensors:
            raise KeyError(f"{name!r}: not among the {len(self)} tensors of {self.name}.")
        return self.tensors[name].read()

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def __contains__(self, name: object) -> bool:
        return name in self.tensors

    _repr_html_ = as_table


def hashes_of(*checkpoints: Checkpoint) -> dict[str, str]:
    """The hashes of a checkpoint that is made of others, one for each of them."""
    return {f"{source.name} ({i})": source.sha256 for i, source in enumerate(checkpoints)}


def shown(text: object) -> str:
    """``str(text)`` with control characters, line ends and undecodable bytes escaped, so terminals ignore them.

    >>> shown("a\x1b[31m.npz")
    'a\\\\x1b[31m.npz'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))


def non_finite_count(values: np.ndarray) -> int:
    """Number of entries that are NaN or infinite.

    >>> non_finite_count(np.array([1, np.nan, -np.inf]))
    2
    """
    return values.size - int(np.count_nonzero(np.isfinite(values)))


def finite_only(checkpoint: Checkpoint) -> Checkpoint:
    """Make reading of NaN or infinite weights raise ``NonFiniteError``. Small tensors are checked at once."""

    def checked(tensor: Tensor) -> np.ndarray:
        values = tensor.values()
        if bad := non_finite_count(values):
            reason = f"found {bad} value(s) that are NaN or infinite in {tensor.name!r}, expected finite weights"
            advice = "Analyse the other layers: non_finite='keep', or --non-finite keep in a shell."
            raise NonFiniteError(f"{checkpoint.name}: {reason}. {advice}")
        return values

    tensors = dict(checkpoint.tensors)
    for name, tensor in checkpoint.tensors.items():
        if tensor.is_real:
            tensors[name] = replace(tensor, values=partial(checked, tensor))
            if tensor.size <= SMALL:
                checked(tensor)
    return replace(checkpoint, tensors=tensors)


def checked_name(name: object, where: str) -> str:
    """Return ``name`` if all its characters are printable, since control characters could manipulate a terminal."""
    if not isinstance(name, str) or not name or not name.isprintable():
        raise CheckpointError(f"{where}: found a tensor named {brief(name)}, expected a name of printable characters.")
    return name


def checked_shape(shape: Any, where: str) -> tuple[int, ...]:
    """Return ``shape`` as a tuple if it has at most 32 axes and no more entries than memory can address."""
    plain = isinstance(shape, list | tuple) and all(type(length) is int and length >= 0 for length in shape)
    if not plain or len(shape) > 32 or math.prod(max(length, 1) for length in shape) >= 2**60:
        raise damaged(where, f"the shape {brief(shape)}", "a few whole numbers that fit a file")
    return tuple(shape)


def named(tensors: Iterable[Tensor], path: object) -> dict[str, Tensor]:
    """Tensors by name, whose names and shapes are checked. Raises ``CheckpointError`` if two have the same name."""
    by_name = {}
    for tensor in tensors:
        if tensor.dtype.startswith("complex"):
            tensor = replace(tensor, unread="Complex numbers: save the real and the imaginary part as two weights.")
        if re.search(r"(^|\.)_?flat_param(_\d+)?$", tensor.name):
            tensor = replace(tensor, unread="Layers that FSDP made flat: save a full state dict of the network.")
        checked_shape(tensor.shape, f"{path}: {tensor.name!r}")
        if checked_name(tensor.name, str(path)) in by_name:
            raise damaged(path, f"two tensors {tensor.name!r}", "one")
        by_name[tensor.name] = tensor
    return by_name


def damaged(where: object, found: object, expected: str) -> CheckpointError:
    """The error for a file that does not match its own description."""
    return CheckpointError(f"{where}: found {found}, expected {expected}. {DAMAGED}")


def brief(value: object) -> str:
    """``repr`` of ``value``, truncated because values from a file may be long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
