"""Checks at the public boundary, whose messages say what was found, what was expected, and what to do.

Numbers and arrays of numbers pass as they are. A number in an array of one element is taken out of it. Values that
NumPy would turn into numbers with another meaning are refused: masked values, dates, text, records, booleans.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from capcore.checks.names import absent, meant

PACKAGE = str(Path(__file__).parent.parent / "_")[:-1]  # with its separator


def positive_integer(value: object, name: str, minimum: int = 1) -> int:
    """``value`` as an int of at least ``minimum``.

    >>> positive_integer(0, "n_layers")
    Traceback (most recent call last):
    ...
    ValueError: n_layers: found 0, expected a whole number of at least 1.
    """
    value = plain_number(value, name)
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name}: found {value!r}, expected a whole number of at least {minimum}.")
    return int(value)


def finite_number(value: object, name: str, expected: str = "a finite number", least: float = -np.inf) -> float:
    """``value`` as a finite float of at least ``least``."""
    value = plain_number(value, name)
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    except OverflowError:
        number = np.inf
    if not (np.isfinite(number) and number >= least):
        raise ValueError(f"{name}: found {value!r}, expected {expected}.")
    return number


def positive_number(value: object, name: str, expected: str = "a positive number") -> float:
    """``value`` as a finite float above 0."""
    return finite_number(value, name, expected, least=5e-324)


def moderate(values: Any, name: str, largest: float = 1e150) -> None:
    """Raise ``ValueError`` unless the largest magnitude of ``values`` has squares within double precision."""
    peak = np.abs(values).max()
    if not 1 / largest <= peak <= largest:
        raise ValueError(
            f"{name}: found values up to {peak:.1e}, expected {1 / largest:.0e} to {largest:.0e}: squares leave double "
            "precision. Measure in other units."
        )


def finite_array(values: object, name: str, ndim: int | tuple[int, ...]) -> np.ndarray:
    """``values`` as a float array with one of the given numbers of dimensions and no NaN or infinity.

    Raises
    ------
    ValueError
        For complex, non-numeric, ragged, empty, non-finite or wrongly shaped input, and for what is refused by
        :func:`~capcore.checks.arguments.plain_array`.
    """
    array = np.array(plain_array(values, name), dtype=float)
    dims = (ndim,) if isinstance(ndim, int) else ndim
    if array.ndim not in dims:
        wanted = " or ".join(map(str, dims))
        raise ValueError(f"{name}: found an array of shape {array.shape}, expected {wanted} dimension(s).")
    if array.size == 0:
        raise ValueError(f"{name}: found an empty array of shape {array.shape}, expected at least one entry.")
    bad = ~np.isfinite(array)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"{name}: found {bad.sum()} value(s) that are NaN or infinite (the first at index {where}), expected none."
        )
    return array


def one_of(value: object, name: str, choices: Iterable[str]) -> str:
    """``value`` if it is among ``choices``; otherwise an error that names the closest one."""
    known = sorted(choices)
    if isinstance(value, str) and value in known:
        return value
    raise ValueError(f"{name}: found {value!r}, expected one of {', '.join(map(repr, known))}.{meant(value, known)}")


def counted(n: int, noun: str) -> str:
    """A number of things, in words.

    >>> counted(1, "input"), counted(2000, "input")
    ('1 input', '2,000 inputs')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def divided(layers: Mapping[str, slice], n_params: int) -> dict[str, slice]:
    """``layers`` as a dict, if every parameter is in exactly one of them.

    >>> divided({"one": slice(0, 2), "two": slice(1, 3)}, 3)
    Traceback (most recent call last):
    ...
    ValueError: layers: found parameter 1 in 2 of them, expected each in exactly one.
    """
    counts = np.zeros(n_params, int)
    for name, part in layers.items():
        ends = (part.start, part.stop, part.step) if isinstance(part, slice) else (part,)
        whole = isinstance(part, slice) and part.step != 0 and all(isinstance(end, Integral | None) for end in ends)
        if not whole or max(part.start or 0, part.stop or 0) > n_params or counts[part].size == 0:
            raise ValueError(f"layers: found {name!r}: {part!r}, expected a slice of some of {n_params} parameters.")
        counts[part] += 1
    if not np.all(counts == 1):
        i = int(np.argmax(counts != 1))
        raise ValueError(f"layers: found parameter {i} in {counts[i]} of them, expected each in exactly one.")
    return dict(layers)


_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def quiet() -> Iterator[None]:
    """Withhold the package's own warnings meanwhile, in this thread alone: for callers that look at what they say."""
    before = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(before)


def warn(message: str, category: type[Warning]) -> None:
    """Give a warning at the line outside the package that called it, however deep inside it is found.

    No filter is changed on the way, not even for a moment: filters belong to the whole process, threads included.
    """
    if _QUIET.get():
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


OTHERS = (str, bytes, bool, np.bool_, np.datetime64, np.timedelta64)
ADVICE = {
    "M": "dates. Give the time since a date: (dates - first) / np.timedelta64(1, 's')",
    "m": "durations. Divide them by their unit: durations / np.timedelta64(1, 's')",
    "U": "text. Convert it: values.astype(float)",
    "b": "booleans. Where they mean 1 and 0, convert them: values.astype(float)",
    "c": "complex values. Take their real parts",
    "records": "records. Take one of their fields",
    "mixed": "objects that are no numbers. Convert them one by one",
}
ADVICE["S"] = ADVICE["U"]


def plain_number(value: Any, name: str) -> Any:
    """``value``, or its number if it is an array with one element (of NumPy, JAX, PyTorch or pandas).

    >>> plain_number(np.array(0.5), "x"), plain_number(np.array([3]), "n"), plain_number("a", "x")
    (0.5, 3, 'a')
    """
    if isinstance(value, np.timedelta64):  # NumPy would take it for a whole number
        raise ValueError(f"{name}: found the duration {value}, expected a number. Divide it by its unit.")
    if isinstance(value, np.generic | np.ma.MaskedArray) or not hasattr(value, "__array__"):
        return value
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):  # a class, or an array on another device
        return value
    return array.item() if array.shape in ((), (1,)) and array.dtype.kind in "iuf" else value


def plain_fields(instance: Any) -> None:
    """In a dataclass, frozen or not, replace arrays with one element by their numbers, and lists by
    arrays."""
    for field in fields(instance):
        value, kind = getattr(instance, field.name), str(field.type)
        if kind == "np.ndarray" and getattr(getattr(value, "dtype", list), "hasobject", isinstance(value, list)):
            vars(instance)[field.name] = plain_array(value, field.name)
        elif re.search(r"\b(int|float)\b", kind) and "ndarray" not in kind:
            vars(instance)[field.name] = plain_number(value, field.name)


def plain_array(values: Any, name: str, also: str = "") -> Any:
    """``values`` as an array of plain numbers. also : further kinds of NumPy that pass, such as "c".

    Raises
    ------
    ValueError
        For masked values, dates, durations, text, records, booleans and complex numbers, for objects that contain any
        of these, and for anything that is not an array.

    Examples
    --------
    >>> plain_array(np.array(["1.5"]), "series")
    Traceback (most recent call last):
    ...
    ValueError: series: found text, expected real numbers. Convert it: values.astype(float).
    """
    unmasked(values, name)
    try:
        array = np.asarray(values)
        kind: str = "records" if array.dtype.names else array.dtype.kind
        if kind == "O" and any(isinstance(value, OTHERS) for value in array.flat):
            kind = "mixed"
        elif kind == "O":
            array = array.astype(float)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise ValueError(f"{name}: found {type(values).__name__}, expected real numbers ({error}).") from None
    if kind in ADVICE and kind not in also:
        what, advice = ADVICE[kind].split(". ")
        raise ValueError(f"{name}: found {what}, expected real numbers. {advice}.")
    return array


def unmasked(values: Any, name: str) -> None:
    """Raise ``ValueError`` for masked values, alone or in a list of arrays: NumPy would read what is under the mask."""
    for part in values if isinstance(values, list | tuple) else (values,):
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            raise ValueError(f"{name}: found masked values, expected none. Use its .filled(…) or .compressed().")


def no_overflow(layers: Sequence[np.ndarray], result: Callable[[], np.ndarray], power: int = 1) -> None:
    """Raise ``ValueError`` if powers of products of layers overflow; ``result`` is computed only if they might.

    >>> no_overflow([np.array([1e200]), np.array([1e200])], lambda: np.array([np.inf]))
    Traceback (most recent call last):
    ...
    ValueError: params: found layers with largest weights 1e+200, 1e+200, whose product overflows, expected moderate \
ones. Scale them down.
    """
    largest = [np.abs(layer).max(initial=0.0) for layer in layers]
    exponent = power * np.log2(np.maximum(largest, 1.0)).sum() + sum(np.log2(layer.size) for layer in layers)
    if exponent < 1000:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(result()).all():
            return
    raise ValueError(
        f"params: found layers with largest weights {', '.join(f'{weight:.0e}' for weight in largest)}, whose product "
        "overflows, expected moderate ones. Scale them down."
    )


def of_kind(value: Any, name: str, kinds: Any, expected: str = "") -> None:
    """Raise ``TypeError`` unless ``value`` is an instance of ``kinds``.

    >>> of_kind(3, "path", str)
    Traceback (most recent call last):
    ...
    TypeError: path: found int, expected str.
    """
    if not isinstance(value, kinds):
        raise TypeError(f"{name}: found {type(value).__name__}, expected {expected or _names(kinds)}.")


def all_of_kind(values: Any, name: str, kinds: Any, expected: str = "", count: int | None = None) -> None:
    """Raise ``TypeError`` unless ``values`` is a list or similar of ``kinds``, of length ``count`` if given."""
    wanted = expected or _names(kinds)
    if not isinstance(values, Collection) or isinstance(values, str) or hasattr(values, "__array__"):
        raise TypeError(f"{name}: found {type(values).__name__}, expected a list of {wanted}.")
    for value in values:
        of_kind(value, f"{name}: one", kinds, wanted)
    if count not in (None, len(values)):
        raise TypeError(f"{name}: found {counted(len(values), 'value')}, expected {count}.")


def _names(kinds: Any) -> str:
    return " or ".join(kind.__name__ for kind in getattr(kinds, "__args__", (kinds,)))


Seed = np.random.Generator | int | None
SEEDS = np.random.Generator | np.random.SeedSequence | int | np.integer | None


def plain_seed(rng: Any) -> Any:
    """``rng``; raises unless it is a generator, a whole number of at least 0, or None."""
    rng = plain_number(rng, "rng")
    expected = "a numpy.random.Generator, or a whole number as its seed"
    of_kind(rng, "rng", SEEDS, expected)
    if isinstance(rng, bool | np.timedelta64) or (isinstance(rng, int | np.integer) and rng < 0):
        raise ValueError(f"rng: found {rng!r}, expected {expected}.")
    return rng


def library(name: str) -> Any:
    """An optional library, imported; ``ModuleNotFoundError`` says how to get it."""
    if said := absent(name):
        raise ModuleNotFoundError(said)
    return import_module(name)
