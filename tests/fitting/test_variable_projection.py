"""Fits of recurrent models: sums of exponentials are recovered, losses never increase, grids are never better."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import cholesky

import capcore as cc
from capcore.fitting import variable_projection
from capcore.fitting.projection import least_squares
from capcore.fitting.variable_projection import minimise_poles, pole_limit, projection_path
from capcore.processes import FAMILIES
from tests.strategies import seeds


def random_problem(n, seed):
    """A target and a well-conditioned random positive-definite covariance."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, n + 5))
    covariance = columns @ columns.T / n
    return cc.Problem(rng.normal(size=n), covariance, cholesky(covariance), 1.0)


def exponentials(poles, weights, n=16):
    """A problem with Σ = I whose target is the sum of exponentials."""
    target = np.asarray(poles)[None, :] ** np.arange(n)[:, None] @ np.asarray(weights)
    return cc.Problem(target, np.eye(n), np.eye(n), 1.0)


def grid_loss(problem, grids):
    """Least loss over all combinations of poles, one from each grid, with the best weights for each."""
    n = problem.target.size
    goal = problem.root @ problem.target
    best = np.inf
    for poles in np.stack(np.meshgrid(*grids), axis=-1).reshape(-1, len(grids)):
        columns = problem.root @ np.vander(poles, n, increasing=True).T
        best = min(best, np.sum(np.square(goal - columns @ least_squares(columns, goal)[0])))
    return best


# --- what is found ----------------------------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from([-0.7, -0.2, 0.1, 0.4, 0.75, 0.95]), min_size=1, max_size=3, unique=True),
    st.lists(st.sampled_from([-2.0, -0.5, 0.5, 1.0]), min_size=3, max_size=3),
)
@settings(max_examples=20)
def test_sums_of_exponentials_are_recovered(poles, weights):
    weights = weights[: len(poles)]
    problem = exponentials(poles, weights)
    arch = cc.Recurrent(16, len(poles))
    found = cc.fit(arch, problem)
    assert found.method == "variable-projection" and found.loss <= 1e-24
    order = np.argsort(arch.poles(found.params))
    assert_allclose(arch.poles(found.params)[order], np.sort(poles), atol=1e-8)
    assert_allclose(arch.weights(found.params)[order], np.asarray(weights)[np.argsort(poles)], atol=1e-7)


def test_poles_beyond_one_are_recovered():
    problem = exponentials([1.2, -1.1], [0.5, 1.0])
    found = cc.fit(cc.Recurrent(16, 2), problem)
    assert_allclose(np.sort(cc.Recurrent(16, 2).poles(found.params)), [-1.1, 1.2], atol=1e-8)


@settings(max_examples=15)
@given(st.integers(1, 10), seeds)
def test_losses_never_increase_with_the_channels(n, seed):
    problem = random_problem(n, seed)
    path = projection_path(
        cc.Recurrent(n, 1), range(1, n + 3), problem.target, problem.root, np.random.default_rng(seed)
    )
    losses = np.array([found.history[-1] for found in path.values()])
    assert list(path) == list(range(1, n + 3))
    assert np.all(np.diff(losses) <= 0)
    for c, found in path.items():
        error = cc.Recurrent(n, c).coefficients(found.params) - problem.target
        # Rounding of the coefficients, magnified where poles nearly merge and weights are large.
        size = np.abs(cc.Recurrent(n, c).weights(found.params)).max()
        assert np.sqrt(error @ problem.covariance @ error) == pytest.approx(
            np.sqrt(found.history[-1]), abs=1e-12 * (1 + size)
        )


@settings(max_examples=8)
@given(st.integers(3, 8), seeds)
def test_no_grid_is_better(n, seed):
    problem = random_problem(n, seed)
    wide = np.concatenate([np.tan(np.linspace(-1.5, 1.5, 120)), np.linspace(-1.2, 1.2, 121)])
    one = cc.fit(cc.Recurrent(n, 1), problem)
    assert one.loss <= grid_loss(problem, [wide]) * (1 + 1e-9)
    with pytest.MonkeyPatch.context() as more:
        more.setattr(variable_projection, "RANDOM_STARTS", 6)
        two = cc.fit(cc.Recurrent(n, 2), problem)
    assert two.loss <= grid_loss(problem, [np.tanh(np.linspace(-2, 2, 30))] * 2) * (1 + 1e-9)


def test_known_losses():
    """The power law at n = 64: best optima known from earlier searches with many more starts."""
    path = projection_path(cc.Recurrent(64, 1), [1, 2, 3, 4, 5, 6], *posed(cc.PowerLaw()), np.random.default_rng(0))
    known = [8.93e-3, 6.02e-4, 3.55e-5, 5.78e-6, 4.84e-7, 3.40e-8]
    assert [found.history[-1] for found in path.values()] == pytest.approx(known, rel=2e-3)


def test_the_pencil_leads_where_random_starts_do_not():
    # With 12 channels, 1.5e-16 from the matrix pencil; the other starts stop above 1e-15.
    path = projection_path(cc.Recurrent(64, 1), [12], *posed(cc.PowerLaw()), np.random.default_rng(0))
    assert path[12].history[-1] <= 5e-16


@pytest.mark.parametrize("family", ["AR1", "DampedCosine"])
def test_losses_at_the_rounding_floor_do_not_increase_either(family):
    path = projection_path(cc.Recurrent(64, 1), range(1, 12), *posed(FAMILIES[family]()), np.random.default_rng(0))
    losses = np.array([found.history[-1] for found in path.values()])
    assert losses[1] <= 1e-26 and np.all(np.diff(losses) <= 0)


def posed(process, n=64):
    problem = cc.Problem.of(cc.Recurrent(n, 1), process)
    return problem.target, problem.root


def test_gauss_newton_and_lbfgs_find_nothing_better():
    arch, process = cc.Recurrent(32, 3), cc.PowerLaw()
    best = cc.fit(arch, process)
    for method in ("gauss-newton", "l-bfgs-b"):
        other = cc.fit(arch, process, method=method, start="random", n_starts=3, max_iterations=500)
        assert best.loss <= other.loss * (1 + 1e-6)
    again = cc.fit(arch, process, method="gauss-newton", start=best.params)
    assert again.loss == pytest.approx(best.loss, rel=1e-6)
    assert best.converged and best.relative_offset < 1e-4


def test_random_starts_beat_the_pencil_where_a_pair_merges(monkeypatch):
    # The optimum of the rational quadratic with three channels lies where two poles merge.
    arch, (target, root) = cc.Recurrent(64, 3), posed(cc.RationalQuadratic())

    def with_starts(number):
        monkeypatch.setattr(variable_projection, "RANDOM_STARTS", number)
        return projection_path(cc.Recurrent(64, 1), [3], target, root, np.random.default_rng(0))[3]

    with_random, without = with_starts(4), with_starts(0)
    assert with_random.history[-1] < 0.96 * without.history[-1]
    poles = np.sort(arch.poles(with_random.params))
    assert poles[1] - poles[0] < 0.01
    assert np.abs(arch.weights(with_random.params)).max() > 10 * np.abs(target).max()  # a difference of large terms


def test_a_target_at_a_double_pole_is_approached():
    # τ r^{τ−1} is the limit of differences of exponentials, and no sum of two.
    lags = np.arange(16)
    problem = cc.Problem(lags * 0.5 ** np.maximum(lags - 1, 0) * (lags > 0), np.eye(16), np.eye(16), 1.0)
    arch = cc.Recurrent(16, 2)
    found = cc.fit(arch, problem)
    assert found.loss <= 1e-8
    assert_allclose(arch.poles(found.params), 0.5, atol=0.02)


# --- how it is asked --------------------------------------------------------------------------------------------------


def test_what_is_found_for_one_size_does_not_depend_on_the_sizes_asked_for():
    posed_problem = posed(cc.FractionalGaussianNoise(), 12)
    every = projection_path(cc.Recurrent(12, 1), range(1, 10), *posed_problem, np.random.default_rng(3))
    for c in (1, 4, 6):
        only = projection_path(cc.Recurrent(12, 1), [c], *posed_problem, np.random.default_rng(3))
        assert np.array_equal(only[c].params, every[c].params)
    last = projection_path(cc.Recurrent(12, 1), [9], *posed_problem, np.random.default_rng(3))[9]
    assert_allclose(last.params[9:18], every[9].params[9:18])  # the same poles, also beyond half the inputs


@given(seeds)
@settings(max_examples=20)
def test_at_the_end_the_full_problem_is_stationary(seed):
    """A noisy target: the gradient by the weights vanishes, and that by the poles inside the bounds."""
    rng, arch = np.random.default_rng(seed), cc.Recurrent(20, 2)
    target = np.array([0.5, 0.9]) ** np.arange(20)[:, None] @ np.ones(2) + 0.01 * rng.normal(size=20)
    found = minimise_poles(arch, target, np.eye(20), np.array([0.4, 0.8]), max_iterations=500)
    filters, slopes = arch.basis(arch.poles(found.params))
    residual = arch.coefficients(found.params) - target
    assert_allclose(filters.T @ residual, 0, atol=1e-9)
    assert_allclose((slopes * arch.weights(found.params)).T @ residual, 0, atol=1e-5)


@pytest.mark.parametrize("evaluations", [0, 1])
def test_the_loss_at_the_start_is_evaluated_in_any_case(evaluations):
    target, root = posed(cc.PowerLaw(), 8)
    found = minimise_poles(cc.Recurrent(8, 1), target, root, np.array([0.5]), max_iterations=evaluations)
    assert len(found.history) == 1 and not found.converged


def test_a_start_outside_the_search_is_brought_inside():
    target, root = posed(cc.PowerLaw())
    arch = cc.Recurrent(64, 1)
    found = minimise_poles(arch, target, root, np.array([1e6]))
    assert np.abs(arch.poles(found.params))[0] <= pole_limit(64) and np.isfinite(found.history[-1])


def test_callbacks():
    target, root = posed(cc.PowerLaw(), 8)
    arch, losses = cc.Recurrent(8, 3), []
    projection_path(arch, [3], target, root, np.random.default_rng(0), callback=losses.append)
    assert len(losses) == 3 and losses == sorted(losses, reverse=True)
    losses.clear()
    found = minimise_poles(arch, target, root, np.array([0.2, 0.5, 0.8]), callback=losses.append)
    assert len(losses) == len(found.history)


def test_where_no_start_is_better_the_smaller_model_is_kept_with_idle_channels(monkeypatch):
    search = variable_projection.minimise_poles

    def hapless(arch, *arguments, **options):
        found = search(arch, *arguments, **options)
        return found._replace(history=[1.0]) if arch.channels == 3 else found

    monkeypatch.setattr(variable_projection, "minimise_poles", hapless)
    path = projection_path(cc.Recurrent(16, 1), [2, 3], *posed(cc.PowerLaw(), 16), np.random.default_rng(0))
    small, large = cc.Recurrent(16, 2), cc.Recurrent(16, 3)
    assert path[3].history[-1] == path[2].history[-1] and "idle channels" in path[3].message
    assert_allclose(large.coefficients(path[3].params), small.coefficients(path[2].params), atol=1e-15)
    assert large.weights(path[3].params)[2] == 0
