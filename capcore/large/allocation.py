"""Where a hierarchical model spends its capacity, at any length: κ and the capacity of every input, without Σ.

The constraint space 𝒦 = col(ΣJ) is that of ΣT, where T is the orthonormal basis of the tangent space in factored form
(:mod:`capcore.capacity.tangent_space`). Its dimension is read off the ranks of small matrices; the capacity of an input
is the leverage score of its row of ΣT.
"""

from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from capcore.architectures.hierarchical import Hierarchical, check_train
from capcore.capacity.allocation import missed_share, warn_if_singular
from capcore.capacity.tangent_space import TangentSpace
from capcore.checks.arguments import moderate
from capcore.large.leverage import default_threads, in_threads, leverage_scores, row_norms
from capcore.large.streamed import StreamedProduct
from capcore.processes import Process, check_positive_definite
from capcore.processes.kernels import check_process
from capcore.results.fit_and_allocation import octaves_of

CHECKED_LAGS = 512  # leading lags whose covariance must be positive definite and not numerically singular


@dataclass(frozen=True, eq=False)
class LargeAllocation:
    """The capacity of a model at given parameters, by input and by octave of lag.

    Attributes
    ----------
    total : int
        κ, the dimension of the constraint space; ``per_input`` sums to it.
    generic_total : int
        Exact rank of the Jacobian at almost all parameters.
    per_input : (n_inputs,) array
        Capacity of each input position, lag 0 first.
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
    lag_error: float
    condition: float
    departure: float
    _product: StreamedProduct = field(repr=False)
    _variance: np.ndarray = field(repr=False)

    @cached_property
    def missed(self) -> np.ndarray:
        """(n_inputs,) share of a small event that stays, as in a dense allocation.

        Computed on demand, in two passes as long as one of the allocation.
        """
        product, threads = self._product, default_threads()
        parts = in_threads(partial(_gram, product), range(product.n_blocks), threads)
        gram = sum(parts, start=np.zeros((product.n_columns,) * 2))
        root = cholesky((gram + gram.T) / 2)
        followed = row_norms(product, solve_triangular(root, np.eye(len(root))), threads)
        return missed_share(followed, np.full(product.n_rows, self._variance), 1)

    @property
    def per_octave(self) -> np.ndarray:
        """(k,) capacity of the lags 0, 1, 2–3, 4–7, …; the last octave may be incomplete. Sums to ``total``."""
        return octaves_of(self.per_input)[1]


def allocate_large(arch: Hierarchical, params: object, process: Process, *, progress: bool = False) -> LargeAllocation:
    """Capacity allocation of a hierarchical model with disjoint supports, at audio length.

    Equals :func:`~capcore.capacity.allocation.allocate` where both run.

    Parameters
    ----------
    arch : Hierarchical
        A stack with disjoint supports (the default dilations) and one component per input.
    params : (n_params,) array_like
        Its parameters.
    process : Process
        A stationary process of one component whose far lags are a sum of decaying exponentials, as those of all
        families here; only its autocovariance is used.
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
    NoExponentialsError
        If the far lags are no such sum.
    ValueError
        If supports overlap, there are several components, parameters are not finite, or the process is not positive
        definite or numerically singular.

    Examples
    --------
    >>> from capcore.processes import PowerLaw
    >>> arch = Hierarchical(channels=4, n_layers=12)
    >>> alloc = allocate_large(arch, arch.init(np.random.default_rng(0)), PowerLaw())
    >>> alloc.total, alloc.generic_total, round(float(alloc.per_octave.sum()), 6)
    (144, 144, 144.0)
    """
    arch = check_train(arch)
    process = check_process(process, 1, repr(arch))
    variance = process.autocovariance(1)
    moderate(variance, "process", 1e100)
    check_positive_definite(process.autocovariance(min(arch.n_inputs, CHECKED_LAGS)))
    space, generic_total = TangentSpace.of_kernels(arch.kernels(params)), arch.generic_capacity()
    product = StreamedProduct(space, process)
    warn_if_singular(space.dimension, generic_total)
    if space.dimension == 0:
        return LargeAllocation(0, generic_total, np.zeros(arch.n_inputs), 0.0, 1.0, 0.0, product, variance)
    leverage = leverage_scores(product, default_threads(), progress)
    ends = (product.max_error, leverage.condition, leverage.departure)
    return LargeAllocation(space.dimension, generic_total, leverage.scores, *ends, product, variance)


def _gram(product: StreamedProduct, block: int) -> np.ndarray:
    """(κ, κ) what the rows of a block add to TᵀΣT."""
    values = np.hstack([part for _, part in product.parts(block)])
    return np.asarray(product.tangents(block) @ values.T)
