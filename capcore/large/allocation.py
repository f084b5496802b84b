"""Where a hierarchical model spends its capacity, at any length: κ and the capacity of every input, without Σ.

The constraint space 𝒦 = col(ΣJ) is that of ΣT, where T is the orthonormal basis of the tangent space in factored form
(:mod:`capcore.capacity.tangent_space`). Its dimension is read off the ranks of small matrices; the capacity of an input
is the leverage score of its row of ΣT.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import threadpool_limits

from capcore.architectures.hierarchical import Hierarchical, check_train
from capcore.capacity.allocation import ITS_OWN, CapacityWarning
from capcore.capacity.tangent_space import TangentSpace
from capcore.checks.arguments import finite_number, moderate, one_of, positive_integer, warn
from capcore.large.exponentials import NoExponentialsError
from capcore.large.fft import FastProduct, StoredProduct, store_product
from capcore.large.leverage import default_threads, leverage_scores
from capcore.large.streamed import StreamedProduct
from capcore.processes import Process, check_positive_definite
from capcore.results.fit_and_allocation import octave_edges

SMALL = 5e7  # bytes of ΣT below which "auto" keeps it in memory
WORKSPACE = 16  # vectors that a thread of the transforms works on
CHECKED_LAGS = 512  # leading lags whose covariance must be positive definite and not numerically singular


class ByOctave:
    """The capacity of every input, and its sum over each octave of lags."""

    per_input: np.ndarray

    @property
    def edges(self) -> np.ndarray:
        """(k + 1,) edges 0, 1, 2, 4, 8, … n_inputs: octave i contains the lags edges[i] … edges[i + 1] − 1."""
        return octave_edges(self.per_input.size)

    @property
    def per_octave(self) -> np.ndarray:
        """(k,) capacity of every octave of lag; the last one may be incomplete. Sums to ``total``."""
        return np.add.reduceat(self.per_input, self.edges[:-1])


@dataclass(frozen=True, eq=False)
class LargeAllocation(ByOctave):
    """The capacity of a model at given parameters, by input and by octave of lag.

    Attributes
    ----------
    total : int
        κ, the dimension of the constraint space; ``per_input`` sums to it.
    generic_total : int
        Exact rank of the Jacobian at almost all parameters.
    per_input : (n_inputs,) array
        Capacity of each input position, lag 0 first.
    method : str
        "fft" or "streamed".
    lag_error : float
        Largest error of the covariance used, over all lags, relative to c_0.
    condition : float
        Condition number of ΣT with columns of unit length.
    departure : float
        ‖QᵀQ − 1‖ of the orthonormal basis behind ``per_input``, measured or bounded: its relative error.
    """

    total: int
    generic_total: int
    per_input: np.ndarray = field(repr=False)
    method: str
    lag_error: float
    condition: float
    departure: float


def allocate_large(
    arch: Hierarchical,
    params: object,
    process: Process,
    *,
    method: str = "auto",
    memory: float = 4e9,
    threads: int | None = None,
    progress: bool = False,
) -> LargeAllocation:
    """Capacity allocation of a hierarchical model with disjoint supports, at audio length.

    Equals :func:`~capcore.capacity.allocation.allocate` where both run.

    Parameters
    ----------
    arch : Hierarchical
        A stack with disjoint supports (the default dilations).
    params : (n_params,) array_like
        Its parameters.
    process : Process
        A stationary process with as many components as the architecture; only its autocovariance is used.
    method : str
        "fft" keeps ΣT (n · d, κ) in memory, and works for any process; "streamed" never stores it, is faster, but the
        far lags must be a sum of decaying exponentials (all families here, alone, independent or mixed); "auto" takes
        "streamed" where it works and pays, and "fft" elsewhere.
    memory : float
        Approximate number of bytes that "fft" may use.
    threads : int, optional
        Python threads; by default as many as BLAS would use.
    progress : bool
        Show a progress bar.

    Warns
    -----
    CapacityWarning
        If the total differs from the generic one.

    Raises
    ------
    TypeError
        If ``arch`` is not a Hierarchical or ``process`` not a Process.
    ValueError
        If supports overlap, parameters are not finite, the process is not positive definite or numerically singular, or
        the memory does not suffice.

    Examples
    --------
    >>> from capcore.processes import PowerLaw
    >>> arch = Hierarchical(channels=4, n_layers=12)
    >>> alloc = allocate_large(arch, arch.init(np.random.default_rng(0)), PowerLaw())
    >>> alloc.total, alloc.generic_total, round(float(alloc.per_octave.sum()), 6)
    (144, 144, 144.0)
    """
    one_of(method, "method", ("auto", "fft", "streamed"))
    threads = default_threads() if threads is None else positive_integer(threads, "threads")
    memory = finite_number(memory, "memory", "a number of bytes")
    with threadpool_limits(1, user_api="blas"):  # we start the threads ourselves: those of BLAS spin while they wait
        _check(arch, process)
        space = TangentSpace.of_kernels(arch.kernels(params))
        generic_total = arch.generic_capacity()
        warn_if_singular(space.dimension, generic_total, "parameters")
        if space.dimension == 0:
            return LargeAllocation(0, generic_total, np.zeros(arch.n_inputs), "fft", 0.0, 1.0, 0.0)
        matrix = _matrix(space, process, method, memory, threads, progress)
        leverage = leverage_scores(matrix, threads, progress)
        per_input = leverage.scores.reshape(arch.n_inputs, arch.input_dim).sum(axis=1)
        method, lag_error = ("streamed", matrix.max_error) if isinstance(matrix, StreamedProduct) else ("fft", 0.0)
        ends = (leverage.condition, leverage.departure)
        return LargeAllocation(space.dimension, generic_total, per_input, method, lag_error, *ends)


def warn_if_singular(total: int, generic_total: int, at: str) -> None:
    """Give a :class:`~capcore.capacity.allocation.CapacityWarning` if the two differ."""
    if total != generic_total:
        warn(
            f"capacity {total} at these {at} differs from the exact generic capacity {generic_total}: they are "
            f"singular or nearly so (an exactly low-rank target, a layer of zeros). {ITS_OWN}",
            CapacityWarning,
        )


def _matrix(
    space: TangentSpace, process: Process, method: str, memory: float, threads: int, progress: bool
) -> StreamedProduct | StoredProduct:
    """ΣT by the given method; "auto" streams a large one unless the process does not allow it."""
    stored = 8.0 * space.n_inputs * space.input_dim * (space.dimension + WORKSPACE * threads)
    if method == "streamed" or (method == "auto" and stored > min(SMALL, memory)):
        try:
            return StreamedProduct(space, process)
        except NoExponentialsError:
            if method == "streamed" or stored > memory:
                raise
    if stored > memory:
        raise ValueError(
            f"memory: found a bound of {memory / 1e9:.3g} GB, expected at least {stored / 1e9:.3g} GB for method='fft' "
            f"at {space.n_inputs:,} inputs and {space.dimension} columns. Use method='streamed', or allow more."
        )
    return store_product(FastProduct(space, process.autocovariance(space.n_inputs)), threads, progress)


def _check(arch: object, process: object) -> None:
    arch = check_train(arch, one_component=False)
    if not isinstance(process, Process):
        raise TypeError(f"process: found {type(process).__name__}, expected a Process, such as PowerLaw(0.5).")
    if process.input_dim != arch.input_dim:
        raise ValueError(
            f"process: found {process.input_dim} component(s) per position, expected {arch.input_dim} as in {arch!r}."
        )
    moderate(process.autocovariance(1), "process", 1e100)
    lags = min(arch.n_inputs, CHECKED_LAGS)
    if process.input_dim == 1:
        check_positive_definite(process.autocovariance(lags))
    else:
        process.covariance(max(1, lags // process.input_dim))
