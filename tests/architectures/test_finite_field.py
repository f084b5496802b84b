"""Arithmetic modulo a prime: residues of numbers, exact derivatives of any polynomial, ranks at trained parameters."""

from fractions import Fraction

import numpy as np
import pytest
from flint import nmod_mat
from hypothesis import example, given
from hypothesis import strategies as st

from capcore.architectures import Function, Hierarchical, Recurrent
from capcore.architectures.finite_field import PRIME, jacobian_of_function, rank_modulo_prime, residue, residues
from capcore.architectures.generic import exact_rank
from tests.strategies import all_of, coefficients_by_paths, hierarchical_models, refused, seeds

numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**30), 10**30)


# --- residues -------------------------------------------------------------------------------------------------------


@given(numbers)
def test_a_residue_is_that_of_the_exact_fraction(value):
    exact = Fraction(value)  # every float is one
    assert residue(value) * exact.denominator % PRIME == exact.numerator % PRIME
    assert residue(exact) == residue(value)


@pytest.mark.parametrize("kind", [int, float, Fraction, np.int64, np.float32, np.float64])
def test_kinds_of_numbers(kind):
    assert residue(kind(-3)) == PRIME - 3


def test_residues_by_hand():
    half, quarter = (PRIME + 1) // 2, (PRIME + 1) // 4
    assert [residue(v) for v in (0, 1, -1, 0.5, 0.25, 2.0**62)] == [0, 1, PRIME - 1, half, quarter, 1]
    assert residues([[0.5, 2], [3, -0.5]]).tolist() == [half, 2, 3, half - 1]
    assert residues([2**70, -1]).tolist() == [2**8, PRIME - 1]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_no_residue_of_what_is_not_finite(value):
    with pytest.raises(ValueError, match="expected a finite number"):
        residue(value)


# --- ranks ----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 300), st.integers(1, 300), st.integers(0, 40), st.sampled_from([0.0, 0.9]), seeds)
@example(300, 290, 40, 0.0, 0)  # of three blocks
def test_a_rank_is_that_of_flint(n, m, rank, sparsity, seed):
    """Products of random factors, of which some entries vanish, and some columns repeat others."""
    rng = np.random.default_rng(seed)
    left, right = (rng.integers(0, PRIME, shape).astype(object) for shape in ((n, rank), (rank, m)))
    left[rng.random(left.shape) < sparsity] = 0
    product = (left @ right[:, rng.integers(0, m, m)] % PRIME).astype(np.int64) - PRIME * rng.integers(0, 2, (n, m))
    assert rank_modulo_prime(product) == nmod_mat(n, m, (product % PRIME).ravel().tolist(), PRIME).rank()


# --- derivatives ----------------------------------------------------------------------------------------------------


def polynomial(w):
    """A polynomial in three parameters that uses all operations a polynomial may use."""
    a, b, c = w
    return [3 * a * b - c, (a - 2.5) ** 3 * c, 1 - (-b) / 4 + Fraction(1, 3) * a, +a * (b + c) ** 2 - 7, 5]


def gradient(a, b, c):
    """Its derivatives, by hand."""
    third = Fraction(1, 3)
    return [
        [3 * b, 3 * a, -1],
        [3 * (a - Fraction(5, 2)) ** 2 * c, 0, (a - Fraction(5, 2)) ** 3],
        [third, Fraction(1, 4), 0],
        [(b + c) ** 2, 2 * a * (b + c), 2 * a * (b + c)],
        [0, 0, 0],
    ]


@given(st.lists(st.integers(-(10**9), 10**9) | st.floats(-1e3, 1e3), min_size=3, max_size=3))
def test_derivatives_by_hand(params):
    exact = gradient(*map(Fraction, params))
    expected = [[residue(Fraction(entry)) for entry in row] for row in exact]
    assert jacobian_of_function(polynomial, params).tolist() == expected


NUMPY = {
    "convolve": lambda w: np.convolve(w[:3], w[3:]),
    "convolve with numbers": lambda w: np.convolve(w, [1.0, -0.5]),
    "matrix product": lambda w: w[:4].reshape(2, 2) @ w[2:].reshape(2, 2) @ np.array([1.0, 2.0]),
    "matrix on the left": lambda w: np.arange(30).reshape(5, 6) @ w,
    "einsum": lambda w: np.einsum("i,j->ij", w[:2], w[2:]),
    "outer, kron, sum, prod": lambda w: [np.outer(w, w).sum(), np.kron(w[:2], w[2:]).sum(), np.prod(w)],
    "cumsum and dot": lambda w: [*np.cumsum(w * w), np.dot(w, w)],
    "array times a parameter": lambda w: np.array([1.0, 2.0, 3.0]) * w[0] + w[1] * np.array([4.0, 5.0, 6.0]),
    "parameters times a parameter": lambda w: w * w[0] - w[1] * w + (w[2] - w) + (w - w[3]),
    "NumPy scalars on the left": lambda w: [np.float64(2) * w[0], np.float64(2) - w[1], np.int64(3) + w[2]],
    "NumPy scalars on the right": lambda w: [w[0] * np.float64(2), w[1] - np.float64(2), w[2] / np.float64(4)],
    "divided by an array": lambda w: [*(w[0] / np.array([1.0, 2.0, 4.0])), *(w / 2)],
    "power and square": lambda w: [*np.power(w, 3), *np.square(w), *w**2.0, w[0] ** 0],
    "polyval": lambda w: [np.polyval([1.0, 2.0, 3.0], w[0]), np.polyval(w, 2.0)],
    "a loop over an object array": lambda w: np.array([[w[i] * w[j] for j in range(2)] for i in range(2)]),
    "one coefficient": lambda w: w[0] * w[1],
}


@pytest.mark.parametrize("function", NUMPY.values(), ids=NUMPY)
def test_what_numpy_does_to_parameters(function):
    """Against central differences at integers: these polynomials have degree 3 at most in a parameter."""
    params = np.array([2.0, -3.0, 1.0, 4.0, -2.0, 3.0])
    found = jacobian_of_function(function, params)
    signed = np.where(found > PRIME // 2, found - PRIME, found)
    value = lambda w: np.atleast_1d(np.asarray(function(w), dtype=float)).reshape(-1)  # noqa: E731
    for j in range(params.size):
        steps = [value(params + k * np.eye(params.size)[j]) for k in (-2, -1, 1, 2)]
        slope = (8 * (steps[2] - steps[1]) - (steps[3] - steps[0])) / 12  # exact up to the fourth degree
        expected = [residue(Fraction(float(12 * s)).limit_denominator(64) / 12) for s in slope]
        assert found[:, j].tolist() == expected, (signed[:, j], slope)


# --- ranks of functions ---------------------------------------------------------------------------------------------


def rank_of(function, params):
    return rank_modulo_prime(jacobian_of_function(function, params))


@given(hierarchical_models(max_layers=3, max_channels=3), seeds)
def test_a_readers_own_function_has_the_rank_of_the_class(arch, seed):
    own = lambda w: coefficients_by_paths(arch, w)  # noqa: E731
    integers = np.random.default_rng(seed).integers(1, PRIME, arch.n_params)
    assert rank_of(own, integers) == arch.generic_capacity()
    assert np.array_equal(jacobian_of_function(own, integers), arch.jacobian_modulo(integers))


@given(hierarchical_models(max_layers=3, max_channels=2), seeds)
def test_the_rank_at_trained_parameters_is_exact(arch, seed):
    params = arch.init(np.random.default_rng(seed))
    assert exact_rank(arch, params=params) == arch.generic_capacity()
    params[arch.layers["layer 1"]] = 0  # then only this layer can move anything
    found = rank_of(lambda w: coefficients_by_paths(arch, w), params)
    assert found == exact_rank(arch, params=params)
    assert arch.n_layers == 1 or found <= arch.layers["layer 1"].stop


def test_a_rank_that_double_precision_cannot_see():
    nearly = [1.0, 1.0 + 2**-52]  # two poles one rounding unit apart
    recurrence = lambda w: [w[0] ** k + w[1] ** k for k in range(5)]  # noqa: E731
    assert rank_of(recurrence, nearly) == 2
    assert rank_of(recurrence, [1.0, 1.0]) == 1
    slopes = np.array([[k * r ** max(k - 1, 0) for r in nearly] for k in range(5)])
    assert np.linalg.matrix_rank(slopes) == 1


def test_unused_parameters_add_nothing():
    assert [exact_rank(Function(lambda w: [w[0] * w[1]], p)) for p in (2, 5)] == [1, 1]


# --- refusals -------------------------------------------------------------------------------------------------------


test_what_is_not_a_polynomial_is_refused = refused(
    lambda function: jacobian_of_function(function, [3, 5]),
    (np.exp, ["function:", "exp", "Expected a polynomial", "use the numerical rank"]),
    (lambda w: w**0.5, ["the power 0.5", "whole number"]),
    (lambda w: w[0] ** w[1], ["the power Dual("]),
    (lambda w: 2 / w, ["a division by a parameter", "Expected a polynomial"]),
    (lambda w: w[0] / w[1], ["a division by a parameter"]),
    (lambda w: w // 2, ["//"]),
    (np.abs, ["an absolute value"]),
    (lambda w: [max(w)], ["a comparison, a branch"]),
    (lambda w: np.where(w > 0, w, 0), ["a comparison"]),
    (lambda w: [w[0] if w[0] == w[1] else w[1]], ["a comparison"]),
    (lambda w: [w[0] if w[0] else w[1]], ["a branch"]),
    (lambda w: [float(w[0])], ["a place for plain numbers"]),
    (lambda w: w.astype(float), ["a place for plain numbers"]),
    (lambda w: w * np.nan, ["found nan"]),
    (lambda w: [w[0], "a"], ["found 'a'"]),
    (lambda w: None, ["found None"]),
    error=TypeError,
)


@pytest.mark.parametrize("function", [lambda w: [w[5]], lambda w: w.reshape(2, 3)])
def test_too_few_parameters_are_refused(function):
    assert jacobian_of_function(function, range(6)).shape[1] == 6
    with pytest.raises(ValueError, match=all_of(["function:", "called with 2 parameters (n_params)"])):
        jacobian_of_function(function, [3, 5])


test_refusals = refused(
    lambda arch, params: exact_rank(arch, params=params),
    (Recurrent(4, 1), [1.0], ["params", "found 1", "expected 3"]),
    (Hierarchical(1, 2), [1, 2, np.nan, 1], ["params", "NaN"]),
)
