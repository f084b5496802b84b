"""Optima of stacks of any length: Gauss–Newton on the manifold of tensor trains, entirely by digits of the lag.

The tangent space at A contains A itself, and the minimum of the loss (A − A*)ᵀΣ(A − A*) in it is at T x with TᵀΣT x =
Tᵀ(c_1, …, c_n), see :mod:`~capcore.large.octaves.forms`. Rounding T x to the given ranks yields the next A. The start
is A* in closed form (:mod:`~capcore.large.octaves.predictor`), rounded; convergence is linear, because the manifold's
curvature is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from capcore.architectures.tensor_train import attainable_ranks
from capcore.capacity.tangent_space import TangentSpace
from capcore.checks.arguments import counted, moderate, positive_integer
from capcore.checks.progress import tqdm
from capcore.large.octaves.blocks import image_norm
from capcore.large.octaves.forms import energy, tangent_forms
from capcore.large.octaves.predictor import ExponentialSequence, optimal_predictor
from capcore.large.retraction import add_trains, carried_below, retract, round_train

ERROR_RANK = 48  # bond ranks kept of A − A*; the part cut off is far below the rounding of A
STATIONARY = 1e-8  # largest ‖TᵀΣX‖ / ‖ΣX‖ at which an optimum is trusted
OFFSET = 1e-9  # √(promised decrease / loss) below which the iteration stops
ROUNDING = 1e-13  # relative length of a step that changes only the last digits of the coefficients
FLOOR = 1e-25  # loss, in units of c_0, below which the error is the rounding of A


@dataclass(frozen=True, eq=False)
class OctaveFit:
    """An optimum in the form of kernels; X = A − A*.

    Attributes
    ----------
    kernels : list of (r_{l−1}, n_l, r_l) arrays
        With attainable ranks: channels beyond those cannot be used.
    loss : float
        XᵀΣX.
    stationarity : float
        ‖TᵀΣX‖ / ‖ΣX‖.
    n_iterations : int
        Number of steps.
    converged : bool
        Whether the optimum can be trusted.
    message : str
        Why the iteration stopped. Beyond 10^6 inputs the rounding of A alone raises the stationarity above 1e-8; steps
        as short as that rounding then count as convergence.
    """

    kernels: list[np.ndarray] = field(repr=False)
    loss: float
    stationarity: float
    n_iterations: int
    converged: bool
    message: str


def fit_octaves(
    channels: Sequence[int],
    kernel_sizes: Sequence[int],
    sequence: ExponentialSequence,
    *,
    max_iterations: int = 100,
    progress: bool = False,
) -> OctaveFit:
    """A stationary optimum of a stack with disjoint supports, at any length.

    Stops when the steps reach rounding, or at once if the loss does: the target is then attained, and the tangent
    space need not have full dimension.

    Parameters
    ----------
    channels : list of int
        Channels of the L − 1 hidden layers.
    kernel_sizes : list of int
        Kernel sizes of the L layers.
    sequence : ExponentialSequence
        The autocovariance, with positive weights and accurate up to lag n.
    max_iterations : int
        Largest number of steps.
    progress : bool
        Show a progress bar.

    Raises
    ------
    ValueError
        In the cases of :func:`~capcore.large.octaves.predictor.optimal_predictor`, and if lists do not fit together.

    Examples
    --------
    >>> from capcore.large.exponentials import exponential_sequence
    >>> from capcore.processes import PowerLaw
    >>> optimum = fit_octaves([2] * 11, [2] * 12, exponential_sequence(PowerLaw(), 2**12))
    >>> optimum.converged, optimum.stationarity < 1e-8
    (True, True)
    """
    positive_integer(max_iterations, "max_iterations")
    if len(channels) != len(kernel_sizes) - 1:
        raise ValueError(f"channels: found {len(channels)} numbers, expected {len(kernel_sizes) - 1}.")
    moderate(sequence.variance, "sequence", 1e100)
    ranks = attainable_ranks([1, *channels, 1], kernel_sizes)
    target = round_train(optimal_predictor(sequence, kernel_sizes), [4 * ERROR_RANK] * len(kernel_sizes))
    cores = round_train(target, ranks[:-1])
    loss = energy(_difference(cores, target), sequence)
    if loss <= FLOOR * sequence.variance:
        message = "target attained: the loss is at its floor, and the optimum may be a singular point"
        return OctaveFit(cores, loss, 0.0, 0, True, message)
    decreases, steps = [], []
    message = f"stopped after {counted(max_iterations, 'step')}"
    for _ in tqdm(range(max_iterations), desc="octaves", unit="step", disable=not progress):
        space, gradient, gram = _gradient(cores, sequence)
        scale = 1 / np.sqrt(np.diag(gram))
        step = -scale * cho_solve(cho_factor(gram * np.outer(scale, scale)), scale * gradient)
        decreases.append(float(-step @ gradient))
        steps.append(float(np.linalg.norm(step) / np.linalg.norm(own_coordinates(space, cores))))
        cores = retract(space, cores, step)
        if abs(decreases[-1]) < OFFSET**2 * loss:
            message = "the promised decrease is no part of the loss any more"
            break
        if steps[-1] < ROUNDING and decreases[-1] > 0.5 * decreases[-2]:
            message = "the steps are as short as the rounding of the coefficients"
            break
    error = _difference(cores, target)
    stationarity = float(np.linalg.norm(_gradient(cores, sequence)[1])) / image_norm(error, sequence)
    converged = stationarity <= STATIONARY or steps[-1] < ROUNDING
    loss = energy(error, sequence)
    return OctaveFit(cores, loss, stationarity, len(steps), converged, message)


def own_coordinates(space: TangentSpace, cores: Sequence[np.ndarray]) -> np.ndarray:
    """(κ,) x with A = T x, where A is the point of tangency: only the block of the last layer is not zero."""
    x = np.zeros(space.dimension)
    x[space.blocks[-1]] = np.tensordot(carried_below(space, cores)[-1], cores[-1], 1).ravel()
    return x


def _gradient(cores: list[np.ndarray], sequence: ExponentialSequence) -> tuple[TangentSpace, np.ndarray, np.ndarray]:
    space = TangentSpace.of_kernels(cores)
    gram, right = tangent_forms(space, sequence)
    return space, gram @ own_coordinates(space, cores) - right, gram


def _difference(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The train A − B, rounded."""
    return round_train(add_trains(first, [*second[:-1], -second[-1]]), [ERROR_RANK] * len(first))
