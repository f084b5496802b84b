"""Fitting: stationarity, published losses, an independent optimiser, seeds, flags and refusals."""

import tracemalloc
import warnings
from functools import reduce

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import least_squares

from capcore.architectures import Hierarchical, Recurrent
from capcore.architectures.linear import Linear
from capcore.fitting.gauss_newton import Minimum
from capcore.fitting.optimum import FitResult, fit
from capcore.processes import AR1, DampedCosine, FractionalGaussianNoise, PowerLaw, RationalQuadratic
from capcore.processes.problem import Problem
from tests.strategies import all_of, refused

FAMILIES = [PowerLaw(), FractionalGaussianNoise(), RationalQuadratic(), DampedCosine()]
# At six layers of two taps, power law ½: THEORY of the book's first chapter, and the benchmark of every optimiser.
REFERENCE_LOSSES = {1: 1.3277561587e-3, 2: 1.225162597e-5, 4: 2.894213908e-10}


def arch(channels):
    return Hierarchical(channels, 6)


# --- the optimum ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", REFERENCE_LOSSES)
def test_reference_losses(channels):
    result = fit(arch(channels), PowerLaw())
    assert result.converged and result.loss == pytest.approx(REFERENCE_LOSSES[channels], rel=1e-8)


@pytest.mark.parametrize("channels", [8, 9, 16])
@pytest.mark.parametrize("process", FAMILIES, ids=repr)
def test_the_target_is_attained_with_eight_channels(channels, process):
    result = fit(arch(channels), process)
    assert result.converged and result.loss < 1e-26
    assert_allclose(result.coefficients, process.predictor(64)[0], atol=1e-12)


@pytest.mark.parametrize("channels", [1, 2, 3])
@pytest.mark.parametrize("process", FAMILIES[:3], ids=repr)
def test_the_error_is_orthogonal_to_the_constraints(channels, process):
    # Eq. 16: K̃ᵀX = 0 with K̃ = ΣJ and X = A − A*, by cosines so that the smallness of X is no excuse.
    model = arch(channels)
    result = fit(model, process)
    x = result.coefficients - process.predictor(64)[0]
    constraints = process.covariance(64) @ model.jacobian(result.params)
    cosines = constraints.T @ x / np.linalg.norm(constraints, axis=0) / np.linalg.norm(x)
    assert np.abs(cosines).max() < 1e-6
    assert result.gradient_norm == pytest.approx(2 * np.linalg.norm(constraints.T @ x), rel=1e-3)


def test_an_independent_optimiser_finds_the_same_loss():
    # Eq. 20 by outer products, SciPy's trust-region least squares with its own finite differences, four random starts.
    problem = Problem.of(arch(1), PowerLaw())

    def residual(w):
        digits = w.reshape(6, 2)
        return problem.root @ (reduce(np.multiply.outer, digits[::-1]).reshape(-1) - problem.target)

    best = min(
        least_squares(residual, np.random.default_rng(s).normal(0, 0.7, 12), method="trf", xtol=1e-15, ftol=1e-15).cost
        for s in range(4)
    )
    assert 2 * best == pytest.approx(REFERENCE_LOSSES[1], rel=1e-9)
    assert 2 * best == pytest.approx(fit(arch(1), PowerLaw()).loss, rel=1e-9)


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("process", FAMILIES[:3], ids=repr)
def test_every_random_start_ends_where_the_tensor_train_start_ends(channels, process):
    model = arch(channels)
    best = fit(model, process)
    for seed in range(4):
        result = fit(model, process, start="random", rng=seed)
        assert result.converged and result.loss == pytest.approx(best.loss, rel=1e-6)
        assert result.loss != best.loss or result.n_iterations != best.n_iterations  # it did start elsewhere


@pytest.mark.parametrize("process", [DampedCosine(), AR1()], ids=repr)
@pytest.mark.parametrize("start", ["tensor-train", "random"])
def test_exactly_low_rank_targets_are_attained(process, start):
    result = fit(arch(2), process, start=start, rng=1)
    assert result.converged and result.loss < 1e-23 and "attained" in result.message


@pytest.mark.parametrize("start", ["tensor-train", "random"])
def test_white_noise_is_predicted_by_zero(start):
    result = fit(arch(2), FractionalGaussianNoise(0.5), start=start)
    assert result.converged and result.loss < 1e-28 and result.variance == pytest.approx(1)


def test_overlapping_dilations_are_fitted_from_random_starts():
    model = Hierarchical(1, dilations=[1, 2, 4, 1, 2, 4])
    result = fit(model, PowerLaw(), n_starts=3)
    x = result.coefficients - PowerLaw().predictor(model.n_inputs)[0]
    constraints = PowerLaw().covariance(model.n_inputs) @ model.jacobian(result.params)
    cosines = constraints.T @ x / np.linalg.norm(constraints, axis=0) / np.linalg.norm(x)
    assert result.converged and np.abs(cosines).max() < 1e-6


# --- what the result says about itself --------------------------------------------------------------------------------


def test_the_result_is_consistent():
    model, process = arch(2), PowerLaw()
    result = fit(model, process)
    assert isinstance(result, FitResult) and result.method == "gauss-newton"
    assert np.array_equal(result.coefficients, model.coefficients(result.params))
    assert result.loss == pytest.approx(Problem.of(model, process).loss(result.coefficients), rel=1e-12)
    assert result.variance == process.predictor(64)[1] + result.loss
    assert result.history.shape == (result.n_iterations + 1,) and result.losses.shape == (1,)
    assert result.history[-1] == pytest.approx(result.loss, rel=1e-9)
    assert result.relative_offset < 1e-7 and result.gradient_norm < 1e-6


def test_the_relative_offset_is_the_cosine_with_the_tangent_space():
    model, process = arch(2), PowerLaw()
    result = fit(model, process, start="random", max_iterations=6)
    problem = Problem.of(model, process)
    residual = problem.root @ (result.coefficients - problem.target)
    tangent = problem.root @ model.jacobian(result.params)
    fitted = tangent @ np.linalg.lstsq(tangent, residual, rcond=1e-12)[0]
    expected = np.linalg.norm(fitted) / np.linalg.norm(residual)
    assert 1e-6 < expected < 1 and result.relative_offset == pytest.approx(expected, rel=1e-6)


def test_flags_are_honest():
    result = fit(arch(4), PowerLaw(), start="random", max_iterations=3)
    assert not result.converged and result.n_iterations == 3 and "stopped after 3 iterations" in result.message
    assert result.relative_offset > 1e-3
    saddle = fit(arch(2), PowerLaw(), start=np.zeros(40))
    assert not saddle.converged and "Jacobian is zero" in saddle.message


# --- seeds and starts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["gauss-newton", "l-bfgs-b"])
@pytest.mark.parametrize("start", ["auto", "random"])
def test_the_same_seed_gives_the_same_bits(method, start):
    options = {"method": method, "start": start, "max_iterations": 50, "n_starts": 2}
    runs = [fit(arch(3), PowerLaw(), rng=rng, **options) for rng in (7, 7, np.random.default_rng(7))]
    assert all(np.array_equal(runs[0].params, run.params) for run in runs)
    assert all(np.array_equal(runs[0].losses, run.losses) for run in runs)
    assert not np.array_equal(runs[0].params, fit(arch(3), PowerLaw(), rng=8, **options).params)


def test_several_starts_keep_the_best():
    result = fit(arch(3), PowerLaw(), start="random", n_starts=5, max_iterations=12, rng=2)
    assert result.losses.shape == (5,) and len(set(result.losses)) == 5
    assert result.loss == pytest.approx(result.losses.min(), rel=1e-12)
    assert result.history[-1] == result.losses.min()


def test_only_the_first_start_is_the_one_asked_for():
    for start in ("tensor-train", fit(arch(3), PowerLaw()).params):
        losses = fit(arch(3), PowerLaw(), start=start, n_starts=3, max_iterations=0).losses
        assert losses[0] < 1e-4 < losses[1:].min()


def test_a_start_can_be_given():
    model = arch(2)
    best = fit(model, PowerLaw())
    again = fit(model, PowerLaw(), start=best.params)
    assert again.n_iterations <= 2 and again.loss == pytest.approx(best.loss, rel=1e-12)
    given = best.params.copy()
    fit(model, PowerLaw(), start=given, max_iterations=2)
    assert np.array_equal(given, best.params)  # the caller's array is left alone


def test_starts_by_name():
    few = {"max_iterations": 0}
    train = fit(arch(3), PowerLaw(), **few)
    random = fit(arch(3), PowerLaw(), start="random", **few)
    assert np.array_equal(train.params, fit(arch(3), PowerLaw(), start="tensor-train", **few).params)
    assert train.loss < 1e-4 < random.loss
    # The paper's optimiser starts at random unless told otherwise.
    paper = fit(arch(3), PowerLaw(), method="l-bfgs-b", max_iterations=1)
    assert paper.history[0] == pytest.approx(random.loss, rel=1e-12)


def test_rebalancing_can_be_turned_off():
    runs = [fit(arch(4), PowerLaw(), start="random", max_iterations=60, rebalance=on) for on in (True, False)]
    assert np.array_equal(runs[0].history[:20], runs[1].history[:20])
    assert not np.array_equal(runs[0].history[:40], runs[1].history[:40])


# --- size, progress, refusals -----------------------------------------------------------------------------------------


def test_half_a_million_parameters_in_bounded_memory():
    # The Jacobian alone would take 64 · 525,312 · 8 bytes = 269 MB; the dual form needs a few copies of the kernels.
    model = Hierarchical(256, 6)
    tracemalloc.start()
    result = fit(model, PowerLaw())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.params.size == 525_312 and result.loss < 1e-26
    assert peak < 200e6


def test_no_thread_is_started_for_a_bar_that_is_not_shown(monkeypatch):
    """As in a browser, where none can be: tqdm warns then."""
    monkeypatch.setattr("tqdm.std.TMonitor", None)
    monkeypatch.setattr("tqdm.std.tqdm.monitor_interval", 10)
    monkeypatch.setattr("capcore.checks.progress.tqdm.monitor", None)  # its own, where a bar before has started one
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(arch(1), PowerLaw(), progress=False)


def test_progress_is_shown_on_request_only(capfd):
    fit(arch(1), PowerLaw())
    assert capfd.readouterr() == ("", "")
    fit(arch(1), PowerLaw(), n_starts=2, progress=True)
    out, err = capfd.readouterr()
    assert out == "" and "gauss-newton, start 1/2" in err and "start 2/2" in err and "loss=1.33e-03" in err
    fit(arch(1), PowerLaw(), method="l-bfgs-b", max_iterations=5, progress=True)
    assert "l-bfgs-b" in capfd.readouterr().err


test_refusals_say_what_was_found_and_expected = refused(
    lambda options: fit(arch(1), PowerLaw(), **options),
    ({"method": "newton"}, ["method", "found 'newton'", "'gauss-newton', 'l-bfgs-b'", "Did you mean"]),
    ({"start": "tt"}, ["start", "found 'tt'", "'auto', 'random', 'tensor-train'"]),
    ({"start": np.ones(11)}, ["start", "found 11 values", "expected 12"]),
    ({"n_starts": 0}, ["n_starts", "found 0", "at least 1"]),
    ({"max_iterations": -1}, ["max_iterations", "found -1", "at least 0"]),
    ({"ftol": 1e-3}, ["option of gauss-newton", "'ftol'", "'max_iterations'", "'tolerance'"]),
    ({"method": "l-bfgs-b", "tolerance": 1e-3}, ["option of l-bfgs-b", "'tolerance'", "'ftol'"]),
)


def test_an_architecture_without_a_tensor_train_starts_at_random_or_says_so():
    model = Linear(np.eye(9)[:, :4])
    assert fit(model, PowerLaw()).converged
    with pytest.raises(ValueError, match=all_of(["start", "'tensor-train'", "Linear has none", "start='random'"])):
        fit(model, PowerLaw(), start="tensor-train")


test_a_start_too_large_for_floating_point_is_refused = refused(
    lambda model, start, method: fit(model, PowerLaw(), start=start, method=method),
    (arch(1), np.full(12, 1e60), "gauss-newton", "not finite.*Scale the start down"),
    (arch(1), np.full(12, 1e60), "l-bfgs-b", "not finite.*Scale the start down"),
    (Hierarchical(2, dilations=[1, 2, 4, 8] * 2), np.full(56, 1e200), "basin-hopping", "start"),
    (Recurrent(64, 1), [1.0, 1e100, 1.0], "variable-projection", "a loss at the start that is not finite"),
    error=FloatingPointError,
)


@pytest.mark.parametrize("params", [np.full(12, np.nan), np.full(12, np.inf)])
@pytest.mark.parametrize("loss", [np.nan, 1.0])
def test_an_answer_that_is_not_finite_is_refused(params, loss, monkeypatch):
    answer = Minimum(params, [1.0, loss], True, "")
    monkeypatch.setattr("capcore.fitting.optimum.minimise_lbfgs", lambda *args, **options: answer)
    with pytest.raises(FloatingPointError, match=r"l-bfgs-b ended at parameters that are not finite.*another start"):
        fit(arch(1), PowerLaw(), method="l-bfgs-b")
