"""Dilated stacks in closed form, and the same process fitted by several of them (paper 1, sections 5.1.1 and 5.1.2).

A lag τ is written in mixed radix, τ = Σ t_l d_l with digits 0 ≤ t_l < n_l. With one channel the coefficient is
A_τ = Π W_l[t_l] (Eq. 20): a rank-one tensor, so that all about it has a closed form. Cut after layer l, the model is a
matrix of older by recent digits, and c_l channels give it rank at most c_l.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import svd

from capcore import Hierarchical, Problem, Process
from capcore.architectures.generic import exact_rank
from capcore.capacity.allocation import CapacityAllocation
from capcore.fitting.optimum import FitResult, fit
from chapters.shared.survey import allocate_quietly, attains

FACTOR = 10.0
"""Losses within this factor of each other count as the same."""


def disjoint_dilations(kernel_sizes: Sequence[int]) -> np.ndarray:
    """(L,) dilations d_1 = 1, d_{l+1} = n_l d_l.

    >>> disjoint_dilations([3, 2, 4]).tolist()
    [1, 3, 6]
    """
    return np.cumprod([1, *kernel_sizes[:-1]])


def digits(kernel_sizes: Sequence[int]) -> np.ndarray:
    """(n, L) digits of the lags 0 … n − 1: which tap of each layer reaches that lag; layer 1 first.

    This is the index of paper 1, Eq. 20, taken modulo n_l, with the lag for n − i.

    >>> digits([2, 2])[3].tolist(), digits([2, 2])[2].tolist()
    ([1, 1], [0, 1])
    """
    lags = np.arange(np.prod(kernel_sizes))
    return lags[:, None] // disjoint_dilations(kernel_sizes) % np.array(kernel_sizes)


def printed_indices(kernel_sizes: Sequence[int]) -> np.ndarray:
    """(n, L) indices as Eq. 20 prints them, modulo n_l·d_l; most lie outside a kernel of n_l taps.

    >>> int(printed_indices([2, 2, 2]).max())
    3
    """
    lags = np.arange(np.prod(kernel_sizes))
    dilations = disjoint_dilations(kernel_sizes)
    return lags[:, None] // dilations % (np.array(kernel_sizes) * dilations)


def products(weights: Sequence[np.ndarray]) -> np.ndarray:
    """(n,) coefficients Π W_l[t_l] over the digits of each lag. ``weights`` : L arrays (n_l,), layer 1 first.

    >>> products([np.array([1.0, 2.0]), np.array([1.0, 3.0])]).tolist()
    [1.0, 2.0, 3.0, 6.0]
    """
    chosen = digits([w.size for w in weights])
    return np.prod([w[chosen[:, l]] for l, w in enumerate(weights)], axis=0)


def impulse_response(weights: Sequence[np.ndarray], dilations: Sequence[int]) -> np.ndarray:
    """(n,) response to a unit impulse of one-channel convolutions applied one after another.

    Each kernel is spread out by its dilation, with zeros between the taps, and convolved with what came before.

    >>> impulse_response([np.array([1.0, 2.0]), np.array([1.0, 3.0])], [1, 2]).tolist()
    [1.0, 2.0, 3.0, 6.0]
    """
    response = np.ones(1)
    for w, dilation in zip(weights, dilations, strict=True):
        spread = np.zeros((w.size - 1) * dilation + 1)
        spread[::dilation] = w
        response = np.convolve(response, spread)
    return response


def cut_shares(coefficients: object, kernel_sizes: Sequence[int], rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Leverages u_i of the older and v_j of the recent digits in the leading ``rank`` singular vectors of the matrix.

    Parameters
    ----------
    coefficients : (Π n_l,) lag 0 first. kernel_sizes : n_1, …, n_L, which are cut in the middle.

    In the tangent space of all matrices of this rank, lag (i, j) has the leverage 1 − (1 − u_i)(1 − v_j): what cannot
    be moved is (older null space) × (recent null space). It is the leverage of ∂A/∂W where no other cut restricts the
    model.

    >>> [share.tolist() for share in cut_shares([1.0, 0.0, 0.0, 0.0], [2, 2], rank=1)]
    [[1.0, 0.0], [1.0, 0.0]]
    """
    across = int(np.prod(kernel_sizes[: len(kernel_sizes) // 2], dtype=int))
    older, _, recent = svd(np.asarray(coefficients, dtype=float).reshape(-1, across), full_matrices=False)
    return np.square(older[:, :rank]).sum(axis=1), np.square(recent[:rank]).sum(axis=0)


class Sweep(NamedTuple):
    """The same process fitted by several models, in the order given.

    Attributes
    ----------
    models, fits : label → model, and its fit. problem : what they were fitted to.
    """

    models: Mapping[str, Hierarchical]
    fits: Mapping[str, FitResult]
    problem: Problem
    width: np.ndarray
    n_params: np.ndarray
    capacity: np.ndarray
    loss: np.ndarray

    @property
    def excess(self) -> np.ndarray:
        """(m,) the same, with exact zeros where the target is attained to rounding."""
        return np.where(attains(self.loss, self.problem), 0.0, self.loss)

    @property
    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Widths and losses, as ``plot_losses`` takes them."""
        return self.width, self.loss

    def allocations(self) -> dict[str, CapacityAllocation]:
        """Label → capacity allocation where the fit stopped; compare ``total`` and ``generic_total`` of each."""
        archs = self.models.items()
        return {label: allocate_quietly(arch, self.fits[label].params, self.problem) for label, arch in archs}


def sweep(models: Mapping[str, Hierarchical], process: Process, *, seed: int = 0, **options: Any) -> Sweep:
    """Fit every model to the process, each from the same seed. ``options`` go to :func:`~capcore.fitting.optimum.fit`.

    >>> from capcore.processes import PowerLaw
    >>> models = {f"c = {c}": Hierarchical(c, n_layers=3) for c in (1, 2)}
    >>> optima = sweep(models, PowerLaw())
    >>> optima.capacity.tolist(), bool(optima.loss[0] > optima.loss[1])
    ([4.0, 8.0], True)
    """
    problem = Problem.of(next(iter(models.values())), process)
    fits = {label: fit(arch, problem, rng=seed, **options) for label, arch in models.items()}
    sizes = [(np.mean(arch.channels or (1,)), arch.n_params, arch.generic_capacity()) for arch in models.values()]
    width, n_params, capacity = np.array(sizes).T
    return Sweep(models, fits, problem, width, n_params, capacity, np.array([fitted.loss for fitted in fits.values()]))


def first_within(losses: object, benchmark: float) -> int | None:
    """Index of the first loss of at most ``FACTOR`` times the benchmark; None if there is none.

    >>> first_within([1e-3, 1e-8, 1e-12], 2e-13)
    2
    """
    reached = np.flatnonzero(np.asarray(losses) <= FACTOR * benchmark)
    return int(reached[0]) if reached.size else None


def doublings_beyond(full: int, width: object, losses: object, benchmark: float) -> float:
    """Doublings of the channels from ``full`` to that model; 0 where no model gets there.

    >>> doublings_beyond(8, [1, 8, 64], [1e-3, 1e-8, 1e-12], 2e-13), doublings_beyond(8, [1, 16], [1e-3, 1e-8], 2e-13)
    (3.0, 0.0)
    """
    first = first_within(losses, benchmark)
    return 0.0 if first is None else float(np.log2(np.asarray(width)[first] / full))


def multiply_adds(arch: Hierarchical, process: Process, seed: int = 0, **options: Any) -> int:
    """Multiply–adds of a fit from a random start: evaluations × three passes × the uses of all weights in a pass.

    An evaluation of loss and gradient takes one pass for the value and two for the gradient; in a pass each weight is
    used once for every path below it. ``options`` as in ``capcore.fit``.

    >>> from capcore.processes import PowerLaw
    >>> multiply_adds(Hierarchical(1, 2), PowerLaw(), method="l-bfgs-b", max_iterations=0) % (3 * (2 * 1 + 2 * 2))
    0
    """
    counted, evaluations = copy(arch), 0

    def linearise(params: object) -> Any:
        nonlocal evaluations
        evaluations += 1
        return arch.linearise(params)

    counted.linearise = linearise  # type: ignore[method-assign]
    fit(counted, process, rng=seed, start="random", **options)
    below = disjoint_dilations(arch.kernel_sizes).tolist()
    uses = sum(i * k * o * paths for (i, k, o), paths in zip(arch.kernel_shapes, below, strict=True))
    return 3 * evaluations * uses


def exact_capacities(models: Mapping[str, Hierarchical]) -> tuple[np.ndarray, np.ndarray]:
    """(m,) exact κ of each model by two routes: the closed form, and elimination modulo a prime.

    >>> closed, eliminated = exact_capacities({f"c = {c}": Hierarchical(c, n_layers=4) for c in (1, 2, 3)})
    >>> closed.tolist() == eliminated.tolist()
    True
    """
    closed = np.array([arch.generic_capacity() for arch in models.values()])
    return closed, np.array([exact_rank(arch) for arch in models.values()])
