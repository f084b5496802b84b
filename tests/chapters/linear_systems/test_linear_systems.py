"""Laws of capacity over random spaces, errors under constraints, and exponential smoothing."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.architectures import Hierarchical, Linear
from capcore.capacity.allocation import allocate
from capcore.capacity.constraints import ConstraintSpace, chain, join
from capcore.fitting.optimum import fit
from capcore.processes import AR1, FAMILIES, PowerLaw
from chapters.idea.study import line_model
from chapters.linear_systems import systems as laws
from chapters.linear_systems.errors import (
    COORDINATE_LAWS,
    complement,
    expected_squares,
    free_dimensions,
    share_ratios,
    simulate,
)
from chapters.linear_systems.study import (
    ExponentialSmoothing,
    error_curve,
    optimal_error,
    plane_to_explore,
    relative_squares,
)
from chapters.linear_systems.systems import pair_at_angle, random_basis


@pytest.fixture
def space(rng):
    return ConstraintSpace.from_columns(random_basis(7, 3, rng))


@pytest.fixture
def subspaces(rng):
    return [*np.eye(7), random_basis(7, 2, rng), np.eye(7)]


def test_the_complement_depends_on_the_space_alone(rng):
    basis = random_basis(30, 12, rng)
    spaces = [ConstraintSpace.from_columns(basis @ random_basis(12, 12, rng)) for _ in range(3)]
    first, *others = (complement(space) for space in spaces)
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-10)


def test_expectation_equals_the_average_over_all_sign_patterns(space, subspaces, rng):
    """λ_j = m_j ± s_j has mean m_j and variance s_j²; four of them take 16 values, so the mean is exact."""
    mean, deviation = rng.normal(size=4), rng.uniform(0.5, 2.0, size=4)
    patterns = np.array(list(product([-1, 1], repeat=4)))
    errors = complement(space) @ (mean + deviation * patterns).T
    brute = [np.mean(np.sum(np.square(s.reshape(7, -1).T @ errors), axis=0)) for s in subspaces]
    assert np.allclose(expected_squares(space, subspaces, mean, deviation**2), brute)


def test_equation_6_fails_with_a_mean_and_with_unequal_variances(space, subspaces):
    shares = free_dimensions(space, subspaces) / 4
    for moments in ((1.0, 1.0), (0.0, [4.0, 1.0, 1.0, 0.1])):
        expected = expected_squares(space, subspaces, *moments)
        ratios = expected / expected[-1] / shares
        assert np.abs(ratios - 1).max() > 0.2
        assert np.allclose(share_ratios(space, *moments), ratios[:7])
    assert np.allclose(share_ratios(space, variance=3.0), 1)


@pytest.mark.parametrize("law", COORDINATE_LAWS)
def test_simulation_agrees_with_equation_6_within_its_own_error_bars(law, space, subspaces, rng):
    result = simulate(space, subspaces, law, 5000, rng)
    assert np.abs(result.z).max() < 4.5
    assert np.all(result.standard_error[:-1] > 0)
    assert result.mean.shape == (9,)
    assert np.allclose(result.relative_standard_error * result.predicted, result.standard_error)
    again = simulate(space, subspaces, law, 50, np.random.default_rng(1))
    assert np.array_equal(again.mean, simulate(space, subspaces, law, 50, np.random.default_rng(1)).mean)


@pytest.mark.parametrize("seed", range(5))
def test_one_free_dimension_fixes_the_shares_exactly(seed):
    """Eq. 7: for κ = n − 1 the share of the squared error is n_S − κ_S, whatever the error."""
    rng = np.random.default_rng(seed)
    space = ConstraintSpace.from_columns(random_basis(7, 6, rng))
    error = complement(space)[:, 0] * rng.normal()
    assert np.allclose(relative_squares(error), 1 - space.per_input())
    result = simulate(space, list(np.eye(7)), "two-point", 10, rng)
    assert np.allclose(result.mean, result.predicted)
    assert not result.z.any()


alphas = st.floats(-1.5, 2.5)


@given(st.integers(1, 6), alphas)
def test_jacobian_matches_central_differences(n, alpha):
    arch, step = ExponentialSmoothing(n), 1e-6
    difference = (arch.coefficients([alpha + step]) - arch.coefficients([alpha - step])) / (2 * step)
    scale = 1 + np.abs(arch.jacobian([alpha])).max()
    assert np.allclose(arch.jacobian([alpha])[:, 0], difference, atol=1e-7 * scale)


@given(st.floats(0.0, 1.0))
def test_weights_of_a_smoothing_factor_in_use_are_those_of_the_recursion(alpha):
    """s_t = αy_t + (1−α)s_{t−1} from s = 0, on unit impulses at each lag."""
    n, arch = 5, ExponentialSmoothing(5)
    weights = []
    for lag in range(n):
        state = 0.0
        for t in range(n):
            state = alpha * (t == n - 1 - lag) + (1 - alpha) * state
        weights.append(state)
    assert np.allclose(arch.coefficients([alpha]), weights)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_fit_is_the_lowest_point_of_the_curve(family):
    arch, process = ExponentialSmoothing(2), FAMILIES[family]()
    optimum = fit(arch, process, start=np.array([0.5]), n_starts=3)
    target, covariance = process.predictor(2)[0], process.covariance(2)
    errors = arch.curve(np.linspace(-3, 4, 70_001)) - target
    losses = np.einsum("mi,mi->m", errors @ covariance, errors)
    assert optimum.converged
    assert optimum.loss <= losses.min() + 1e-12


@pytest.mark.parametrize("family", FAMILIES)
def test_crossings_lie_on_the_hyperplane_and_include_the_optimum(family):
    arch, process = ExponentialSmoothing(2), FAMILIES[family]()
    optimum = fit(arch, process, start=np.array([0.5]), n_starts=3)
    target = process.predictor(2)[0]
    k = allocate(arch, optimum.params, process).space.basis[:, 0]
    result = arch.solve(k, k @ target)
    assert np.allclose((arch.curve(result) - target) @ k, 0, atol=1e-9)
    assert np.abs(result - optimum.params[0]).min() < 1e-5
    grid = (arch.curve(np.linspace(-50, 50, 1_000_003)) - target) @ k
    assert np.count_nonzero(np.diff(np.sign(grid))) == result.size


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "AR1"])
def test_one_free_dimension_fixes_the_shares_of_a_trained_model(family):
    """Eq. 7 with κ = 3 of n = 4: equality, to the gradient that the optimiser leaves."""
    error = optimal_error(Hierarchical(channels=1, n_layers=2), FAMILIES[family]())
    assert error.total == 3
    assert np.allclose(error.shares, error.free, atol=1e-6)
    assert np.allclose(error.ratio, 1, atol=1e-3)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "AR1"])
@pytest.mark.parametrize("options", [{"n_layers": 6}, {"n_layers": 3, "kernel_size": 3}])
def test_no_share_exceeds_what_the_constraints_leave_free(family, options):
    error = optimal_error(Hierarchical(channels=1, **options), FAMILIES[family]())
    assert error.shares.sum() == pytest.approx(1)
    assert error.mean_shares.sum() == pytest.approx(1)
    assert error.ratio.max() <= 1.001


def test_an_attained_target_leaves_no_error():
    """AR(1): A* = (φ, 0, …) is a product of one kernel per layer."""
    assert optimal_error(Hierarchical(channels=1, n_layers=3), AR1()) is None
    assert optimal_error(Linear(np.eye(3)), PowerLaw()) is None


def test_the_explorer_is_given_the_curve_as_polynomials_and_the_line_of_the_idea():
    curve = error_curve(PowerLaw())
    data = plane_to_explore(curve)
    smoothing, line = (np.array(model["powers"], dtype=float) for model in data["models"])
    for w in (-0.4, 0.0, 0.3, 1.2):
        assert np.allclose(smoothing @ [1, w, w**2], curve.arch.coefficients([w]))
    idea = line_model([2, 1], [1, 3], 0.0)
    assert np.allclose(line @ [1, 0.7], 0.7 * idea.direction)
    assert np.allclose(data["target"], curve.problem.target, atol=1e-6)
    assert data["correlation"] == pytest.approx(PowerLaw().autocovariance(2)[1], abs=0.005)
    assert plane_to_explore(error_curve(AR1(0.99)))["correlation"] == 0.95, "the slider ends there"


ROUNDING = 1e-10  # products of orthonormal 30-vectors, with five decimal orders to spare


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


def test_chains_sum_and_each_term_is_the_difference_that_defines_it(rng):
    assert laws.chain_gap(3, rng).max() < ROUNDING
    spaces = laws.overlapping_spaces(4, rng)
    subspace = random_basis(30, 5, rng)
    sums = [0.0, *(join(spaces[: i + 1]).capacity(subspace) for i in range(4))]
    terms = [term.capacity(subspace) for term in chain(spaces)]
    assert np.allclose(terms, np.diff(sums), atol=ROUNDING)
    assert min(terms) >= 0


@pytest.mark.parametrize("dimensions", [(2, 5), (3, 3), (1, 1)])
@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.3, np.pi / 2])
def test_a_pair_has_the_smallest_angle_asked_for(rng, dimensions, angle):
    first, second = pair_at_angle(11, dimensions, angle, rng)
    assert (first.shape[1], second.shape[1]) == dimensions
    for basis in (first, second):
        assert np.allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)
    # sines of the angles from the smaller space to the other: exact near 0, where cosines are not
    sines = np.linalg.svd(first - second @ (second.T @ first), compute_uv=False)
    assert sines.min() == pytest.approx(np.sin(angle), abs=1e-12)
