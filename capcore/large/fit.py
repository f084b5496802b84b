"""Fit a hierarchical model to a process at any length: a stationary optimum without any n × n matrix."""

from dataclasses import dataclass, field

import numpy as np

from capcore.architectures.hierarchical import Hierarchical, check_train, flattened
from capcore.architectures.tensor_train import attainable_ranks, tt_svd
from capcore.capacity.tangent_space import TangentSpace
from capcore.checks.arguments import Seed, one_of
from capcore.checks.progress import tqdm
from capcore.fitting.optimum import check_option
from capcore.large.newton import Descent, Point, minimise_newton
from capcore.large.quadratic import ToeplitzProblem
from capcore.large.retraction import lift, pad, round_train
from capcore.processes import Process

NOISE = 4.0  # times the accuracy of A*: relative to the largest, a singular value that is no more than noise


@dataclass(frozen=True, eq=False)
class LargeFit:
    """An optimum of a hierarchical model, with measures of its quality.

    Attributes
    ----------
    params : (n_params,) array
        Parameters of the optimum.
    coefficients : (n,) array
        Coefficients Â of the model.
    target : (n,) array
        A*.
    loss : float
        Excess variance (A − A*)ᵀΣ(A − A*).
    variance : float
        v* + loss, the variance of the prediction error.
    stationarity : float
        At ``params``, ‖TᵀΣX‖/‖ΣX‖ with X = A − A* and T an orthonormal basis of the tangent space.
    resolution : float
        Estimated stationarity that rounding of Â alone can cause; 0 if no step was tried.
    converged : bool
        Whether the stationarity is below its tolerance, or below ``resolution`` and no longer falling, or
        the loss at its floor.
    message : str
        Why it stopped.
    gradient_norm : float
        ‖∂L/∂W‖ at ``params``.
    n_iterations : int
        Steps tried.
    history : (n_iterations + 1,) array
        Loss at the start and after each step.
    is_singular : bool
        Whether Â has a lower rank at some bond than the architecture can attain, up to four times the accuracy of A*.
        The tangent space at ``params`` then depends on the content of the spare channels, and a capacity allocated
        there means nothing.
    """

    params: np.ndarray = field(repr=False)
    coefficients: np.ndarray = field(repr=False)
    target: np.ndarray = field(repr=False)
    loss: float
    variance: float
    stationarity: float
    resolution: float
    converged: bool
    message: str
    gradient_norm: float
    n_iterations: int
    history: np.ndarray = field(repr=False)
    is_singular: bool


def fit_large(
    arch: Hierarchical,
    task: Process | ToeplitzProblem,
    *,
    rng: Seed = None,
    start: str | np.ndarray = "auto",
    max_iterations: int = 300,
    tolerance: float = 1e-8,
    floor: float = 1e-26,
    progress: bool = False,
) -> LargeFit:
    """Parameters at which a hierarchical model with disjoint supports predicts the process best.

    A target with lower ranks than the architecture can attain is represented exactly (up to four times its own
    accuracy): it is returned at once, whatever the start, with ``is_singular`` set.

    Parameters
    ----------
    arch : Hierarchical
        The architecture, with one component per input.
    task : Process or ToeplitzProblem
        The process, or a problem made from one.
    rng : numpy.random.Generator or int, default 0
        For random starts and spare channels.
    start : str or (n_params,) array
        "tensor-train" (the TT-SVD of A*, as "auto"), "random", or parameters.
    max_iterations : int
        Steps tried, taken or not.
    tolerance : float
        Tolerance of the stationarity.
    floor : float
        Loss, in units of c_0, below which the target counts as attained. The default is the rounding of the
        coefficients; a larger floor saves steps, but returns a point that is not stationary.
    progress : bool
        Show a progress bar.

    Raises
    ------
    ValueError
        If dilations overlap, inputs have several components, the process is numerically singular, or an argument cannot
        be used.
    FloatingPointError
        If the start overflows.

    Examples
    --------
    >>> from capcore.processes import PowerLaw
    >>> result = fit_large(Hierarchical(channels=2, n_layers=10), PowerLaw())
    >>> result.converged, result.stationarity < 1e-8, result.is_singular
    (True, True, False)
    """
    check_train(arch)
    ranks = attainable_ranks(arch.widths, arch.kernel_sizes)
    for name, value in {"max_iterations": max_iterations, "tolerance": tolerance, "floor": floor}.items():
        check_option(name, value)
    if isinstance(start, str):
        one_of(start, "start", ("auto", "tensor-train", "random"))
    rng = np.random.default_rng(0 if rng is None else rng)
    problem = task if isinstance(task, ToeplitzProblem) else ToeplitzProblem.of(task, arch.n_inputs)
    if problem.n_inputs != arch.n_inputs:
        raise ValueError(f"task: found {problem.n_inputs} inputs, expected {arch.n_inputs} as in {arch!r}.")
    tolerance_of_rank = NOISE * problem.accuracy
    best = Point(problem, tt_svd(problem.target, 1, arch.kernel_sizes, ranks, tolerance_of_rank))
    least = floor * float(problem.autocovariance[0])
    exact = np.sqrt(arch.n_layers) * tolerance_of_rank * np.linalg.norm(problem.target)
    attained = best.loss <= least or np.linalg.norm(best.error) <= exact
    if attained and [core.shape[0] for core in best.cores] != ranks[:-1]:
        message = "target attained at lower ranks than the channels allow: a singular optimum"
        descent = Descent(best, [best.loss], 0.0, True, message)
    else:
        given = not isinstance(start, str) or start == "random"
        cores = _start(arch, ranks, start, rng) if given else best.cores
        point = _in_general_position(Point(problem, cores), ranks, rng)
        with tqdm(desc="Newton", unit="it", disable=not progress) as bar:
            # Half the tolerance is left for the rounding of the parameters.
            descent = minimise_newton(point, max_iterations, tolerance / 2, least, callback=bar.update)
    return _summary(arch, descent, ranks, tolerance_of_rank, rng)


def _start(arch: Hierarchical, ranks: list[int], start: str | np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Cores with the given ranks, from random or given parameters."""
    params = arch.init(rng) if isinstance(start, str) else arch.checked(start, "start")
    with np.errstate(all="ignore"):
        finite = np.isfinite(np.linalg.norm(arch.coefficients(params)))
    if not finite:
        raise FloatingPointError("start: found coefficients that overflow, expected moderate ones. Scale it down.")
    return round_train(arch.kernels(params), ranks)


def _in_general_position(point: Point, ranks: list[int], rng: np.random.Generator) -> Point:
    """The point itself if it has the required ranks, otherwise one near it: points of lower rank are not smooth."""
    space = TangentSpace.of_kernels(point.cores)
    if [*space.ranks_below, 1] == ranks and space.ranks_above == ranks[1:]:
        return point
    return Point(point.problem, lift(point.cores, ranks, 0.1 * float(np.linalg.norm(point.error)), rng))


def _summary(
    arch: Hierarchical, descent: Descent, attainable: list[int], tolerance: float, rng: np.random.Generator
) -> LargeFit:
    point, problem = descent.point, descent.point.problem
    values = [np.linalg.svd(bond, compute_uv=False) for bond in point.bonds]
    bond_ranks = [np.count_nonzero(s > tolerance * s[:1]) for s in values]
    params = flattened(pad(point.cores, arch.widths, rng))
    coefficients = arch.coefficients(params)
    pull = problem.apply(coefficients - problem.target)
    loss = max(0.0, float(pull @ (coefficients - problem.target)))
    size = float(np.linalg.norm(pull))
    return LargeFit(
        params=params,
        coefficients=coefficients,
        target=problem.target,
        loss=loss,
        variance=problem.variance + loss,
        stationarity=float(np.linalg.norm(point.space.project(pull))) / size if size > 0 else 0.0,
        resolution=descent.resolution,
        converged=descent.converged,
        message=descent.message,
        gradient_norm=2 * float(np.linalg.norm(arch.vjp(params, pull))),
        n_iterations=len(descent.losses) - 1,
        history=np.array(descent.losses),
        is_singular=bond_ranks != attainable[1:-1],
    )
