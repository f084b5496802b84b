"""Laws of capacity over random spaces, and the spaces themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.architectures import Hierarchical
from capcore.capacity.allocation import allocate
from capcore.capacity.constraints import ConstraintSpace, chain, join
from capcore.fitting.optimum import fit
from capcore.processes import PowerLaw
from chapters.linear_systems import systems as laws
from chapters.linear_systems.systems import pair_at_angle, random_basis, spanning_columns

ROUNDING = 1e-10  # products of orthonormal 30-vectors, with five decimal orders to spare


def test_capacity_does_not_depend_on_bases(rng):
    assert laws.basis_spread(10, rng, n_bases=5).max() < ROUNDING
    assert laws.spanning_spread(10, rng, n_bases=5).max() < ROUNDING


def test_the_whole_space_has_the_capacity_of_all_constraints(rng):
    gaps = laws.whole_space_gap(rng)
    assert gaps.shape == (30,)
    assert gaps.max() < ROUNDING


def test_capacity_adds_over_orthogonal_subspaces_only(rng):
    assert laws.additivity_gap(10, rng).max() < ROUNDING
    space = ConstraintSpace.from_columns(random_basis(30, 12, rng))
    first, second = pair_at_angle(30, (5, 4), 0.5, rng)
    both = np.hstack([first, second])
    assert abs(space.capacity(both) - space.capacity(first) - space.capacity(second)) > 0.05


def test_axes_have_capacities_between_zero_and_one_that_sum_to_the_total(rng):
    capacities = laws.axis_capacities(10, rng)
    assert capacities.shape == (10, 30)
    assert np.allclose(capacities.sum(axis=1), 12)
    assert capacities.min() >= 0 and capacities.max() <= 1


def test_directions_inside_and_outside(rng):
    assert np.allclose(laws.inside_and_outside(10, rng), [1, 0], atol=ROUNDING)


def test_sum_gap_is_the_largest_departure_over_all_directions(rng):
    """No direction departs more, and the eigenvector of P₁ + P₂ − P departs as much."""
    first, second = pair_at_angle(6, (2, 3), 0.7, rng)
    spaces = [ConstraintSpace.from_columns(columns) for columns in (first, second)]
    total = join(spaces)
    directions = rng.normal(size=(6, 2000))
    departures = np.abs(spaces[0].along(directions) + spaces[1].along(directions) - total.along(directions))
    gap = laws.sum_gap(first, second)
    assert departures.max() <= gap + ROUNDING
    worst = np.linalg.eigh(first @ first.T + second @ second.T - total.basis @ total.basis.T)
    extreme = worst.eigenvectors[:, [np.argmax(np.abs(worst.eigenvalues))]]
    assert abs(spaces[0].along(extreme) + spaces[1].along(extreme) - total.along(extreme))[0] == pytest.approx(gap)


def test_capacities_add_only_for_orthogonal_spaces(rng):
    assert laws.orthogonal_pair_gap(10, rng).max() < ROUNDING
    angles = np.array([1.5, 0.8, 0.01, 1e-6, 0.0])
    gaps, cosines = laws.pair_gaps(angles, rng)
    assert np.allclose(gaps, np.cos(angles), atol=1e-8)
    assert np.allclose(cosines, np.cos(angles), atol=1e-8)


@pytest.mark.parametrize("n_pairs", [4, 7, 200])
def test_angles_run_from_nearly_orthogonal_to_zero(n_pairs):
    angles = laws.spread_angles(n_pairs)
    assert angles.shape == (n_pairs,)
    assert np.all(np.diff(angles) < 0)
    assert angles[0] > 1.56 and angles[-1] == 0


def test_overlapping_spaces_do_overlap(rng):
    spaces = laws.overlapping_spaces(4, rng)
    assert sum(space.dimension for space in spaces) > join(spaces).dimension


def test_chains_sum_and_each_term_is_the_difference_that_defines_it(rng):
    assert laws.chain_gap(3, rng).max() < ROUNDING
    spaces = laws.overlapping_spaces(4, rng)
    subspace = random_basis(30, 5, rng)
    sums = [0.0, *(join(spaces[: i + 1]).capacity(subspace) for i in range(4))]
    terms = [term.capacity(subspace) for term in chain(spaces)]
    assert np.allclose(terms, np.diff(sums), atol=ROUNDING)
    assert min(terms) >= 0


def test_one_free_dimension_fixes_the_share_of_the_error(rng):
    shares, free = laws.one_free_dimension(10, rng)
    assert np.allclose(shares, free, atol=ROUNDING)
    assert np.ptp(shares) > 0.05  # the draws differ, so agreement means something


def test_full_capacity_leaves_no_error(rng):
    assert laws.error_inside(10, rng).max() < ROUNDING


@pytest.mark.parametrize("options", [{"channels": 4, "n_layers": 4}, {"channels": [2, 3], "kernel_size": 3}])
def test_the_layers_of_a_trained_model_form_a_chain(options):
    arch = Hierarchical(**options)
    assert laws.layer_chain_gap(allocate(arch, fit(arch, PowerLaw()).params, PowerLaw())) < 1e-6


def hat_diagonal(matrix):
    """Diagonal of X(XᵀX)⁻¹Xᵀ, the textbook leverage scores."""
    return np.diag(matrix @ np.linalg.solve(matrix.T @ matrix, matrix.T))


def test_units_of_one_input_change_the_capacity():
    """Inputs in other units: y' = Dy, Σ' = DΣD, J' = D⁻¹J. The predictions stay, but ΣJ becomes DΣJ, whose column
    space is another one."""
    covariance, jacobian = PowerLaw().covariance(4), np.eye(4)[:, :2]
    units = np.diag([1.0, 1.0, 10.0, 1.0])
    before, after = hat_diagonal(covariance @ jacobian), hat_diagonal(units @ covariance @ jacobian)
    assert before.sum() == pytest.approx(after.sum())
    assert np.abs(before - after).max() > 0.1


@given(st.integers(1, 12), st.data(), st.integers(0, 1000))
def test_a_random_basis_is_orthonormal(n, data, seed):
    k = data.draw(st.integers(1, n))
    basis = random_basis(n, k, np.random.default_rng(seed))
    assert basis.shape == (n, k)
    assert np.allclose(basis.T @ basis, np.eye(k), atol=1e-12)


def test_random_spaces_favour_no_direction(rng):
    """The mean projector is (k/n)·I; each entry's standard error is below 0.01 with 3,000 draws."""
    mean = np.mean([basis @ basis.T for basis in (random_basis(5, 2, rng) for _ in range(3000))], axis=0)
    assert np.allclose(mean, 0.4 * np.eye(5), atol=0.04)


@pytest.mark.parametrize("condition", [1.0, 10.0, 1e3])
def test_spanning_columns_have_the_condition_asked_for_and_one_to_spare(rng, condition):
    basis = random_basis(9, 4, rng)
    columns = spanning_columns(basis, condition, rng)
    values = np.linalg.svd(columns, compute_uv=False)
    assert columns.shape == (9, 5)
    assert values[3] * condition == pytest.approx(values[0])
    assert values[4] < 1e-14
    assert np.allclose(basis @ (basis.T @ columns), columns)


@pytest.mark.parametrize("dimensions", [(2, 5), (5, 2), (3, 3), (1, 1)])
@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.3, np.pi / 2])
def test_a_pair_has_the_smallest_angle_asked_for(rng, dimensions, angle):
    first, second = pair_at_angle(11, dimensions, angle, rng)
    assert (first.shape[1], second.shape[1]) == dimensions
    for basis in (first, second):
        assert np.allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)
    # sines of the angles from the smaller space to the other: exact near 0, where cosines are not
    small, large = sorted((first, second), key=lambda basis: basis.shape[1])
    sines = np.linalg.svd(small - large @ (large.T @ small), compute_uv=False)
    assert sines.min() == pytest.approx(np.sin(angle), abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: random_basis(3, 4, rng), "dimension: found 4, expected at most n = 3"),
        (lambda rng: random_basis(0, 1, rng), "n: found 0"),
        (lambda rng: spanning_columns(np.eye(3), 0.5, rng), "condition: found 0.5"),
        (lambda rng: pair_at_angle(4, (3, 2), 0.1, rng), r"found 2 \+ 3, expected a sum of at most n = 4"),
        (lambda rng: pair_at_angle(9, (3, 2), 2.0, rng), "angle: found 2.0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(rng, call, message):
    with pytest.raises(ValueError, match=message):
        call(rng)
