"""Tensors as checkpoints list them: a name, a type, a shape, and values that are read when they are asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

REAL = ("float16", "bfloat16", "float32", "float64")
"""Types whose values are weights that can be analysed."""
CHUNK = 2**20  # entries looked at together
SMALL = 2**16  # entries: vectors and the like are looked at when a checkpoint is opened
DAMAGED = "The file is damaged or was written by something else: fetch it again, or save it anew."


class CheckpointError(ValueError):
    """A file that cannot be read, or must not be: says what was found, what was expected, and what to do."""

    def __str__(self) -> str:
        return shown(super().__str__())


class NoWeightsError(CheckpointError):
    """A file of something else, such as an optimiser's state: in a folder it is left alone."""


class NonFiniteError(CheckpointError):
    """Weights that are NaN or infinite, where the caller wants none of such a file."""


Step: TypeAlias = Callable[[int], object]
"""Told how many bytes have been hashed since it was last called."""


@dataclass(frozen=True)
class Tensor:
    """One tensor of a checkpoint.

    Attributes
    ----------
    name : str
        As the file has it.
    dtype : str
        Of what :meth:`read` returns, by NumPy's names; ``bfloat16``, ``float8_e4m3fn``, … beyond them.
    shape : tuple of int
        Sizes of the axes, as stored.
    values : callable
        Reads them; see :meth:`read`.
    unread : str
        Why values of this type are not read; empty if they are.
    aside : str
        Why it is no layer of its own, though it can be read: a scale of another tensor, or the same tensor again.
    stored : str
        How weights are stored where that is not how they are read: quantised ones, with their scales.
    one : callable, optional
        Reads the i-th entry of the first axis alone; see :meth:`read_one`.
    kind : str
        Of the layer, as for :func:`~capcore.spectra.layers.find_layers`, where the format says it.
    groups : int
        Of channels that do not mix, where the format says it.
    transposed : bool
        Whether the format says that the kernel of a convolution is (in, out/groups, *kernel).
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    values: Callable[[], np.ndarray] = field(repr=False, compare=False)
    unread: str = ""
    aside: str = ""
    stored: str = ""
    one: Callable[[int], np.ndarray] | None = field(default=None, repr=False, compare=False)
    kind: str = ""
    groups: int = 1
    transposed: bool = False

    @property
    def size(self) -> int:
        """Number of entries."""
        return count(self.shape)

    @property
    def is_real(self) -> bool:
        """Whether the entries are floating-point numbers that :meth:`read` returns."""
        return self.dtype in REAL and not self.unread

    def read(self) -> np.ndarray:
        """``shape`` array, not to be written to, of the file's type; float32 for bfloat16, which it holds exactly.

        Raises ``CheckpointError`` for a type that is listed only.
        """
        if self.unread:
            raise CheckpointError(f"{self.name!r}: found values of type {self.dtype}. {self.unread}")
        return self.values()

    def read_one(self, i: int) -> np.ndarray:
        """``shape[1:]`` array: the i-th matrix of a stack, without the others where the format allows."""
        return self.read()[i] if self.one is None or self.unread else self.one(i)


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Tensors by name: ``checkpoint["fc.weight"]`` reads one, ``checkpoint.tensors`` tells about all without reading.

    Attributes
    ----------
    name : str
        Of the file, without its folder.
    format : str
        ``safetensors``, ``npz``, ``npy``, ``torch``, ``onnx``, ``gguf`` or ``arrays``.
    digest : str or callable
        The SHA-256, or what computes those of all files by name, once they are asked for: see :meth:`hashes`.
    size : int
        Bytes.
    tensors : mapping
        Name → :class:`~capcore.checkpoints.tensors.Tensor`.
    metadata : mapping
        Texts that the file carries.
    """

    name: str
    format: str
    digest: str | Callable[[Step], Mapping[str, str]] = field(repr=False)
    size: int
    tensors: Mapping[str, Tensor] = field(repr=False)
    metadata: Mapping[str, str] = field(default_factory=dict, repr=False)

    def hashes(self, step: Step | None = None) -> Mapping[str, str]:
        """SHA-256 by file, computed once: all bytes are read for it. ``step`` is told how many at a time."""
        if "_hashes" not in vars(self):
            found = {self.name: self.digest} if isinstance(self.digest, str) else self.digest(step or (lambda n: None))
            vars(self)["_hashes"] = found
        return vars(self)["_hashes"]

    @cached_property
    def sha256(self) -> str:
        """Of the file; of the files' hashes in order where there are several; of the values for arrays in memory."""
        found = [*self.hashes().values()]
        return found[0] if len(found) == 1 else hashlib.sha256("".join(found).encode()).hexdigest()

    @property
    def parts(self) -> Mapping[str, str]:
        """SHA-256 by file where there are several."""
        return self.hashes() if len(self.hashes()) > 1 else {}

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


def shown(text: object) -> str:
    """``str(text)`` with escapes for what a terminal would act upon: control characters, line ends, bytes of no text.

    >>> shown("a\x1b[31m.npz")
    'a\\\\x1b[31m.npz'
    """
    found = str(text)
    return found if found.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in found)


def count(shape: tuple[int, ...]) -> int:
    """Entries of a shape, as a Python int that cannot overflow.

    >>> count((3, 2**62))
    13835058055282163712
    """
    product = 1
    for length in shape:
        product *= length
    return product


def non_finite_count(values: np.ndarray) -> int:
    """Number of entries that are NaN or infinite, counted in pieces, so that it takes no second copy.

    >>> non_finite_count(np.array([1, np.nan, -np.inf]))
    2
    """
    flat = values.reshape(-1, order="A")
    return sum(int(np.count_nonzero(~np.isfinite(flat[i : i + CHUNK]))) for i in range(0, flat.size, CHUNK))


def finite_only(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint, which raises ``NonFiniteError`` where such weights are read; small tensors are read here."""

    def checked(tensor: Tensor, values: np.ndarray) -> np.ndarray:
        if bad := non_finite_count(values):
            raise NonFiniteError(
                f"{checkpoint.name}: found {bad} value(s) that are NaN or infinite in {tensor.name!r}, expected finite "
                "weights. Training diverged or the file is damaged; non_finite='keep' analyses the other layers."
            )
        return values

    def refusing(tensor: Tensor) -> Tensor:
        one = (lambda i: checked(tensor, tensor.read_one(i))) if tensor.one else None
        return replace(tensor, values=lambda: checked(tensor, tensor.values()), one=one)

    found = {name: refusing(tensor) if tensor.is_real else tensor for name, tensor in checkpoint.tensors.items()}
    for tensor in found.values():
        if tensor.is_real and tensor.size <= SMALL:
            tensor.read()
    return replace(checkpoint, tensors=found)


def checked_name(name: object, where: str) -> str:
    """``name`` if it is a string that every screen can show: control characters could rewrite a terminal."""
    if not isinstance(name, str) or not name or not name.isprintable():
        raise CheckpointError(f"{where}: found a tensor named {name!r}, expected a name of printable characters.")
    return name


def checked_shape(shape: object, where: str) -> tuple[int, ...]:
    """``shape`` as a tuple, if it is a list of at most 32 whole numbers that a machine could address."""
    if (
        not isinstance(shape, list | tuple)
        or len(shape) > 32
        or not all(type(length) is int and length >= 0 for length in shape)
        or count(tuple(max(length, 1) for length in shape)) >= 2**60  # beyond any address
    ):
        raise damaged(where, f"the shape {brief(shape)}", "a few whole numbers that fit a file")
    return tuple(shape)


def damaged(where: object, found: str, expected: str) -> CheckpointError:
    """The error of a file that is not what it says."""
    return CheckpointError(f"{where}: found {found}, expected {expected}. {DAMAGED}")


def brief(value: object) -> str:
    """``repr`` of ``value``, cut to a line: what a file says may be long."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of more than 30 digits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
