"""Fitting at scale: the same optimum as the dense path, stationary as defined, and honest where it is singular."""

import numpy as np
import pytest

import capcore as cc
from capcore.capacity.tangent_space import TangentSpace
from capcore.large.fit import NOISE, fit_large
from capcore.large.quadratic import ToeplitzProblem
from tests.strategies import refused

PROCESSES = [cc.PowerLaw(0.5), cc.FractionalGaussianNoise(0.8), cc.RationalQuadratic(1.0, 0.3)]


@pytest.mark.parametrize("process", PROCESSES, ids=repr)
@pytest.mark.parametrize(("n_layers", "channels"), [(6, 1), (6, 2), (6, 3), (6, 4), (8, 1), (8, 2), (8, 3), (8, 4)])
def test_it_ends_no_higher_than_the_dense_path_and_is_stationary(process, n_layers, channels):
    arch = cc.Hierarchical(channels=channels, n_layers=n_layers)
    result = fit_large(arch, process)
    problem = cc.Problem.of(arch, process)
    assert result.converged and not result.is_singular
    dense = cc.fit(arch, problem, start=result.params)
    assert dense.loss == pytest.approx(result.loss, rel=1e-9)  # the dense path finds nothing left to gain
    np.testing.assert_allclose(dense.coefficients, result.coefficients, atol=1e-7)
    # The definition, by the listed basis and the matrix; rounding of Σ(A − A*) is about 1e-16 ‖Σ‖/‖ΣX‖ ≈ 1e-10.
    basis = TangentSpace.of_kernels(arch.kernels(result.params)).basis()
    pull = problem.covariance @ (arch.coefficients(result.params) - problem.target)
    stationarity = np.linalg.norm(basis.T @ pull) / np.linalg.norm(pull)
    assert stationarity < 2e-8 and result.stationarity < 1e-8
    assert problem.loss(result.coefficients) == pytest.approx(result.loss, rel=1e-6)
    assert result.variance == pytest.approx(problem.variance + result.loss, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_random_starts_end_in_stationary_points(seed):
    arch = cc.Hierarchical(channels=4, n_layers=8)
    result = fit_large(arch, cc.PowerLaw(), start="random", rng=seed)
    assert result.converged and result.stationarity < 1e-8
    assert result.history[0] > 1e-2 and result.loss < 2e-9
    again = fit_large(arch, cc.PowerLaw(), start="random", rng=seed)
    np.testing.assert_array_equal(again.params, result.params)


def test_a_thousand_lags_as_in_the_theory_notes():
    """The optimum with four channels is 1.19e-9, where the far half of the lags has 0.350 of the capacity."""
    arch = cc.Hierarchical(channels=4, n_layers=10)
    result = fit_large(arch, cc.PowerLaw())
    assert result.loss == pytest.approx(1.1892e-9, rel=1e-4)
    per_input = cc.allocate(arch, result.params, cc.PowerLaw()).per_input
    assert per_input[512:].sum() / per_input.sum() == pytest.approx(0.350, abs=0.001)


@pytest.mark.parametrize(
    "arch",
    [
        cc.Hierarchical(channels=3, n_layers=4, kernel_size=3),
        cc.Hierarchical(channels=[2, 3, 1, 5, 2], n_layers=6),
        cc.Hierarchical(channels=2, n_layers=5, kernel_size=[3, 1, 4, 2, 5]),
        cc.Hierarchical(channels=64, n_layers=6),
        cc.Hierarchical(channels=8, n_layers=6),
        cc.Hierarchical(n_layers=1, kernel_size=8),
        cc.Hierarchical(n_layers=1, kernel_size=1),
    ],
    ids=repr,
)
@pytest.mark.parametrize("start", ["tensor-train", "random"])
def test_shapes_of_all_kinds(arch, start):
    result = fit_large(arch, cc.PowerLaw(), start=start)
    assert result.converged and not result.is_singular
    assert result.params.shape == (arch.n_params,)
    np.testing.assert_array_equal(arch.coefficients(result.params), result.coefficients)
    assert len(result.history) == result.n_iterations + 1
    assert result.stationarity < 1e-8 or result.loss <= 1e-26


def test_the_capacity_is_that_of_the_optimum_also_where_the_loss_is_next_to_nothing():
    """With six channels the loss is 8e-15; two starts far apart give one allocation, and the TT-SVD another."""
    arch = cc.Hierarchical(channels=6, n_layers=10)
    first, second = (fit_large(arch, cc.PowerLaw(), start=start) for start in ("tensor-train", "random"))
    assert first.loss < 1e-14 and first.converged and second.converged

    def far(params):
        return float(cc.allocate(arch, params, cc.PowerLaw()).per_input[512:].sum())

    assert far(first.params) == pytest.approx(far(second.params), rel=1e-9)
    unfitted = arch.best_start(first.target, np.random.default_rng(0))
    assert abs(far(first.params) - far(unfitted)) > 1e-3


def rounding_of_loss(problem, n_layers):
    """Most that rounding leaves of the loss of a target attained: ‖Σ‖ times the square of its error.

    A* has the error ``accuracy`` (eps times the condition number of Σ); four times that counts as noise, and what
    is cut at L bonds adds up to at most √L of it. ‖Σ‖ is at most the largest sum of a row.
    """
    noise = np.sqrt(n_layers) * NOISE * problem.accuracy * float(np.linalg.norm(problem.target))
    return 2 * float(np.abs(problem.autocovariance).sum()) * noise**2


@pytest.mark.parametrize(
    "process", [cc.AR1(0.9), cc.DampedCosine(), cc.AR1(0.9999), cc.FractionalGaussianNoise(0.5)], ids=str
)
@pytest.mark.parametrize("start", ["tensor-train", "random"])
def test_an_exactly_low_rank_target_is_reported_as_singular(process, start):
    arch = cc.Hierarchical(channels=4, n_layers=10)
    result = fit_large(arch, process, start=start)
    assert result.is_singular and "lower ranks" in result.message
    rounding = rounding_of_loss(ToeplitzProblem.of(process, arch.n_inputs), arch.n_layers)
    assert result.loss <= rounding
    assert rounding < np.sqrt(np.finfo(float).eps) * result.variance  # half the digits: nothing beside a real loss
    with pytest.warns(cc.CapacityWarning):  # spare channels show in the layers, not all of them in the whole
        cc.allocate(arch, result.params, process)


def test_a_target_of_low_rank_at_some_bonds_only_is_fitted_at_full_ranks():
    """An autoregression of order 16 has nothing to say about the upper layers, and still needs them."""
    process = cc.AutoRegressive(0.06 * np.random.default_rng(0).normal(size=16))
    arch = cc.Hierarchical(channels=2, n_layers=8)
    result = fit_large(arch, process)
    assert result.converged and result.stationarity < 1e-8 and result.loss > 1e-4


def test_the_loss_floor_is_in_units_of_the_variance():
    arch = cc.Hierarchical(channels=3, n_layers=6)
    plain = fit_large(arch, cc.PowerLaw())
    scaled = fit_large(arch, cc.FromAutocovariance(1e-12 * cc.PowerLaw().autocovariance(65)))
    assert scaled.stationarity < 1e-8
    assert scaled.loss == pytest.approx(1e-12 * plain.loss, rel=1e-6)
    rough = fit_large(arch, cc.PowerLaw(), floor=1e-3)
    assert rough.n_iterations == 0 and "floor" in rough.message


def test_few_iterations_are_not_passed_off_as_convergence():
    result = fit_large(cc.Hierarchical(channels=4, n_layers=8), cc.PowerLaw(), start="random", max_iterations=2)
    assert not result.converged and result.n_iterations == 2 and result.stationarity > 1e-3


SMALL = cc.Hierarchical(channels=2, n_layers=3)
test_bad_input_is_refused = refused(
    lambda arch, options: fit_large(arch, cc.PowerLaw(), **options),
    (cc.Hierarchical(channels=2, dilations=[1, 2, 2]), {}, "found dilations"),
    (cc.Hierarchical(channels=2, n_layers=3, input_dim=2), {}, "input_dim=2"),
    (SMALL, {"start": "svd"}, "start: found 'svd'"),
    (SMALL, {"start": np.ones(3)}, "found 3 values"),
    (SMALL, {"max_iterations": -1}, "max_iterations: found -1"),
    (SMALL, {"tolerance": -1.0}, "tolerance: found -1.0"),
)


def test_bad_architectures_problems_and_starts_are_refused():
    with pytest.raises(TypeError, match="expected a Hierarchical"):
        fit_large(cc.Recurrent(n_inputs=8, channels=1), cc.PowerLaw())
    with pytest.raises(ValueError, match="16 inputs, expected 8"):
        fit_large(SMALL, ToeplitzProblem.of(cc.PowerLaw(), 16))
    with pytest.raises(FloatingPointError, match="overflow"):
        fit_large(SMALL, cc.PowerLaw(), start=np.full(SMALL.n_params, 1e200))
