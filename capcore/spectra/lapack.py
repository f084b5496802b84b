"""BLAS and LAPACK routines that work in place on parts of an array, which SciPy offers to compiled code only.

SciPy publishes the addresses of these routines for Cython, in ``scipy.linalg.cython_blas`` and ``cython_lapack``, each
with its C signature. A routine is called only if its signature is the one expected here; with 64-bit integers, for
example, it is not.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

SIGNATURES = {
    "dgemm": ("blas", "cciiiddididdi"),
    "dsymm": ("blas", "cciiddididdi"),
    "dsyrk": ("blas", "cciiddiddi"),
    "dsyr2k": ("blas", "cciiddididdi"),
    "dsbtrd": ("lapack", "cciididddidi"),
    "dsterf": ("lapack", "iddi"),
    "dgbbrd": ("lapack", "ciiiiididddidididi"),
    "dlasq1": ("lapack", "idddi"),
}
"""Module of each routine, and initials of its argument types (``char``, ``int``, ``double``), all passed by address."""
TYPES: dict[str, tuple[str, Any]] = {
    "c": ("char *", lambda letter: ctypes.c_char(letter.encode())),
    "i": ("int *", ctypes.c_int),
    "d": ("double *", ctypes.c_double),
}


def available() -> bool:
    """Whether SciPy has all these routines, with the signatures expected here."""
    return all(_routine(name) for name in SIGNATURES)


def call(name: str, *arguments: Any) -> None:
    """Call a routine by name, without holding the interpreter's lock.

    Parameters
    ----------
    *arguments : str, int, float or array of float
        Letters, numbers, and float64 arrays. An array is read and written from its first entry onwards.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a LAPACK routine did not converge, or if SciPy does not have the routine.

    Examples
    --------
    >>> call("dlasq1", 2, values := np.array([3.0, 4.0]), np.zeros(2), np.zeros(8), 0)
    >>> values.tolist()
    [4.0, 3.0]
    """
    module, letters = SIGNATURES[name]
    function = _routine(name)
    if function is None:
        raise np.linalg.LinAlgError(f"{name}: found none that can be called in SciPy. Use scipy.linalg.svd.")
    values = [_value(letter, argument) for letter, argument in zip(letters, arguments, strict=True)]
    function(*[value.ctypes.data if isinstance(value, np.ndarray) else ctypes.addressof(value) for value in values])
    if module == "lapack" and values[-1].value:
        raise np.linalg.LinAlgError(f"{name}: found info = {values[-1].value}, expected 0. Use scipy.linalg.svd.")


@cache
def _routine(name: str) -> Callable[..., None] | None:
    module, letters = SIGNATURES[name]
    capsule = getattr(import_module(f"scipy.linalg.cython_{module}"), "__pyx_capi__", {}).get(name)
    if capsule is None:
        return None
    python = ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", python))
    address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", python))
    signature = name_of(capsule)
    if not expected(signature.decode(), letters):
        return None
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(letters))(address_of(capsule, signature))


def expected(signature: str, letters: str) -> bool:
    """Whether a C signature, as Cython writes it, is a ``void`` function of pointers to these types.

    >>> expected("void (int *, __pyx_t_5scipy_6linalg_13cython_lapack_d *)", "id")
    True
    >>> expected("void (int64_t *, double *)", "id")
    False
    """
    return re.sub(r"\b\w+_d \*", "double *", signature) == f"void ({', '.join(TYPES[each][0] for each in letters)})"


def _value(letter: str, argument: Any) -> Any:
    if not isinstance(argument, np.ndarray):
        return TYPES[letter][1](argument)
    if argument.dtype != np.float64:
        raise TypeError(f"arguments: found an array of {argument.dtype}, expected float64.")
    return argument


def in_order(work: Callable[[Any], Any], items: Iterable[Any], workers: int) -> Iterable[Any]:
    """Apply ``work`` to every item, in order, on ``workers`` threads with one BLAS thread each.

    With one worker it runs on the calling thread, and BLAS uses its own number of threads.

    >>> list(in_order(abs, [-1, 2], 1))
    [1, 2]
    """
    if workers == 1:
        return map(work, items)
    from capcore.large.leverage import in_threads

    return in_threads(work, items, workers)
