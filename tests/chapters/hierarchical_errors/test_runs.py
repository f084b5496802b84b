import json

import numpy as np
import pytest

from capcore import AR1, FractionalGaussianNoise, Hierarchical, PowerLaw, Problem, allocate, fit
from chapters.hierarchical_errors.runs import Runs, Spread, along_basis, many_runs
from chapters.linear_systems.errors import complement

ARCH = Hierarchical(channels=2, n_layers=4)
LIMITED = {"max_iterations": 100}


@pytest.fixture(scope="module")
def runs():
    return many_runs(ARCH, PowerLaw(), 5, seed=7, **LIMITED)


def test_a_run_s_numbers_are_those_of_its_own_fit(runs):
    """Means over two runs against the definitions, run by run."""
    two = many_runs(ARCH, PowerLaw(), 2, seed=7, **LIMITED)
    problem = Problem.of(ARCH, PowerLaw())
    vectors = np.linalg.eigh(problem.covariance)[1][:, ::-1]
    squares, bounds = [], []
    for i in range(2):
        found = fit(ARCH, problem, rng=np.random.default_rng([7, i]), method="l-bfgs-b", start="random", **LIMITED)
        assert found.loss == two.losses[i] == runs.losses[i]
        alloc = allocate(ARCH, found.params, problem)
        error = vectors.T @ (found.coefficients - problem.target)
        squares.append(error**2 / (error @ error))
        bounds.append((1 - alloc.per_eigenvector) / (16 - alloc.total))
    assert two.eigenvectors.errors.mean == pytest.approx(np.mean(squares, axis=0), abs=1e-9)
    assert two.eigenvectors.bounds.mean == pytest.approx(np.mean(bounds, axis=0), abs=1e-9)
    assert two.eigenvectors.errors.deviation == pytest.approx(np.std(squares, axis=0, ddof=1), abs=1e-9)


def test_shares_sum_to_one_and_statistics_are_within_their_ranges(runs):
    for basis in (runs.inputs, runs.eigenvectors):
        assert basis.errors.mean.sum() == pytest.approx(1) and basis.bounds.mean.sum() == pytest.approx(1)
        assert 0 < basis.distance < 1 and basis.uncertainty["distance"] > 0
        assert all(np.diff(quantiles).min() >= 0 for quantiles in basis.isotropic.values())
    assert runs.exists and runs.resolved
    assert runs.follows()["distance_ratio"] == pytest.approx(runs.eigenvectors.distance / runs.inputs.distance)


def test_isotropic_errors_follow_the_bound():
    """Eq. 6: over independent errors in 𝒦^⊥ the distance vanishes like one over the root of their number."""
    rng = np.random.default_rng(0)
    alloc = allocate(ARCH, fit(ARCH, PowerLaw()).params, PowerLaw())
    free = complement(alloc.space)
    distances = []
    for n in (40, 4000):
        errors = rng.normal(size=(n, free.shape[1])) @ free.T
        compared = along_basis(errors, [free] * n, np.eye(16), rng, n_draws=2) if n < 100 else None
        shares = np.square(errors)
        mean = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
        bound = (1 - alloc.per_input) / (16 - alloc.total)
        distances.append(0.5 * np.abs(mean - bound).sum())
        if compared:
            assert compared.distance == pytest.approx(distances[-1])
    assert distances[1] < distances[0] / 3


def test_converged_runs_end_at_one_optimum_and_are_not_taken_for_a_spread():
    converged = many_runs(Hierarchical(channels=2, n_layers=6), PowerLaw(), 3, method="gauss-newton")
    assert converged.exists and not converged.resolved
    assert converged.inputs.error_spread < 1e-3


def test_a_target_that_is_attained_leaves_no_errors():
    converged = many_runs(ARCH, AR1(), 2, method="gauss-newton")
    assert converged.attained == 2 and not converged.exists and not converged.resolved


def test_at_full_capacity_there_is_nothing_to_compare_and_no_nan():
    full = many_runs(Hierarchical(channels=4, n_layers=3), FractionalGaussianNoise(), 2, **LIMITED)
    assert set(full.totals) == {8}
    assert full.follows() == {"distance_inputs": 0, "distance_eigenvectors": 0, "distance_ratio": 1}
    assert np.isfinite(list(full.stability().values())).all()


def test_it_survives_json_to_six_digits(runs):
    back = Runs.from_json(json.loads(json.dumps(runs.to_json())))
    assert back.follows() == pytest.approx(runs.follows(), rel=1e-4)
    assert back.stability() == pytest.approx(runs.stability(), rel=1e-4)
    assert back.losses == pytest.approx(runs.losses, rel=1e-5)
    assert back.method == "l-bfgs-b" and back.max_iterations == 100 and back.n_runs == 5
    assert back.inputs.isotropic.keys() == runs.inputs.isotropic.keys()


def test_the_jackknife_of_a_mean_is_its_standard_error(rng):
    """The distance to a constant bound is linear in the mean where no share crosses it."""
    errors = np.sqrt(np.abs(np.array([0.7, 0.2, 0.1]) + 0.02 * rng.normal(size=(12, 1)) * [1, -0.5, -0.5]))
    free = [np.eye(3)[:, :2]] * 12
    compared = along_basis(errors, free, np.eye(3), rng, n_draws=1)
    shares = errors**2 / np.sum(errors**2, axis=1, keepdims=True)
    linear = np.std(shares[:, 0] + shares[:, 2], ddof=1) / np.sqrt(12)  # distance = share of 0 − ½ + share of 2
    assert compared.uncertainty["distance"] == pytest.approx(linear)


def test_relative_spread_ignores_directions_without_a_mean():
    assert Spread(np.array([2.0, 0.0]), np.array([1.0, 0.0])).relative == 0.5
    assert Spread(np.zeros(2), np.zeros(2)).relative == 0


def test_one_run_has_no_spread():
    with pytest.raises(ValueError, match="n_runs: found 1, expected a whole number of at least 2"):
        many_runs(ARCH, PowerLaw(), 1)
