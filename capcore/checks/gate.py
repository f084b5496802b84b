"""Checks that all public functions make of the kind of an argument, before they look at its value.

Numbers and arrays of numbers pass as they are. A number in an array of one element is taken out of it. Values that
NumPy would turn into numbers with another meaning are refused: masked values, dates, text, records, booleans.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np

OTHERS = (str, bytes, bool, np.bool_, np.datetime64, np.timedelta64)
ADVICE = {
    "M": "dates, expected real numbers. Give the time since a date: (dates - first) / np.timedelta64(1, 's')",
    "m": "durations, expected real numbers. Divide them by their unit: durations / np.timedelta64(1, 's')",
    "U": "text, expected real numbers. Convert it: values.astype(float)",
    "b": "booleans, expected real numbers. Where they mean 1 and 0, convert them: values.astype(float)",
    "c": "complex values, expected real numbers",
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


def plain_process(value: Any, name: str = "process") -> Any:
    """``value``, if it is a process or a problem; or the process that an object of another library stands for.

    Raises ``TypeError`` for anything else, and says through which door that comes in.
    """
    if any(hasattr(value, each) for each in ("autocovariance", "covariance")) and not isinstance(value, type):
        return value
    from capcore.processes.kernels import adapted

    return adapted(value, name)


def plain_processes(values: Any, name: str) -> Any:
    """``values``, each of them as :func:`plain_process` gives it."""
    return [plain_process(value, f"{name}[{j}]") for j, value in enumerate(values)]


def plain_fields(instance: Any) -> None:
    """In a dataclass, frozen or not, replace arrays with one element by their numbers, lists by arrays, and what stands
    for a process by one."""
    for field in fields(instance):
        value, kind = getattr(instance, field.name), str(field.type)
        found = value
        if kind == "np.ndarray" and getattr(getattr(value, "dtype", list), "hasobject", isinstance(value, list)):
            found = plain_array(value, field.name)
        elif re.search(r"\b(int|float)\b", kind) and "ndarray" not in kind:
            found = plain_number(value, field.name)
        elif kind == "Process":
            found = plain_process(value, field.name)
        if found is not value:
            object.__setattr__(instance, field.name, found)


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
        kind = array.dtype.kind
        mixed = kind == "O" and any(isinstance(each, OTHERS) for each in array.flat)
        if kind == "O" and not mixed:
            array = array.astype(float)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise ValueError(
            f"{name}: found {type(values).__name__}, expected an array of real numbers ({error})."
        ) from None
    if array.dtype.names:
        raise ValueError(f"{name}: found records with the fields {array.dtype.names}, expected real numbers. Take one.")
    if kind in ADVICE and kind not in also:
        raise ValueError(f"{name}: found {ADVICE[kind]}.")
    if mixed:
        raise ValueError(f"{name}: found objects that are no numbers, expected real numbers. Convert them one by one.")
    plain = isinstance(values, np.ndarray) and kind != "O" and not isinstance(values, np.ma.MaskedArray)
    return values if plain else array


def unmasked(values: Any, name: str) -> None:
    """Raise ``ValueError`` for masked values, alone or in a list of arrays: NumPy would read what is under the mask."""
    for part in values if isinstance(values, list | tuple) else (values,):
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            raise ValueError(
                f"{name}: found {np.ma.count_masked(part)} masked value(s), expected real numbers only. Fill them with "
                "values.filled(…), or leave them out with values.compressed()."
            )


def real(value: Any, name: str, optional: bool = False) -> None:
    """Raise ``ValueError`` unless ``value`` is a real number, or None if it is optional."""
    value = plain_number(value, name)
    if isinstance(value, bool) or not isinstance(value, Real | None if optional else Real):
        raise ValueError(f"{name}: found {value!r}, expected a number.")


def whole(value: Any, name: str, optional: bool = False) -> None:
    """Raise ``ValueError`` unless ``value`` is a whole number, or None if it is optional."""
    value = plain_number(value, name)
    if isinstance(value, bool) or not isinstance(value, Integral | None if optional else Integral):
        raise ValueError(f"{name}: found {value!r}, expected a whole number.")


def having(value: Any, name: str, attribute: str, expected: str) -> None:
    """Raise ``TypeError`` unless ``value`` has an attribute: for arguments that are recognised by what they can do."""
    if not hasattr(value, attribute):
        raise TypeError(f"{name}: found {type(value).__name__}, expected {expected}.")


def finite(values: Any, name: str) -> None:
    """Raise ``ValueError`` unless ``values``, a number or an array of any shape, are finite."""
    if not np.isfinite(np.asarray(plain_array(values, name), dtype=float)).all():
        raise ValueError(f"{name}: found NaN or infinite values, expected finite numbers.")


def no_overflow(layers: Sequence[np.ndarray], result: Callable[[], np.ndarray], power: int = 1) -> None:
    """Raise ``ValueError`` if powers of products of layers overflow; ``result`` is computed only if they might.

    >>> no_overflow([np.array([1e200]), np.array([1e200])], lambda: np.array([np.inf]))
    Traceback (most recent call last):
    ...
    ValueError: params: found layers with largest weights 1e+200, 1e+200, whose product overflows, expected moderate \
ones. Scale them down: capacity does not depend on the scale of a layer.
    """
    largest = [float(np.abs(layer).max(initial=0.0)) for layer in layers]
    if sum(power * np.log2(max(each, 1.0)) for each in largest) + sum(np.log2(layer.size) for layer in layers) < 1000:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(result()).all():
            return
    raise ValueError(
        f"params: found layers with largest weights {', '.join(f'{each:.0e}' for each in largest)}, whose product "
        "overflows, expected moderate ones. Scale them down: capacity does not depend on the scale of a layer."
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
        raise TypeError(f"{name}: found {len(values)} values, expected {count}.")


def _names(kinds: Any) -> str:
    return " or ".join(kind.__name__ for kind in getattr(kinds, "__args__", (kinds,)))


SEEDS = np.random.Generator | np.random.SeedSequence | int | np.integer | None


def plain_seed(rng: Any) -> None:
    """Raise unless ``rng`` is a generator, a whole number of at least 0, or None."""
    of_kind(rng, "rng", SEEDS, "a numpy.random.Generator, or a whole number as its seed")
    if isinstance(rng, bool | np.timedelta64) or (isinstance(rng, int | np.integer) and rng < 0):
        raise ValueError(f"rng: found {rng!r}, expected a numpy.random.Generator, or a whole number as its seed.")
