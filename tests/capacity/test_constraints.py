"""Constraint spaces: Properties 1–6 of paper 1 as laws on random spaces, and other routes to every capacity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import null_space, orth

from capcore.capacity.constraints import ConstraintSpace, chain, join
from tests.strategies import matrices, projector, refused, seeds

# The spaces are random, with principal angles of order one: rounding is a few eps times the dimension.
TOLERANCE = 1e-10
EPS = np.finfo(float).eps


def space(matrix):
    return ConstraintSpace.from_columns(matrix)


@st.composite
def systems(draw, count, max_n=10):
    """``count`` matrices with the same number of rows; some columns are shared between neighbours."""
    n = draw(st.integers(1, max_n))
    drawn = [draw(matrices(n=n, max_p=6)) for _ in range(count)]
    for i in range(1, count):
        if draw(st.booleans()):
            drawn[i] = np.hstack([drawn[i][:, :2], drawn[i - 1][:, :2]])
    return drawn


def orthonormal(n, seed):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]


# --- Properties 1–4: one space --------------------------------------------------------------------------------------


@given(matrices())
def test_basis_is_orthonormal_and_spans_the_columns(matrix):
    k = space(matrix)
    assert k.dimension == np.linalg.matrix_rank(matrix) == k.basis.shape[1]
    assert k.n_coefficients == matrix.shape[0] == k.basis.shape[0]
    assert_allclose(k.basis.T @ k.basis, np.eye(k.dimension), atol=1e-13)
    assert_allclose(k.basis @ k.basis.T, projector(matrix), atol=TOLERANCE)


@given(systems(2))
def test_capacity_is_the_trace_of_two_projectors(pair):
    matrix, subspace = pair
    assert space(matrix).capacity(subspace) == pytest.approx(
        np.trace(projector(matrix) @ projector(subspace)), abs=1e-8
    )


@given(systems(2), seeds)
def test_property_1_bases_do_not_matter(pair, seed):
    matrix, subspace = pair
    rng = np.random.default_rng(seed)
    bases = [orth(m, 1e-10) for m in pair]
    other_matrix, other_subspace = (b @ (orthonormal(b.shape[1], seed) * rng.uniform(1, 9, b.shape[1])) for b in bases)
    capacity = space(matrix).capacity(subspace)
    assert space(other_matrix).capacity(subspace) == pytest.approx(capacity, abs=TOLERANCE)
    assert space(matrix).capacity(other_subspace) == pytest.approx(capacity, abs=TOLERANCE)
    assert space(matrix).capacity(space(subspace)) == pytest.approx(capacity, abs=TOLERANCE)
    assert space(subspace).capacity(matrix) == pytest.approx(capacity, abs=TOLERANCE)  # symmetric by definition


@given(matrices())
def test_property_2_the_whole_space_has_capacity_kappa(matrix):
    k = space(matrix)
    assert k.capacity(np.eye(k.n_coefficients)) == pytest.approx(k.dimension, abs=TOLERANCE)


@given(matrices(), seeds, st.data())
def test_property_3_additive_over_orthogonal_subspaces(matrix, seed, data):
    k = space(matrix)
    basis = orthonormal(k.n_coefficients, seed)
    cut = data.draw(st.integers(0, k.n_coefficients))
    parts = [part for part in (basis[:, :cut], basis[:, cut:]) if part.shape[1]]
    assert sum(k.capacity(part) for part in parts) == pytest.approx(k.dimension, abs=TOLERANCE)
    along = k.along(basis)
    assert along.shape == (k.n_coefficients,)
    assert along.sum() == pytest.approx(k.dimension, abs=TOLERANCE)
    assert_allclose(along, [k.capacity(direction) for direction in basis.T], atol=TOLERANCE)


@given(matrices(), seeds)
def test_property_4_one_inside_zero_outside_between_elsewhere(matrix, seed):
    k = space(matrix)
    rng = np.random.default_rng(seed)
    assert k.capacity(matrix @ rng.normal(size=matrix.shape[1])) == pytest.approx(1, abs=TOLERANCE)
    outside = null_space(matrix.T, rcond=1e-10)
    if outside.shape[1]:
        assert k.capacity(outside @ rng.normal(size=outside.shape[1])) == pytest.approx(0, abs=TOLERANCE)
    assert -TOLERANCE <= k.capacity(rng.normal(size=k.n_coefficients)) <= 1 + TOLERANCE


# --- per input: leverage scores ------------------------------------------------------------------------------------


@given(matrices())
def test_capacity_per_input_is_the_diagonal_of_the_hat_matrix(matrix):
    per_input = space(matrix).per_input()
    assert_allclose(per_input, np.diag(projector(matrix)), atol=TOLERANCE)
    q = np.linalg.qr(orth(matrix, 1e-10))[0]
    assert_allclose(per_input, np.sum(q**2, axis=1), atol=TOLERANCE)
    assert per_input.sum() == pytest.approx(space(matrix).dimension, abs=TOLERANCE)
    assert np.all((per_input >= 0) & (per_input <= 1 + TOLERANCE))


@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_groups_are_the_capacities_of_runs_of_neighbours(n_groups, group, data):
    matrix = data.draw(matrices(n=n_groups * group))
    grouped = space(matrix).per_input(group)
    axes = np.eye(n_groups * group).reshape(-1, n_groups, group)
    assert_allclose(grouped, [space(matrix).capacity(axes[:, g]) for g in range(n_groups)], atol=TOLERANCE)


def test_hand_example():
    # Columns (1, 1, 0, 0) and (0, 0, 1, 2): two orthogonal unit vectors, read off row by row.
    k = space([[1, 0], [1, 0], [0, 1], [0, 2]])
    assert_allclose(k.per_input(), [0.5, 0.5, 0.2, 0.8], atol=1e-15)
    assert_allclose(k.per_input(group=2), [1, 1], atol=1e-15)
    assert k.capacity([[1, 0], [0, 0], [0, 1], [0, 0]]) == pytest.approx(0.7, abs=1e-15)


def test_spanning_columns_may_be_skew_dependent_and_zero():
    rng = np.random.default_rng(1)
    k, plane = space(rng.normal(size=(6, 3))), rng.normal(size=(6, 2))
    u, v = plane.T
    expected = k.capacity(plane)
    for columns in ([u, u + 1e-3 * v], [u, v, u - v, 0 * u], [1e120 * u, 1e-120 * v], [v, u, v]):
        assert k.capacity(np.array(columns).T) == pytest.approx(expected, abs=1e-9)
    assert k.capacity(u) == pytest.approx(k.capacity(u[:, None]), abs=1e-15)
    assert_allclose(k.along(1e200 * plane), [k.capacity(u), k.capacity(v)], atol=1e-14)


# --- Properties 5 and 6: several spaces ----------------------------------------------------------------------------


@given(systems(3))
def test_definition_2_by_projectors(triple):
    first, second, subspace = triple
    conditional = space(first).given(space(second))
    difference = projector(np.hstack([first, second])) - projector(second)
    assert_allclose(conditional.basis @ conditional.basis.T, difference, atol=1e-7)
    expected = np.trace(difference @ projector(subspace))
    assert conditional.capacity(subspace) == pytest.approx(expected, abs=1e-7)
    joined = space(first) + space(second)
    assert conditional.capacity(subspace) == pytest.approx(
        joined.capacity(subspace) - space(second).capacity(subspace), abs=1e-7
    )
    assert conditional.capacity(subspace) >= 0


@given(systems(2))
def test_sum_of_spaces(pair):
    first, second = map(space, pair)
    total = first + second
    assert total.dimension == np.linalg.matrix_rank(np.hstack(pair), 1e-8)
    assert_allclose(total.basis @ total.basis.T, projector(np.hstack(pair)), atol=1e-7)
    assert (second + first).dimension == total.dimension
    assert total.capacity(pair[0]) == pytest.approx(first.dimension, abs=1e-7)
    assert join([first, first]).dimension == first.dimension


@given(systems(2, max_n=8))
def test_property_5_capacities_add_exactly_when_the_spaces_are_orthogonal(pair):
    first, second = map(space, pair)
    orthogonal_part = second.given(first)
    if orthogonal_part.dimension:
        total = first + orthogonal_part
        assert_allclose(first.per_input() + orthogonal_part.per_input(), total.per_input(), atol=1e-7)
    if np.abs(first.basis.T @ second.basis).max() > 1e-3:  # the converse, on a direction that shows it
        u, cosines, _ = np.linalg.svd(first.basis.T @ second.basis)
        direction = first.basis @ u[:, 0]
        excess = first.capacity(direction) + second.capacity(direction) - (first + second).capacity(direction)
        assert excess == pytest.approx(cosines[0] ** 2, abs=1e-7) and excess > 1e-7


@given(systems(4))
def test_property_6_the_chain_adds_up(matrices_):
    spaces = [space(m) for m in matrices_]
    terms = chain(spaces)
    total = join(spaces)
    assert sum(term.dimension for term in terms) == total.dimension
    assert_allclose(sum(term.per_input() for term in terms), total.per_input(), atol=1e-7)
    for i, term in enumerate(terms):
        before = projector(np.hstack(matrices_[:i])) if i else 0.0
        assert_allclose(term.basis @ term.basis.T, projector(np.hstack(matrices_[: i + 1])) - before, atol=1e-7)
        assert np.all(term.per_input() >= 0)


def test_a_space_given_one_that_holds_it_is_empty_and_the_empty_space_is_neutral():
    k, other = space(np.eye(4)[:, :2]), space(np.ones(4))
    empty = k.given(k + other)
    assert empty.dimension == 0 and empty.basis.shape == (4, 0)
    assert empty.per_input().tolist() == [0, 0, 0, 0] and empty.capacity(np.eye(4)) == 0
    assert k.given(empty).per_input().tolist() == k.per_input().tolist()
    assert (empty + k).dimension == (k + empty).dimension == 2
    assert empty.given(other).dimension == empty.given(empty).dimension == (empty + empty).dimension == 0
    zeros = space(np.zeros((4, 2)))
    assert zeros.dimension == 0 and k.given(zeros).dimension == 2 and zeros.given(k).dimension == 0


@pytest.mark.parametrize("angle", [1e-2, 1e-5, 1e-8, 1e-11])
def test_nearly_parallel_spaces_are_told_apart(angle):
    rng = np.random.default_rng(3)
    q = np.linalg.qr(rng.normal(size=(20, 6)))[0]
    first, second = q[:, :3], q[:, :3] + angle * q[:, 3:]
    conditional = space(second).given(space(first))
    assert conditional.dimension == 3
    # The new directions are known to eps / angle.
    assert conditional.capacity(q[:, 3:]) == pytest.approx(3, abs=3 * max((30 * EPS / angle) ** 2, 1e-12) + 1e-12)
    assert conditional.capacity(first) == pytest.approx(0, abs=1e-28)


# --- refusals -------------------------------------------------------------------------------------------------------

PLANE = ConstraintSpace.from_columns(np.eye(4)[:, :2])


test_refusals_say_what_was_found_and_expected = refused(
    lambda use: use(),
    (lambda: space([[1.0, np.nan]]), ["matrix", "NaN", "(0, 1)"]),
    (lambda: space(np.ones((2, 2, 2))), ["matrix", "(2, 2, 2)", "1 or 2"]),
    (lambda: PLANE.capacity(np.eye(3)), ["subspace", "found 3 rows", "expected 4", "per input"]),
    (lambda: PLANE.capacity(np.zeros(4)), ["subspace", "dimension 0", "non-zero column"]),
    (lambda: PLANE.along(np.eye(5)), ["directions", "found 5 rows", "expected 4"]),
    (lambda: PLANE.along(np.diag([1, 0, 1, 1])), ["directions", "column of zeros"]),
    (lambda: PLANE.per_input(group=3), ["group", "found 3", "divisor of the 4"]),
    (lambda: PLANE + space(np.eye(3)), ["spaces", "R^3", "R^4"]),
    (lambda: join([]), ["spaces", "found none", "at least one"]),
)


@pytest.mark.parametrize("use", [lambda: PLANE + np.eye(4), lambda: PLANE.given(3), lambda: chain([PLANE, None])])
def test_spaces_combine_with_spaces_only(use):
    with pytest.raises(TypeError, match=r"found (ndarray|int|NoneType), expected ConstraintSpace"):
        use()
