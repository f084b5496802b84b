"""Check sizes before anything is allocated: refuse at once what would not fit, and say what to do instead.

A computation may take half of the machine's or its container's memory: beyond that the system swaps other
programs out to disk, and everything slows to a halt. ``CAPCORE_MEMORY=64e9`` in the environment sets another
limit, in bytes.
"""

import os
from functools import cache
from math import inf, prod
from numbers import Integral
from pathlib import Path
from typing import Any

SHARE = 0.5  # share of the memory of the machine or container that a computation may take
CONTAINER_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),  # cgroup v2
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),  # cgroup v1
)
TRAIN_COLUMNS = 64  # approximate number of values per input that the methods for tensor trains keep in memory


class TooLargeError(ValueError, MemoryError):
    """Something would not fit into memory. A notebook shows it as one line, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"TooLargeError: {self}"]


def usable() -> float:
    """Bytes that one computation may take: infinite if the machine does not say how much memory it has."""
    override = os.environ.get("CAPCORE_MEMORY")
    if override is None:
        return SHARE * min(_physical(), *map(_container, CONTAINER_LIMITS))
    try:
        limit = float(override)
    except ValueError:
        limit = 0.0
    if not limit > 0:
        raise ValueError(f"CAPCORE_MEMORY: found {override!r}, expected a positive number of bytes, such as 64e9.")
    return limit


def fits(n_bytes: float) -> bool:
    """Whether a computation may take so many bytes.

    >>> fits(1e6), fits(1e30)
    (True, False)
    """
    return n_bytes <= usable()


def too_large(size: str, n_bytes: float, advice: str) -> TooLargeError:
    """The error to raise: what was found, how much memory it would take, how much is allowed, and what to do.

    >>> print(too_large("n_inputs: found 2", 3e9, "Use 1."))  # doctest: +ELLIPSIS
    n_inputs: found 2, which takes about 3 GB of memory, expected at most ... Use 1.
    """
    return TooLargeError(
        f"{size}, which takes about {gigabytes(n_bytes)} of memory, expected at most {gigabytes(usable())} here. "
        f"{advice}"
    )


def check_memory(n_bytes: float, size: str, advice: str) -> None:
    """Raise ``TooLargeError`` if so many bytes do not fit into memory; the texts are those of :func:`too_large`.

    >>> check_memory(8.0, "n_inputs: found 1", "Use none.")
    """
    if not fits(n_bytes):
        raise too_large(size, n_bytes, advice)


def gigabytes(n_bytes: float) -> str:
    """Bytes in words.

    >>> gigabytes(4.12e11), gigabytes(3.5e13)
    ('412 GB', '35 TB')
    """
    size, unit = (n_bytes / 1e12, "TB") if n_bytes >= 1e13 else (n_bytes / 1e9, "GB")
    return f"{size:.3g} {unit}"


def arrays(*shape: Any, copies: float = 1.0) -> float:
    """Bytes of ``copies`` arrays of this shape; 0 if a size is not a number, which is checked elsewhere.

    >>> arrays(1000, 1000, copies=2)
    16000000.0
    """
    if any(isinstance(size, bool) or not isinstance(size, Integral) for size in shape):
        return 0.0
    return copies * float(min(8 * prod(map(int, shape)), 10**300))  # whole numbers of any length


def fit_bytes(arch: Any) -> float:
    """Bytes that a dense fit takes: n × n matrices, the layers' tangents, copies of the parameters."""
    n = arch.n_inputs * arch.input_dim
    return arrays(n, n, copies=6.5) + 4 * _tangent_bytes(arch) + arrays(arch.n_params, copies=8)


def allocation_bytes(arch: Any) -> float:
    """Bytes that a dense allocation takes: Σ, and the layers' parts of the constraint matrix."""
    n = arch.n_inputs * arch.input_dim
    return arrays(n, n, copies=4) + 5 * _tangent_bytes(arch)


def covariance_bytes(n: Any, input_dim: int = 1) -> float:
    """Bytes that the dense covariance of n positions takes, together with its check and its root."""
    return arrays(n, n, input_dim, input_dim, copies=3)


def check_covariance(n: Any, input_dim: int = 1) -> None:
    """Raise ``TooLargeError`` if the dense covariance of n positions does not fit into memory."""
    n_bytes = covariance_bytes(n, input_dim)
    if not fits(n_bytes):
        times = f"{input_dim} times " if input_dim > 1 else ""
        size = f"n: found {n:,}, a covariance of {times}as many rows and columns"
        advice = "Use fewer inputs, or a tensor train: for it, capcore.fit and capcore.allocate never hold it"
        raise too_large(size, n_bytes, f"{advice}; {_what_fits(n, n_bytes)}.")


def check_lags(n: Any, input_dim: int = 1) -> None:
    """Raise ``TooLargeError`` if an autocovariance of n lags does not fit into memory."""
    n_bytes = arrays(n, input_dim, input_dim, copies=4)
    if not fits(n_bytes):  # n may still be anything, which cannot be written as a number
        advice = "Use fewer inputs, or method='octaves' of capcore.fit and capcore.allocate."
        raise too_large(f"n: found {n:,} lags", n_bytes, advice)


def check_fit(arch: Any) -> None:
    """Raise ``TooLargeError`` if a dense fit does not fit into memory; it names the function to use instead."""
    _check_dense(arch, "fit", fit_bytes(arch), "riemannian-newton", "Use fewer inputs")


def check_allocation(arch: Any) -> None:
    """Raise ``TooLargeError`` if a dense allocation does not fit into memory; it names the function to use instead."""
    otherwise = "Use allocate(…, method='sketch'), which needs only products with the Jacobian"
    _check_dense(arch, "allocate", allocation_bytes(arch), "streamed", otherwise)


def _check_dense(arch: Any, verb: str, n_bytes: float, method: str, advice: str) -> None:
    """For a tensor train the advice is ``method``, or octaves if not even its inputs fit."""
    if fits(n_bytes):
        return
    n = arch.n_inputs * arch.input_dim
    if getattr(arch, "has_disjoint_supports", False) and arch.input_dim == 1:
        advice = f"Use {verb}(…, method={method if fits(arrays(n, TRAIN_COLUMNS)) else 'octaves'!r})"
    size = f"{verb}: found {type(arch).__name__} with {n:,} inputs"
    raise too_large(size, n_bytes, f"{advice}; {_what_fits(n, n_bytes)}.")


def _what_fits(n: int, n_bytes: float) -> str:
    return f"up to about {float(f'{n * (usable() / n_bytes) ** 0.5:.1e}'):,.0f} inputs fit here"


def _tangent_bytes(arch: Any) -> float:
    n = arch.n_inputs * arch.input_dim
    if not getattr(arch, "has_disjoint_supports", False):  # the Jacobian itself
        return arrays(n, arch.n_params)
    return sum(arrays(n, min(n, part.stop - part.start)) for part in arch.layers.values())


@cache
def _physical() -> float:
    try:
        pages = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # this system does not tell
        return inf
    return float(prod(pages)) if min(pages) > 0 else inf  # POSIX allows -1


@cache
def _container(path: Path) -> float:
    try:
        return float(path.read_text("ascii"))
    except (OSError, ValueError):  # no container, or no limit (the word "max")
        return inf
