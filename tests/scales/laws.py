"""What every public function of the core must keep when its weights, parameters or covariances change their scale.

A law takes a power of two and yields triples (found, expected, relative tolerance). A power of two changes no digit, so
that tolerances are those of the arithmetic itself: a few hundred roundings at condition numbers up to some hundreds.
"""

import numpy as np

import capcore as cc
from capcore.architectures import finite_field, tensor_train
from capcore.capacity import fourier, tangent_space
from capcore.large.jacobian_products import JacobianProducts
from capcore.large.octaves.predictor import ExponentialSequence

ROUNDING = 1e-10  # condition numbers up to 1e3, some hundred operations, eps 2e-16: with room to spare
RNG = np.random.default_rng(8)
TASK = cc.PowerLaw(0.5)
TRAIN, OVERLAPPING = cc.Hierarchical(2, 4), cc.Hierarchical(2, dilations=[1, 2, 1, 2])
RECURRENT = cc.Recurrent(12, 2)
MATRIX = RNG.normal(size=(6, 3))
LAGS = TASK.autocovariance(9)
POLES = np.array([0.9, 0.3])


def params_of(arch):
    return arch.init(np.random.default_rng(3))


def scaled(arch, s, names=None):
    """Layers times s, or times s and 1/s in turn."""
    params = params_of(arch)
    for i, name in enumerate(names or arch.layers):
        params[arch.layers[name]] *= s if names or i % 2 == 0 else 1 / s
    return params


def all_scalings(s):
    """(architecture, parameters as drawn, parameters with the same capacities)."""
    for arch in (TRAIN, OVERLAPPING):
        yield arch, params_of(arch), params_of(arch) * s
        yield arch, params_of(arch), scaled(arch, s)
    yield RECURRENT, params_of(RECURRENT), scaled(RECURRENT, s, ["input", "output"])
    for arch in (TRAIN, RECURRENT):
        values, names = params_of(arch), ["input", "output"] if arch is RECURRENT else list(arch.layers)
        free = np.arange(arch.n_params) % 3 > 0
        moved = scaled(arch, s, names)
        yield (cc.Frozen(arch, values, free), cc.Frozen(arch, moved, free)), values[free], moved[free]
    yield cc.Linear(MATRIX), np.ones(3), np.ones(3) * s


def pairs(s):
    for arch, before, after in all_scalings(s):
        first, second = arch if isinstance(arch, tuple) else (arch, arch)
        yield first, before, second, after


def allocate(s):
    for first, before, second, after in pairs(s):
        expected, found = cc.allocate(first, before, TASK), cc.allocate(second, after, TASK)
        yield found.per_input, expected.per_input, ROUNDING
        yield found.total, expected.total, 0
        for name, layer in expected.layers.items():
            yield found.layers[name].forward, layer.forward, ROUNDING


def in_other_units(compute):
    """Capacity for a process of variance s is that for one of variance 1."""

    def law(s):
        process = cc.FromAutocovariance(TASK.autocovariance(17) * s)
        yield compute(TRAIN, params_of(TRAIN), process), expected_dense(), 1e-7

    return law


def expected_dense():
    return cc.allocate(TRAIN, params_of(TRAIN), TASK).per_input


def allocate_large(s):
    for params in (params_of(TRAIN) * s, scaled(TRAIN, s)):
        yield cc.allocate(TRAIN, params, TASK, method="fft").per_input, expected_dense(), ROUNDING


def octave_capacities(s):
    sequence = cc.exponential_sequence(TASK, 16)
    expected = cc.allocate(TRAIN, params_of(TRAIN), sequence).per_octave
    for params in (params_of(TRAIN) * s, scaled(TRAIN, s)):
        yield cc.allocate(TRAIN, params, sequence).per_octave, expected, ROUNDING
    yield cc.allocate(TRAIN, params_of(TRAIN), times(sequence, s)).per_octave, expected, ROUNDING


def times(sequence, s):
    return ExponentialSequence(sequence.variance * s, sequence.weights * s, sequence.rates)


def estimate_capacity(s):
    for first, before, second, after in pairs(s):
        found = cc.allocate(second, after, TASK, method="sketch")
        yield found.per_input, cc.allocate(first, before, TASK).per_input, ROUNDING
    products = JacobianProducts.dense
    expected = cc.allocate(products(MATRIX), None, TASK).per_input
    yield cc.allocate(products(MATRIX * s), None, TASK).per_input, expected, ROUNDING


def allocate_function(s):
    def product(w):
        return np.convolve(w[:2], w[2:])

    weights = np.array([1.0, 0.5, 2.0, 0.1])
    expected = cc.allocate(product, weights, TASK).per_input
    layers = {"first": slice(0, 2), "second": slice(2, 4)}
    yield cc.allocate(product, weights * s, TASK).per_input, expected, 1e-7
    yield cc.allocate(product, weights * [s, s, 1, 1], TASK, layers=layers).per_input, expected, 1e-7


def no_polynomial(s):
    """A function that cannot be rescaled: right at ordinary scales, refused at others."""
    found = cc.allocate(lambda w: w[:1] * np.tanh(w[1:] / s), np.array([s, s, 0.5 * s]), TASK)
    yield found.total, 2, 0


def fit(s):
    """The process in other units: the same model, a loss s times as large."""
    for arch in (TRAIN, RECURRENT):
        expected = cc.fit(arch, TASK)
        found = cc.fit(arch, cc.FromAutocovariance(TASK.autocovariance(17) * s))
        yield found.coefficients, expected.coefficients, 1e-5  # a loss at its minimum is flat: √ROUNDING
        yield found.loss / s, expected.loss, 1e-6


def compare(s):
    """The process in other units: every start ends at a loss s times as large, and as many agree."""
    expected, found = (
        cc.compare({"a": TRAIN}, process, starts=2)["a"]
        for process in (TASK, cc.FromAutocovariance(TASK.autocovariance(17) * s))
    )
    yield found.losses / s, expected.losses, 1e-6
    yield found.n_agreeing, expected.n_agreeing, 0


def start(method):
    """A start of any scale: no saddle at zero is called an optimum."""

    def law(s):
        found = cc.fit(TRAIN, TASK, start=params_of(TRAIN) * s, method=method)
        nothing = cc.Problem.of(TRAIN, TASK).loss(np.zeros(16))
        yield found.converged and found.loss >= 0.9 * nothing, False, 0
        yield found.loss > 1.1 * nothing and found.converged, False, 0

    return law


def problem(s):
    found = cc.Problem.of(TRAIN, cc.FromAutocovariance(TASK.autocovariance(17) * s))
    yield found.loss(np.zeros(16)) / s, cc.Problem.of(TRAIN, TASK).loss(np.zeros(16)), ROUNDING


def fit_large(s):
    expected = cc.fit(TRAIN, TASK, method="riemannian-newton")
    found = cc.fit(TRAIN, cc.FromAutocovariance(TASK.autocovariance(17) * s), method="riemannian-newton")
    yield found.coefficients, expected.coefficients, 1e-7


def large_start(s):
    found = cc.fit(TRAIN, TASK, start=params_of(TRAIN) * s, method="riemannian-newton")
    yield found.converged and found.stationarity > 1e-8, False, 0


def fit_octaves(s):
    sequence = cc.exponential_sequence(TASK, 16)
    expected = cc.fit(TRAIN, sequence)
    found = cc.fit(TRAIN, times(sequence, s))
    yield tensor_train.contract(found.kernels), tensor_train.contract(expected.kernels), 1e-7
    yield found.loss / s, expected.loss, 1e-6


def exponential_sequence(s):
    expected = np.concatenate([[1 + s], TASK.autocovariance(16)[1:]])
    yield cc.exponential_sequence(TASK.with_nugget(s), 16).autocovariance(16), expected, ROUNDING


def architecture(arch, names, degree):
    """Coefficients and Jacobian of a model that is homogeneous in its layers, whose products are numbers."""

    def law(s):
        before, after = params_of(arch), scaled(arch, s, names)
        power = s**degree if names else 1.0
        yield arch.coefficients(after), power * arch.coefficients(before), ROUNDING
        for part in arch.layers.values():
            one = np.abs(after[part]).max() / np.abs(before[part]).max()
            yield arch.jacobian(after)[:, part] * one, power * arch.jacobian(before)[:, part], ROUNDING

    return law


def both(*laws):
    def law(s):
        for each in laws:
            yield from each(s)

    return law


def frozen(s):
    free = [0, 3, 5]
    arch = cc.Frozen(TRAIN, scaled(TRAIN, s), free)
    whole = cc.Frozen(TRAIN, params_of(TRAIN), free)
    yield arch.coefficients(scaled(TRAIN, s)[free]), whole.coefficients(params_of(TRAIN)[free]), ROUNDING
    yield arch.generic_capacity(), whole.generic_capacity(), 0


def function(s):
    model = cc.Function(lambda w: np.convolve(w[:2], w[2:]), 4, example=np.full(4, s))
    yield model.generic_capacity(), 3, 0
    yield model.init(np.random.default_rng(0)) / s, 1 + 0.1 * np.random.default_rng(0).normal(size=4), ROUNDING


def linear_model(s):
    yield cc.Linear(MATRIX * s).coefficients(np.ones(3)), MATRIX.sum(axis=1) * s, ROUNDING
    yield cc.Linear(MATRIX * s).generic_capacity(), 3, 0


def designed(s):
    """The same models for a process of any variance, with losses in its units."""
    options = {"max_params": 6, "n_inputs": 8, "n_observed": 500}
    one, scaled = (cc.design(cc.FromAutocovariance(TASK.autocovariance(9) * u), **options) for u in (1.0, s))
    yield scaled.best.prediction_error, s * one.best.prediction_error, 1e-7
    yield scaled.best.n_params, one.best.n_params, 0
    yield scaled.best.per_octave, one.best.per_octave, 1e-7


def taps(s):
    for arch in (cc.NearAndPools(2, 2), cc.LogTaps(8, 4), cc.AutoRegressiveTaps(4, 8)):
        yield arch.coefficients(s * np.ones(4)), s * arch.coefficients(np.ones(4)), ROUNDING
        yield cc.allocate(arch, s * np.ones(4), TASK).per_input, cc.allocate(arch, np.ones(4), TASK).per_input, ROUNDING


def branches(s):
    arch = cc.Sum(cc.AutoRegressiveTaps(3), TRAIN)
    before = params_of(arch)
    expected = cc.allocate(arch, before, TASK).per_input
    for names in (["one: layer 1"], ["other: layer 1", "other: layer 3"], list(arch.layers)):
        after = before.copy()
        for i, name in enumerate(names):
            after[arch.layers[name]] *= s if i % 2 == 0 else 1 / s
        yield cc.allocate(arch, after, TASK).per_input, expected, 1e-7


def projected(s):
    """The best weights are the same for a process of any variance, and those of a loss in its units."""
    for arch in (cc.NearAndPools(2, 2), cc.Sum(cc.AutoRegressiveTaps(3), cc.Hierarchical(1, 3))):
        one, scaled = (cc.fit(arch, cc.FromAutocovariance(TASK.autocovariance(9) * u)) for u in (1.0, s))
        yield scaled.coefficients, one.coefficients, 1e-7
        yield scaled.loss, s * one.loss, 1e-7


def constraint_space(s):
    expected = cc.ConstraintSpace.from_columns(MATRIX)
    for columns in (MATRIX * s, MATRIX * [s, 1.0, 1 / s]):
        found = cc.ConstraintSpace.from_columns(columns)
        yield found.per_input(), expected.per_input(), ROUNDING
        yield found.capacity(MATRIX[:, :2] * s), 2.0, ROUNDING
        yield found.along(np.eye(6) * s), expected.per_input(), ROUNDING
    yield cc.ConstraintSpace.from_columns(MATRIX * s, equilibrated=True).per_input(), expected.per_input(), ROUNDING


def spaces(combine):
    def law(s):
        expected = combine([cc.ConstraintSpace.from_columns(part) for part in (MATRIX[:, :1], MATRIX[:, 1:])])
        found = combine([cc.ConstraintSpace.from_columns(part * s) for part in (MATRIX[:, :1], MATRIX[:, 1:])])
        yield found.per_input(), expected.per_input(), ROUNDING

    return law


def tangent(s):
    expected = tangent_space.TangentSpace.of_kernels(TRAIN.kernels(params_of(TRAIN)))
    for params in (params_of(TRAIN) * s, scaled(TRAIN, s)):
        found = tangent_space.TangentSpace.of_kernels(TRAIN.kernels(params))
        yield np.square(found.basis()).sum(axis=1), np.square(expected.basis()).sum(axis=1), ROUNDING


def exact(count):
    """An exact count at floating-point parameters."""

    def law(s):
        for arch in (TRAIN, OVERLAPPING):
            yield count(arch, params_of(arch) * s), count(arch, params_of(arch)), 0
            yield count(arch, scaled(arch, s)), count(arch, params_of(arch)), 0

    return law


def residue(s):
    exponent = int(np.log2(s))
    prime = finite_field.PRIME
    yield finite_field.residue(0.75 * s), finite_field.residue(0.75) * pow(2, exponent, prime) % prime, 0
    yield finite_field.residues([0.75 * s])[0], finite_field.residue(0.75 * s), 0
    found = finite_field.jacobian_of_function(lambda w: [w[0] ** 2], [0.75 * s])
    yield found[0, 0], 2 * finite_field.residue(0.75 * s) % prime, 0


def trains(s):
    target = TASK.predictor(16)[0]
    cores = tensor_train.tt_svd(target, 1, [2] * 4, [1, 2, 4, 2, 1])
    yield tensor_train.contract(tensor_train.tt_svd(target * s, 1, [2] * 4, [1, 2, 4, 2, 1])), target * s, ROUNDING
    even = [core * factor for core, factor in zip(cores, (s, 1 / s, s, 1 / s), strict=True)]
    yield tensor_train.contract(even), target, ROUNDING
    wide = tensor_train.widen(even, [1, 3, 5, 3, 1], np.random.default_rng(0))
    yield tensor_train.contract(wide), target, 1e-8  # what is added to one core is multiplied by nothing


def frequencies(s):
    basis = cc.ConstraintSpace.from_columns(MATRIX * s).basis
    yield fourier.per_frequency(basis), fourier.per_frequency(cc.ConstraintSpace.from_columns(MATRIX).basis), ROUNDING


def linear(compute, degree=1):
    """A quantity of a matrix that is homogeneous of the degree given."""

    def law(s):
        yield compute(MATRIX * s), s**degree * compute(MATRIX), ROUNDING

    return law
