"""Capacity does not depend on the scale of a layer, nor on that of the process: from 1e-300 to 1e300, or a clear error.

Every public name of the core is in one of the two tables below: a new one without a law fails the first test.
"""

import inspect
import re
import warnings
from functools import partial

import numpy as np
import pytest

import capcore as cc
from capcore.architectures import generic
from capcore.capacity import allocation, constraints
from capcore.fitting import variable_projection as vp
from capcore.processes import features
from tests.scales import laws, process_laws

OTHERS = {"checkpoints", "networks", "plotting", "propagation", "spectra"}  # not the linear core
EXPONENTS = (-996, -531, -332, -20, 20, 332, 531, 996)  # of two: 1e±300, 1e±160, 1e±100, 1e±6
ORDINARY = 20  # up to here nothing may be refused


def capacities(*model_and_process, method):
    return cc.allocate(*model_and_process, method=method).per_input


COUNTS = {
    "generic.exact_rank": lambda arch, w: generic.exact_rank(arch, params=w),
}
PENCIL = ("hankel_rank", "hankel_svd", "pencil_poles", "real_poles")
LAWS = {
    **{name: laws.exact(count) for name, count in COUNTS.items()},
    **dict.fromkeys(("finite_field.residue", "finite_field.residues", "finite_field.Dual"), laws.residue),
    "finite_field.jacobian_of_function": laws.residue,
    "allocation.allocate": laws.in_other_units(lambda *a: allocation.allocate(*a).per_input),
    "verbs.allocate": (
        laws.allocate,
        *(laws.in_other_units(partial(capacities, method=method)) for method in ("dense", "fft", "streamed", "sketch")),
        laws.allocate_large,
        laws.octave_capacities,
        laws.estimate_capacity,
        laws.allocate_function,
        laws.no_polynomial,
    ),
    "optimum.fit": (laws.start("gauss-newton"), laws.start("l-bfgs-b")),
    "verbs.fit": (laws.fit, laws.fit_large, laws.large_start, laws.fit_octaves),
    "comparison.compare": laws.compare,
    "designs.choosing.design": laws.designed,
    "large.jacobian_products.JacobianProducts": laws.estimate_capacity,
    "optimum.Problem": laws.problem,
    "large.exponentials.exponential_sequence": laws.exponential_sequence,
    "architectures.hierarchical.Hierarchical": (
        laws.architecture(laws.TRAIN, None, 4),
        laws.architecture(laws.OVERLAPPING, None, 4),
    ),
    "architectures.recurrent.Recurrent": laws.architecture(laws.RECURRENT, ["input"], 1),
    "architectures.frozen.Frozen": laws.frozen,
    "architectures.function.Function": laws.function,
    "architectures.linear.Linear": laws.linear_model,
    **dict.fromkeys(("architectures.taps.NearAndPools", "architectures.taps.LogTaps"), laws.taps),
    "architectures.taps.AutoRegressiveTaps": laws.taps,
    "architectures.sum.Sum": laws.branches,
    **{f"projection.{name}": laws.projected for name in ("fit_by_projection", "least_squares", "without")},
    "constraints.ConstraintSpace": laws.constraint_space,
    "constraints.join": laws.spaces(constraints.join),
    "constraints.chain": laws.spaces(lambda parts: constraints.chain(parts)[1]),
    "constraints.equilibrate": laws.linear(constraints.equilibrate, 0),
    "constraints.compress_columns": laws.linear(lambda m: constraints.compress_columns(m.T)),
    "constraints.rank_tolerance": laws.linear(lambda m: constraints.rank_tolerance(m.shape, float(m[0, 0]))),
    "tangent_space.TangentSpace": laws.tangent,
    **dict.fromkeys(("tensor_train.tt_svd", "tensor_train.contract", "tensor_train.widen"), laws.trains),
    **dict.fromkeys(("time_series.estimate_process", "time_series.sieve_bootstrap"), process_laws.series),
    "processes.given.FromAutocovariance": process_laws.covariances(lambda s: cc.FromAutocovariance(laws.LAGS * s)),
    "processes.given.AutoRegressive": process_laws.covariances(lambda s: cc.AutoRegressive([0.5, -0.2], s)),
    "processes.kernels.FromKernel": process_laws.covariances(lambda s: cc.FromKernel(lambda lag: s * 0.5**lag)),
    "own_covariance.FromCovariance": process_laws.own_covariance,
    "processes.base.WithNugget": process_laws.covariances(
        lambda s: cc.FromAutocovariance(laws.LAGS * s).with_nugget(0.5 * s)
    ),
    "processes.base.Process": process_laws.covariances(lambda s: cc.FromAutocovariance(laws.LAGS * s)),
    "multivariate.Independent": process_laws.weighted,
    "multivariate.Mixed": process_laws.mixed,
    "processes.base.check_positive_definite": process_laws.recursion,
    "toeplitz.levinson_durbin": process_laws.recursion,
    "toeplitz.condition_bound": process_laws.recursion,
    "toeplitz.autocovariance_from_predictor": process_laws.recursion,
    **{f"variable_projection.{name}": process_laws.pencil for name in PENCIL},
    "variable_projection.minimise_poles": process_laws.poles(
        lambda *a: vp.minimise_poles(laws.RECURRENT, *a, laws.POLES)
    ),
    "variable_projection.minimise_recurrent": process_laws.poles(
        lambda *a: vp.minimise_recurrent(laws.RECURRENT, *a, None, np.random.default_rng(0))
    ),
    "variable_projection.projection_path": process_laws.poles(
        lambda *a: vp.projection_path(laws.RECURRENT, [2], *a, np.random.default_rng(0))[2]
    ),
    **dict.fromkeys(("features.Recombined", "features.Basis", "features.Features"), process_laws.features),
    "feature_process.FeatureProcess": process_laws.feature_process,
    "fourier.per_frequency": laws.frequencies,
}
NEVER_REFUSED = (laws.allocate, laws.allocate_large, laws.octave_capacities, laws.estimate_capacity, laws.tangent)
NEVER_REFUSED += (laws.allocate_function, laws.constraint_space, laws.residue, laws.linear_model, laws.taps)
NEVER_REFUSED += (laws.branches,)
NO_SCALE = {
    "a shape or an exponent, without a unit: its extremes are looked at below": (
        "processes.families.PowerLaw processes.families.FractionalGaussianNoise processes.families.AR1 "
        "processes.families.DampedCosine processes.families.RationalQuadratic processes.families.make_process "
        "features.Fourier toeplitz.reflection_coefficients variable_projection.pole_limit"
    ),
    "whole numbers": (
        "fields.receptive_field probing.field_of "
        "generic.ranks_from_below generic.ranks_from_above generic.attainable_ranks generic.tensor_train_dimension "
        "finite_field.rank_modulo_prime features.Hermite features.Monomials "
        "features.PiecewiseLinear features.make_features fourier.fourier_frequencies fourier.mode_frequencies "
        "fourier.fourier_modes"
    ),
    "a record of what a function above returns": (
        "allocation.CapacityAllocation allocation.LayerAllocation allocation.CapacityWarning optimum.FitResult "
        "results.Allocation results.Fit time_series.EstimatedProcess "
        "available_memory.TooLargeError large.octaves.predictor.ExponentialSequence "
        "toeplitz.LevinsonResult own_model.Linearisation trees.Ravelled fields.ReceptiveField probing.Convolution "
        "probing.Field comparison.Comparison designs.results.Design "
        "architectures.base.Architecture"
    ),
    "a function of a reader's model, which allocate takes": (
        "own_model.linearised own_model.linearised_jax own_model.linearised_torch own_model.as_architecture "
        "own_model.opened own_model.copied own_model.OwnModel doors.is_module doors.refuse_model trees.is_tree "
        "trees.ravelled trees.layer_names probing.measured_function probing.measured_module projection.has_linear_part"
    ),
    "files": "sweeps.load_sweep",
    "standard normal draws or points of evaluation": ("hermite.hermite_values hermite.hermite_coefficients"),
}


def public_names():
    """Every public function and class of the core, by the module that defines it."""
    public = [getattr(cc, name) for name in cc.__all__]
    modules = [value for value in public if inspect.ismodule(value) and value.__name__.split(".")[1] not in OTHERS]
    found = {value for value in public if not inspect.ismodule(value) and value.__module__.split(".")[1] not in OTHERS}
    for module in modules:
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        for name in getattr(module, "__all__", own):
            value = getattr(module, name)
            if not name.startswith("_") and (inspect.isfunction(value) or inspect.isclass(value)):
                found.add(value)
    return {f"{value.__module__}.{value.__name__}".removeprefix("capcore.") for value in found}


def test_every_public_name_of_the_core_has_a_law_or_a_reason_why_not():
    without = [name for names in NO_SCALE.values() for name in names.split()]
    assert sorted({*LAWS, *without}) == sorted(public_names())
    assert not set(LAWS) & set(without)


def separate(entries):
    """(name, law) once for every law, however many names share it."""
    found = {law: name for name, laws in entries for law in (laws if isinstance(laws, tuple) else (laws,))}
    return [pytest.param(law, id=f"{name}-{law.__qualname__.split('.')[0]}") for law, name in found.items()]


def clear(error):
    """Whether an error says what was found and what was expected."""
    return bool(re.search("found|Found", str(error)) and "expected" in str(error))


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("law", separate(LAWS.items()))
def test_it_is_right_or_refused_at_any_scale(law, exponent):
    """No NaN, no wrong number; an error says what was found and what was expected; a warning is no answer."""
    refusal = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of an overflow that is refused just after
            for found, expected, tolerance in law(2.0**exponent):
                size = float(np.max(np.abs(expected), initial=0.0))
                gap = np.max(np.abs(np.subtract(found, expected, dtype=float)), initial=0.0)
                smallest = np.finfo(float).tiny
                assert gap <= tolerance * (size or 1.0) + smallest, f"found {found}, expected {expected}"
    except (ValueError, FloatingPointError) as error:
        refusal = error
    allowed = abs(exponent) > ORDINARY and law not in NEVER_REFUSED
    assert refusal is None or (allowed and clear(refusal)), f"{refusal}"


@pytest.mark.parametrize(
    "make",
    [
        lambda x: cc.PowerLaw(x),
        lambda x: cc.AR1(min(x, 1 - 1e-16)),
        lambda x: cc.FractionalGaussianNoise(min(x, 1 - 1e-16)),
        lambda x: cc.DampedCosine(decay=x),
        lambda x: cc.DampedCosine(period=x),
        lambda x: cc.RationalQuadratic(scale=x),
        lambda x: cc.RationalQuadratic(alpha=x),
    ],
    ids=["exponent", "phi", "hurst", "decay", "period", "scale", "alpha"],
)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_a_shape_at_its_extremes_gives_a_correlation_or_a_refusal(make, exponent):
    """|c_τ| ≤ c_0 = 1 at every lag, as of any process of unit variance."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            c = make(2.0**exponent).autocovariance(16)
    except ValueError as error:
        right = clear(error)
    else:
        right = c[0] == 1 and np.all(np.abs(c) <= 1)
    assert right


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_a_period_at_its_extremes_gives_features_or_a_refusal(exponent):
    try:
        values = features.Fourier(3, period=2.0**exponent)(np.linspace(-3, 3, 7))
    except ValueError as error:
        right = clear(error)
    else:
        right = bool(np.abs(values).max() <= 2)
    assert right
