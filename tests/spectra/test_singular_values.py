"""Singular values of large matrices: against LAPACK's own and against known spectra, by every route."""

from functools import partial

import numpy as np
import pytest
from flint import arb_mat, ctx
from scipy.linalg import hadamard

from capcore.spectra import singular_values as routes
from capcore.spectra import weightwatcher as details
from capcore.spectra.singular_values import RELATIVE, large_singular_values, smallest_accepted
from tests.strategies import all_of

EPS = np.finfo(float).eps
SHAPES = [(60, 60), (64, 60), (60, 75), (90, 60), (60, 105), (240, 60), (1, 1), (1, 50), (50, 1), (2, 90)]


def with_spectrum(values, n_columns):
    """A (k, n_columns) matrix with these k singular values, both powers of four: Hadamard factors are orthogonal.

    Its entries are rounded at ε σ_max, so that its smallest values are off by κ ε, far less than what is asked of them.
    """
    left, right = (hadamard(n) / np.sqrt(n) for n in (len(values), n_columns))
    return (left * values) @ right[: len(values)]


def ill_conditioned(rng, rows, columns, condition):
    n = min(rows, columns)
    left, right = (np.linalg.qr(rng.normal(size=(size, n)))[0] for size in (rows, columns))
    return (left * np.geomspace(1, 1 / condition, n)) @ right.T


MATRICES = {
    "plain": lambda rng, rows, columns: rng.normal(size=(rows, columns)),
    "single precision": lambda rng, rows, columns: rng.normal(size=(rows, columns)).astype(np.float32),
    "by columns": lambda rng, rows, columns: np.asfortranarray(rng.normal(size=(rows, columns))),
    "condition 1e6": partial(ill_conditioned, condition=1e6),
    "graded": lambda rng, rows, columns: rng.normal(size=(rows, columns)) * np.geomspace(1, 1e-15, rows)[:, None],
    "rank one": lambda rng, rows, columns: np.outer(rng.normal(size=rows), rng.normal(size=columns)),
    "zero": lambda rng, rows, columns: np.zeros((rows, columns)),
    "rows of zeros": lambda rng, rows, columns: rng.normal(size=(rows, columns)) * (np.arange(rows) % 3 > 0)[:, None],
    "huge": lambda rng, rows, columns: 1e300 * rng.uniform(-1, 1, size=(rows, columns)),
    "tiny": lambda rng, rows, columns: 1e-300 * rng.normal(size=(rows, columns)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", MATRICES)
def test_as_lapacks_own(rng, kind, shape):
    """Within (10 + max(m, n)) ε σ_max by ``band``, as any stable method; by ``gram`` within what a reader is told."""
    matrix = MATRICES[kind](rng, *shape)
    expected = np.linalg.svd(matrix.astype(float), compute_uv=False)
    for width in (None, 1, 7):
        found = large_singular_values(matrix, width=width)
        assert found.values.shape == expected.shape and (np.diff(found.values) <= 0).all()
        assert (found.method != "gram") or max(shape) >= routes.OBLONG * min(shape)
        rounding = (10 + max(shape)) * EPS * expected[0]
        np.testing.assert_allclose(found.values, expected, atol=rounding, rtol=RELATIVE * (found.method == "gram"))


@pytest.mark.parametrize("n_columns", [64, 256, 1024])
@pytest.mark.parametrize("distance", [1e-6, 0.1, 0.9, 1.1, 10, 1e4])
def test_the_gram_matrix_is_taken_where_its_error_is_small_enough_and_only_there(distance, n_columns):
    """λ_min at ``distance`` times the bound. Known λ are met to 1e-8 wherever the route is taken."""
    m = n_columns
    smallest = distance * smallest_accepted(m, 1.0)
    values = np.sqrt(np.geomspace(1.0, smallest, 16))
    found = large_singular_values(with_spectrum(values, n_columns), width=4)
    assert found.method == ("gram" if distance > 1 else "band")
    relative = RELATIVE if found.method == "gram" else 10 * m * EPS / values[-1]
    np.testing.assert_allclose(found.values**2, values**2, rtol=relative)


def test_accepted_eigenvalues_in_two_hundred_bits(rng):
    """As long as the bound accepts them: every one of 20 draws just above it, against certified eigenvalues."""
    condition = 0.9 / np.sqrt(smallest_accepted(60, 1.0))
    for _ in range(20):
        matrix = ill_conditioned(rng, 12, 60, condition)
        found = large_singular_values(matrix, width=3)
        ctx.prec = 200
        try:
            exact = arb_mat(matrix.tolist())
            expected = sorted((float(value.real.mid()) for value in (exact * exact.transpose()).eig()), reverse=True)
        finally:
            ctx.prec = 53
        assert found.method == "gram"
        np.testing.assert_allclose(found.values**2, expected, rtol=RELATIVE)


def test_rows_of_zeros_are_exact_zeros_and_others_are_not(rng):
    matrix = rng.normal(size=(30, 90))
    matrix[[3, 17]] = 0.0
    found = large_singular_values(matrix)
    assert found.method == "gram" and (found.values[-2:] == 0).all() and found.values[-3] > 1
    matrix[3, 5] = 1e-200  # its square is no number
    assert large_singular_values(matrix).method == "band"
    matrix[17] = matrix[18]
    assert large_singular_values(matrix).method == "band"


@pytest.mark.parametrize("exponent", [-900, -300, 3, 450, 900])
@pytest.mark.parametrize("shape", [(20, 20), (20, 60)])
def test_scale_and_transposition(rng, shape, exponent):
    """σ(2^k W) = 2^k σ(W) and σ(Wᵀ) = σ(W), within the rounding of a stable method, (10 + max(m, n)) ε σ_max."""
    close = partial(np.testing.assert_allclose, rtol=0, atol=70 * EPS * 20)
    matrix = rng.normal(size=shape)
    expected = large_singular_values(matrix).values
    for transposed in (matrix.T, np.ascontiguousarray(matrix.T), np.asfortranarray(matrix).T):
        close(large_singular_values(transposed).values, expected)
    close(np.ldexp(large_singular_values(np.ldexp(matrix, exponent)).values, -exponent), expected)


def test_without_the_routines_or_where_they_fail_it_is_lapacks_own(rng, monkeypatch):
    matrix = rng.normal(size=(20, 20))
    expected = np.linalg.svd(matrix, compute_uv=False)

    def failing(*_):
        raise np.linalg.LinAlgError("dlasq1: found info = 2, expected 0.")

    for name, value in (("available", lambda: False), ("banded_singular_values", failing)):
        with monkeypatch.context() as patch:
            patch.setattr(routes, name, value)
            found = large_singular_values(matrix)
        assert found.method == "svd" and np.array_equal(found.values, expected)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused(value):
    matrix = np.ones((20, 30))
    matrix[4, 5] = value
    with pytest.raises(ValueError, match=all_of(["NaN or infinite", "expected finite"])):
        large_singular_values(matrix)


@pytest.mark.parametrize("shape", [(3,), (0, 4), (2, 3, 4)])
def test_what_is_no_matrix_is_refused(shape):
    with pytest.raises(ValueError, match=r"found the shape .*expected \(rows, columns\)"):
        large_singular_values(np.ones(shape))


def test_the_preset_takes_them_from_a_size_on(rng, monkeypatch):
    """The table is the same to ten digits, by other routes for all but the smallest layer."""
    taken = []

    def recorded(matrix):
        taken.append(matrix.shape)
        return large_singular_values(matrix)

    weights = {
        "wide.weight": rng.normal(size=(24, 90)),
        "square.weight": rng.normal(size=(32, 32)),
        "convolution.weight": rng.normal(size=(24, 26, 3, 3)),
        "small.weight": rng.normal(size=(10, 60)),
    }
    expected = details.weightwatcher_details(weights)
    monkeypatch.setattr(details, "LARGE", 24)
    monkeypatch.setattr(details, "large_singular_values", recorded)
    found = details.weightwatcher_details(weights)
    assert taken == [(24, 90), (32, 32), *[(24, 26)] * 9]
    numeric = expected.select_dtypes("number")
    np.testing.assert_allclose(found[numeric.columns], numeric, rtol=1e-10)
    assert found.drop(columns=numeric.columns).equals(expected.drop(columns=numeric.columns))


def test_layers_in_parallel_give_the_same_table(rng):
    weights = {f"{i}.weight": rng.normal(size=(20 + i, 30)) for i in range(7)}
    expected = details.weightwatcher_details(weights)
    assert details.weightwatcher_details(weights, workers=3).equals(expected)
    with pytest.raises(ValueError, match="workers"):
        details.weightwatcher_details(weights, workers=0)
