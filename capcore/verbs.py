"""The two verbs: ``fit`` and ``allocate``, at any size, each with the method that the size asks for."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from capcore.architectures.base import Architecture
from capcore.architectures.hierarchical import check_train, flattened, is_train
from capcore.architectures.own_model import OwnModel, architecture_of
from capcore.architectures.probing import Output
from capcore.capacity.allocation import CapacityAllocation
from capcore.capacity.allocation import allocate as allocate_dense
from capcore.checks.arguments import Seed, one_of, plain_number, plain_seed
from capcore.checks.memory import allocation_bytes, fits
from capcore.fitting.optimum import METHODS, PROJECTION, dense_method
from capcore.fitting.optimum import fit as fit_dense
from capcore.large.allocation import allocate_large
from capcore.large.exponentials import NoExponentialsError, exponential_sequence, has_sequence
from capcore.large.fit import fit_large
from capcore.large.octaves.capacity import octave_capacities
from capcore.large.octaves.fit import fit_octaves
from capcore.large.octaves.predictor import ExponentialSequence
from capcore.large.retraction import pad
from capcore.large.sketch import estimate_capacity
from capcore.processes import Process
from capcore.processes.kernels import as_task
from capcore.processes.problem import Problem
from capcore.results.fit_and_allocation import DENSE, Allocation, Fit, octaves_of

EPS = float(np.finfo(float).eps)
TRAIN_SIZE = 256
"""Inputs of a tensor train up to which "auto" fits by Gauss–Newton: the same optimum, at n³ instead of n log n."""

DENSE_SIZE = 2048
"""Coefficients up to which "auto" allocates by n × n matrices, which also give layers and frequencies."""

LISTED_INPUTS = 2**22
"""Inputs beyond which "auto" lists octaves of lag only."""

LARGE_OPTIONS = {"riemannian-newton": ("max_iterations", "tolerance", "floor"), "octaves": ("max_iterations",)}
"""Methods for tensor trains of any length → names of their options."""

FIT_METHODS = ("auto", *METHODS, PROJECTION, *LARGE_OPTIONS)
ALLOCATION_METHODS = ("auto", DENSE, "streamed", "octaves", "sketch")
NO_LAGS = "task: found an ExponentialSequence, expected a Process. Or use method='octaves'."


def fit(
    arch: Architecture | Callable[..., object],
    task: Process | Problem | ExponentialSequence,
    *,
    params: Any = None,
    inputs: object = None,
    output: Output = None,
    time_axis: int | None = None,
    rng: Seed = None,
    method: str = "auto",
    start: str | np.ndarray = "auto",
    n_starts: int = 1,
    rebalance: bool = True,
    progress: bool = False,
    **options: float,
) -> Fit:
    """Parameters at which an architecture predicts a process best, at any size.

    A model of your own is a function params → coefficients, or a network whose linear response at ``inputs`` is fitted:
    all its weights move until ∂ output / ∂ inputs there predicts best. The fit starts from the model's own parameters,
    and :meth:`Fit.unravel() <capcore.results.fit_and_allocation.Fit.unravel>` returns them as the model takes them.

    Parameters
    ----------
    arch : Architecture or callable
        The model; what it is if not an architecture is said in :func:`allocate`.
    task : Process, Problem or ExponentialSequence
        What it predicts; a posed problem for dense methods; for "octaves" also an autocovariance as exponentials,
        accurate up to lag n.
    params : object, optional
        Of a function: a vector (p,) or any pytree of arrays, its start.
    inputs, output, time_axis : object, optional
        As in :func:`~capcore.architectures.own_model.linearised`, for a network.
    rng : numpy.random.Generator or int, default 0
        The same seed gives the same answer.
    method : str
        "gauss-newton" (dense, damped), "variable-projection" (recurrent models), "l-bfgs-b" (the paper's),
        "basin-hopping" (many descents by Gauss–Newton, for losses with many optima), "projection" (models that are
        linear in their parameters), "riemannian-newton" (tensor trains, no n × n matrix) or "octaves" (tensor trains,
        no list of inputs). "auto": variable projection for recurrent models; projection for sets of taps; basin hopping
        for stacks whose dilations overlap, unless ``start`` holds parameters; Riemannian Newton for tensor trains of
        one component and more than 256 inputs, octaves beyond 2^22; Gauss–Newton for all others, and for trains with
        several starts. Basin hopping and Riemannian Newton are passed over where options are given that they lack.
    start : str or (n_params,) array, default "auto"
        "tensor-train", "random" or parameters; see :func:`capcore.fitting.optimum.fit`. For basin hopping, "auto" is
        near the identity.
    n_starts : int, default 1
        Starts of a dense method; the best is returned, all losses are in ``losses``.
    rebalance : bool, default True
        Let Gauss–Newton rescale the layers now and then, also between hops; other methods never do.
    progress : bool, default False
        Show a progress bar.
    **options : float
        ``max_iterations``, ``tolerance``, … of the method; ``n_hops`` of basin hopping.

    Returns
    -------
    Fit

    Raises
    ------
    ValueError
        For arguments that cannot be used, and for options that the method has not.
    TooLargeError
        At once, for what would not fit into memory, with what to do.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import PowerLaw
    >>> fit(Hierarchical(channels=8, n_layers=6), PowerLaw()).loss < 1e-26
    True
    >>> result = fit(Hierarchical(channels=2, n_layers=12), PowerLaw())
    >>> result.method, result.converged
    ('riemannian-newton', True)
    """
    settings: dict[str, Any] = {name: plain_number(value, name) for name, value in options.items()}
    rng = plain_seed(rng)
    one_of(method, "method", FIT_METHODS)
    if isinstance(arch, Architecture) and params is not None:
        raise ValueError(f"params: found some beside {arch!r}, expected none: a start is given as start=….")
    model: Any = architecture_of(arch, params, inputs, output, time_axis)
    if isinstance(model, OwnModel) and isinstance(start, str) and start == "auto":
        start = model.params
    task = as_task(task)
    if method == "auto":
        method = fit_method(model, task, start, settings, n_starts == 1 and rebalance)
    if method in LARGE_OPTIONS:
        for key in settings:
            one_of(key, f"option of {method}", LARGE_OPTIONS[method])
        if n_starts != 1:
            raise ValueError(f"n_starts: found {n_starts!r}, expected 1 for {method!r}. Call it with several seeds.")
    if method == "octaves":
        return _fit_octaves(model, task, start, rng, settings | {"progress": progress})
    if isinstance(task, ExponentialSequence):
        raise ValueError(NO_LAGS)
    settings |= {"rng": rng, "start": start, "progress": progress}
    optimum: Any
    if method == "riemannian-newton":
        if not isinstance(task, Process):
            raise ValueError(f"task: found {type(task).__name__}, expected a Process for method {method!r}.")
        optimum = fit_large(model, task, **settings)
    else:
        optimum = fit_dense(model, task, method=method, n_starts=n_starts, rebalance=rebalance, **settings)
    ends = (optimum.converged, optimum.message, optimum.n_iterations)
    return Fit(model, optimum.params, optimum.loss, method, *ends, optimum, getattr(task, "inputs", "lag"))


def allocate(
    arch: Architecture | Callable[..., object],
    params: Fit | Any,
    task: Process | Problem | ExponentialSequence,
    *,
    inputs: object = None,
    output: Output = None,
    time_axis: int | None = None,
    method: str = "auto",
    rng: Seed = None,
    progress: bool = False,
) -> Allocation:
    """Where a model at given parameters spends its capacity, at any size (paper 1, Eqs 16 and 18).

    Parameters
    ----------
    arch : Architecture or callable
        The model. Or one of your own: a function params → coefficients (n,), lag 0 first, which
        :class:`~capcore.architectures.function.Function` takes with more options; with ``inputs`` a network, as
        :func:`~capcore.architectures.own_model.linearised` takes it.
    params : Fit or (n_params,) array_like or object
        An optimum, or any parameters; pytrees for functions, whose layers they name. None for a module's own.
    task : Process, Problem or ExponentialSequence
        Whose covariance enters; a posed problem for "dense" and "sketch", exponentials for "octaves".
    inputs, output, time_axis : object, optional
        Where a network is linearised, as in :func:`~capcore.architectures.own_model.linearised`.
    method : str
        "dense" (n × n matrices; the only one with layers and frequencies), "streamed" (tensor trains of one component:
        ΣT is never held), "octaves" (tensor trains, no list of inputs) or "sketch" (any model, by products with its
        Jacobian). "auto": dense up to 2,048 coefficients; beyond, for tensor trains, streamed if the far lags are sums
        of exponentials, and octaves beyond 2^22 inputs; a sketch for all others.
    rng : numpy.random.Generator or int, default 0
        Of the sketch.
    progress : bool, default False
        Show a progress bar: "streamed" and "sketch", as the others have no steps that take long.

    Returns
    -------
    Allocation

    Warns
    -----
    CapacityWarning
        If the numerical total differs from the exact generic one: the parameters are singular or nearly so.

    Raises
    ------
    ValueError
        For arguments that cannot be used or are not finite, and for methods that the model or the process has not.
    TooLargeError
        At once, for what would not fit into memory.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import PowerLaw
    >>> arch = Hierarchical(channels=4, n_layers=6)
    >>> result = allocate(arch, fit(arch, PowerLaw()), PowerLaw())
    >>> result.total, result.generic_total, result.method, round(float(result.per_input.sum()), 9)
    (48, 48, 'dense', 48.0)
    """
    rng = plain_seed(rng)
    one_of(method, "method", ALLOCATION_METHODS)
    own = not isinstance(arch, Architecture)
    kernels = getattr(params, "kernels", None) if method in ("auto", "octaves") else None
    values: Any = getattr(params, "params", params)
    tree = params.unravel() if isinstance(params, Fit) else values
    model: Any = architecture_of(arch, tree, inputs, output, time_axis)
    if isinstance(model, OwnModel) and (own or values is None):
        values = model.params
    task = as_task(task)
    kinds = [(type(one), one.n_inputs, one.layers) for one in (getattr(params, "arch", model), model)]
    if not own and kinds[0] != kinds[1]:
        raise ValueError(f"params: found a fit of {params.arch!r}, expected one of {model!r}.")
    any_method = method == "auto"
    if any_method:
        method = allocation_method(model, task)
    capacities: Any
    if method == "octaves":
        return _allocate_octaves(model, values, kernels, task)
    if isinstance(task, ExponentialSequence):
        raise ValueError(NO_LAGS)
    if method == "streamed":
        if isinstance(task, Problem):
            raise ValueError(f"task: found a Problem, expected a Process for method {method!r}. Or use 'dense'.")
        try:
            capacities = allocate_large(model, values, task, progress=progress)
            error = max(capacities.departure, capacities.condition * (EPS + capacities.lag_error))
        except NoExponentialsError:
            if not any_method:
                raise
            method = "sketch"
    if method == DENSE:
        capacities = allocate_dense(model, values, task)
        error = _dense_error(capacities)
    elif method == "sketch":
        capacities = estimate_capacity(model, values, task, rng=rng, progress=progress)
        error = capacities.error
    totals = (capacities.total, capacities.generic_total)
    octaves = octaves_of(capacities.per_input)
    return Allocation(model, *totals, method, error, *octaves, capacities, getattr(task, "inputs", "lag"))


def _fit_octaves(arch: Any, task: Any, start: Any, rng: Any, options: Mapping[str, Any]) -> Fit:
    train = check_train(arch)
    if not isinstance(start, str) or start not in ("auto", "tensor-train"):
        raise ValueError(f"start: found {start!r}, expected 'auto' for method 'octaves'.")
    optimum = fit_octaves(train.channels, train.kernel_sizes, sequence_of(task, train.n_inputs), **options)
    rng = np.random.default_rng(0 if rng is None else rng)
    params = flattened(pad(optimum.kernels, train.widths, rng))
    ends = (optimum.converged, optimum.message, optimum.n_iterations)
    return Fit(train, params, optimum.loss, "octaves", *ends, optimum)


def _allocate_octaves(arch: Any, params: Any, kernels: Any, task: Any) -> Allocation:
    train = check_train(arch)
    capacities = octave_capacities(kernels or train.kernels(params), sequence_of(task, train.n_inputs))
    octaves = np.array(capacities.edges), capacities.per_octave
    totals = (capacities.total, train.generic_capacity())
    return Allocation(train, *totals, "octaves", EPS * capacities.condition, *octaves, capacities)


def _dense_error(allocation: CapacityAllocation) -> float:
    """How far rounding turns the layers' spaces, or the space that they span together."""
    spaces = [allocation.space, *allocation._layer_spaces.values()]
    values = [space.singular_values[: space.dimension] for space in spaces]
    return EPS * max([float(counted[0] / counted[-1]) for counted in values if len(counted)], default=1.0)


def fit_method(arch: Any, task: object, start: object, options: Mapping[str, object], plain: bool) -> str:
    """The method that suits model, process and size; the first that applies.

    plain : one start, with rebalancing, as the methods for long tensor trains have it.
    """
    plain = plain and set(options) <= set(LARGE_OPTIONS["riemannian-newton"])
    if plain and isinstance(task, ExponentialSequence):
        return "octaves"
    if plain and is_train(arch) and arch.n_inputs > TRAIN_SIZE and isinstance(task, Process):
        listed = arch.n_inputs <= LISTED_INPUTS or not isinstance(start, str) or start != "auto"
        return "riemannian-newton" if listed or not has_sequence(task) else "octaves"
    return dense_method(arch, start, options)


def allocation_method(arch: Any, task: object) -> str:
    """The method of an allocation."""
    if isinstance(task, ExponentialSequence):
        return "octaves"
    if arch.n_inputs * arch.input_dim <= DENSE_SIZE and fits(allocation_bytes(arch)):
        return DENSE
    if not is_train(arch) or isinstance(task, Problem):
        return "sketch"
    return "octaves" if arch.n_inputs > LISTED_INPUTS and has_sequence(task) else "streamed"


def sequence_of(task: object, n_inputs: int) -> ExponentialSequence:
    """The autocovariance as exponentials."""
    if isinstance(task, ExponentialSequence):
        return task
    if not isinstance(task, Process):
        raise ValueError(f"task: found {type(task).__name__}, expected a Process for method 'octaves'.")
    return exponential_sequence(task, n_inputs)
