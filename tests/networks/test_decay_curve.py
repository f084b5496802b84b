"""Decay curves: against allocations at each decay, against optima found anew, and totals from products alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import capcore as cc
from capcore import networks
from capcore.networks.decay_curve import decay_curve
from capcore.networks.lanczos import quadrature
from capcore.networks.leave_one_out import leave_one_out
from tests.strategies import seeds

jnp = pytest.importorskip("jax").numpy
pytestmark = pytest.mark.usefixtures("compiled_once")
DECAYS = np.geomspace(0.01, 100, 5)
GIVEN = {"curvature": "gauss-newton", "subspaces": {}}


def features(w, x):
    """Linear in its parameters."""
    return x @ w


def mlp(w, x):
    """Two inputs, three tanh units, two outputs."""
    return jnp.tanh(x @ w[:6].reshape(2, 3)) @ w[6:].reshape(3, 2)


def ridge(x, y, decay):
    return np.linalg.solve(x.T @ x + decay, x.T @ y)


@pytest.fixture
def regression(rng):
    x = rng.normal(size=(40, 6)) @ np.diag(np.geomspace(1, 0.1, 6))
    return x, x @ rng.normal(size=6) + rng.normal(size=40)


@pytest.mark.parametrize("weights", ["optimum", "others"])
def test_a_linear_model_has_the_allocation_of_each_decay(regression, weights, rng):
    """From the optimum of one decay, or from any weights, to all others."""
    x, y = regression
    start = ridge(x, y, np.eye(6)) if weights == "optimum" else rng.normal(size=6)
    curve = cc.allocate_network(features, start, x, y, weight_decay=1.0, **GIVEN).decay_curve(DECAYS)
    assert curve.decays.tolist() == pytest.approx(DECAYS.tolist()) and not curve.relative and not curve.errors.any()
    for i, decay in enumerate(DECAYS):
        found = cc.allocate_network(features, ridge(x, y, decay * np.eye(6)), x, y, weight_decay=decay, **GIVEN)
        without = found.leave_one_out()
        assert curve.totals[i] == pytest.approx(found.total)
        assert curve.training_losses[i] == pytest.approx(without.training_loss)
        assert curve.leave_one_out[i] == pytest.approx(without.mean_loss)
        assert curve.standard_errors[i] == pytest.approx(without.standard_error)
        assert curve.trusted[i] == np.mean(without.leverage <= 0.9)
        assert curve.gcv[i] == pytest.approx(without.gcv)
    one = ridge(x, y, np.eye(6))
    noise = np.square(x @ one - y).sum() / (40 - np.trace(x @ ridge(x, np.eye(40), np.eye(6))))
    assert curve.noise == pytest.approx(noise) and curve.optimism == pytest.approx(noise * curve.totals / 40)
    for name in ("leave_one_out", "gcv", "penalised"):
        assert curve.best(name) == pytest.approx(DECAYS[getattr(curve, name).argmin()])


def test_mallows_cp_is_right_on_average(rng):
    """Training loss plus optimism is on average the loss on new targets of the same inputs, of known noise."""
    x, theta, rest = rng.normal(size=(30, 4)), rng.normal(size=4), []
    for _ in range(400):
        y, new = x @ theta + rng.normal(size=(2, 30))
        curve = decay_curve(
            x[:, None], 0 * y[:, None], y[:, None], np.ones(4), np.zeros(4), "squared", np.array([3.0]), 1.0
        )
        rest.append(curve.penalised[0] - np.square(x @ ridge(x, y, 3 * np.eye(4)) - new).mean() / 2)
    assert abs(np.mean(rest)) < 4 * np.std(rest) / 20  # standard errors of 400 draws


def test_parameters_without_decay_stay_without(regression):
    """An intercept, beside others that have different decays: ``decays`` are then multiples."""
    x, y = regression
    x = np.hstack([np.ones((40, 1)), x])
    decay = np.array([0.0, 1, 2, 3, 1, 2, 3])
    curve = cc.allocate_network(features, np.ones(7), x, y, weight_decay=decay, **GIVEN).decay_curve(DECAYS)
    assert curve.relative and "times what was given" in curve._repr_html_()
    for i, s in enumerate(DECAYS):
        theta = ridge(x, y, s * np.diag(decay))
        found = cc.allocate_network(features, theta, x, y, weight_decay=s * decay, **GIVEN)
        assert curve.totals[i] == pytest.approx(found.total)
        assert curve.leave_one_out[i] == pytest.approx(found.leave_one_out().mean_loss)
    assert curve.totals[-1] > 1
    same = cc.allocate_network(features, np.ones(7), x, y, weight_decay=np.minimum(decay, 1.0), **GIVEN)
    assert not same.decay_curve(DECAYS).relative


def test_without_any_decay_all_parameters_get_it(regression):
    x, y = regression
    free = cc.allocate_network(features, np.zeros(6), x, y, **GIVEN)
    given_one = cc.allocate_network(features, np.zeros(6), x, y, weight_decay=1.0, **GIVEN)
    assert free.decay_curve(DECAYS).leave_one_out == pytest.approx(given_one.decay_curve(DECAYS).leave_one_out)
    with pytest.raises(ValueError, match="decays: found none, and an allocation without weight_decay"):
        free.decay_curve()


def test_more_parameters_than_examples_at_decays_near_zero(rng):
    """S = K(K + λ)⁻¹ with the kernel K alone; at the weakest decay 1 − leverage is 1e-10, and kept to a few digits."""
    x, y = rng.normal(size=(10, 30)), rng.normal(size=10)
    curve = cc.allocate_network(features, np.zeros(30), x, y, weight_decay=1.0, **GIVEN).decay_curve([1e-9, 1.0, 1e9])
    kernel = x @ x.T
    totals = [np.trace(np.linalg.solve(kernel + s * np.eye(10), kernel)) for s in (1e-9, 1.0, 1e9)]
    assert curve.totals == pytest.approx(totals) and curve.trusted.tolist() == [0, curve.trusted[1], 1]
    assert curve.training_losses[0] == pytest.approx(1e-18 * np.square(np.linalg.solve(kernel, y)).mean() / 2, rel=1e-3)


@pytest.mark.parametrize("loss", ["squared", "cross-entropy"])
def test_at_its_own_decay_it_is_leave_one_out(loss, rng):
    """Also away from an optimum, for a network, by another factorisation."""
    x = rng.normal(size=(30, 2))
    y = rng.integers(0, 2, 30) if loss == "cross-entropy" else rng.normal(size=(30, 2))
    found = cc.allocate_network(mlp, rng.normal(size=12), x, y, loss=loss, weight_decay=0.3, **GIVEN)
    curve, without = found.decay_curve([0.3]), found.leave_one_out()
    assert curve.leave_one_out[0] == pytest.approx(without.mean_loss)
    assert curve.totals[0] == pytest.approx(without.total)
    assert loss == "cross-entropy" or found.total == pytest.approx(without.total)  # W is that of other outputs
    assert len(curve.gcv) == (loss == "squared")
    assert curve.noise == 1 if loss == "cross-entropy" else curve.noise > 0


@pytest.mark.parametrize("free", [False, True])
def test_logistic_regression_has_the_allocation_of_each_decay(rng, free):
    """A linear model's optimum at any decay is found from any other; with an intercept that has no decay as well."""
    x, y = np.hstack([np.ones((80, 1)), rng.normal(size=(80, 2))]), rng.integers(0, 2, 80)

    def logits(w, x):
        return jnp.stack([0 * (x @ w), x @ w], axis=1)

    decay = np.array([0.0 if free else 1.0, 1.0, 1.0])
    options = {"loss": "cross-entropy"}
    theta = networks.polish(logits, np.zeros(3), x, y, weight_decay=decay, **options).params
    given_one = cc.allocate_network(logits, theta, x, y, weight_decay=decay, **options, **GIVEN)
    curve = given_one.decay_curve([0.1, 1.0, 300.0])
    for i, s in enumerate(curve.decays):
        end = networks.polish(logits, theta, x, y, weight_decay=s * decay, lbfgs_steps=0, **options).params
        found = cc.allocate_network(logits, end, x, y, weight_decay=s * decay, **options, **GIVEN).leave_one_out()
        assert curve.totals[i] == pytest.approx(found.total, rel=1e-3)  # Newton's steps end at 1e-8 of the loss
        assert curve.training_losses[i] == pytest.approx(found.training_loss, rel=1e-6)
        assert curve.leave_one_out[i] == pytest.approx(found.mean_loss, rel=1e-5)


@given(seeds, st.sampled_from(["squared", "cross-entropy"]))
@settings(max_examples=10)
def test_laws(seed, loss):
    """Totals fall with the decay, and are bounded; units of parameters and the order of examples change nothing."""
    rng = np.random.default_rng(seed)
    jacobian, outputs, params = rng.normal(size=(8, 3, 5)), rng.normal(size=(8, 3)), rng.normal(size=5)
    targets = np.eye(3)[rng.integers(0, 3, 8)] if loss == "cross-entropy" else rng.normal(size=(8, 3))
    decay = rng.uniform(0.5, 2.0, 5)
    curve = decay_curve(jacobian, outputs, targets, decay, params, loss, DECAYS)
    assert np.all(np.diff(curve.totals) < 0) and curve.totals.min() > 0 and curve.totals.max() < 5
    assert np.all(curve.leave_one_out >= curve.training_losses) or loss == "cross-entropy"
    without = leave_one_out(jacobian, outputs, targets, 2 * decay, 2 * decay * params, loss)
    twice = decay_curve(jacobian, outputs, targets, decay, params, loss, np.array([2.0]))
    assert twice.leave_one_out[0] == pytest.approx(without.mean_loss)
    order, units = rng.permutation(8), rng.uniform(0.1, 10, 5)
    moved = decay_curve(jacobian[order], outputs[order], targets[order], decay, params, loss, DECAYS)
    scaled = decay_curve(jacobian * units, outputs, targets, decay * units**2, params / units, loss, DECAYS)
    doubled = decay_curve(jacobian, outputs, targets, 2 * decay, params, loss, DECAYS / 2)
    for other in (moved, scaled, doubled):
        for name in ("totals", "training_losses", "leave_one_out", "standard_errors", "gcv"):
            assert getattr(other, name) == pytest.approx(getattr(curve, name), rel=1e-5)


def test_totals_of_a_sketch_are_those_of_the_dense_route(rng):
    """Within their intervals of 95 %: one of five may miss, none by twice; an interval is below 30 % of its total."""
    x, y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2))
    w, options = rng.normal(size=12), {"weight_decay": 1.0, **GIVEN}
    dense = cc.allocate_network(mlp, w, x, y, **options).decay_curve(DECAYS)
    sketch = cc.allocate_network(mlp, w, x, y, method="sketch", **options).decay_curve(DECAYS, probes=16)
    off = np.abs(sketch.totals - dense.totals) / sketch.errors
    assert (off < 1).sum() >= 4 and off.max() < 2 and (sketch.errors < 0.3 * dense.totals).all()
    assert sketch.method == "sketch" and sketch.noise is None and not len(sketch.leave_one_out)
    assert sketch.optimism.size == 0
    with_noise = cc.allocate_network(mlp, w, x, y, method="sketch", **options).decay_curve(DECAYS, noise=2.0)
    assert with_noise.optimism == pytest.approx(2 * with_noise.totals / 200)
    with pytest.raises(ValueError, match=r"by: found 'leave_one_out'.*Use method='dense'"):
        sketch.best()


def test_a_quadrature_ends_where_the_spectrum_does(rng):
    """Five different eigenvalues, one of them 0: five steps are exact, however many are allowed."""
    sizes = np.repeat([0.0, 1.0, 3.0, 10.0, 100.0], 20)
    for steps in (5, 9, 200):
        lower, upper = quadrature(lambda v: v * sizes, 100, 3, steps, rng).totals(2.0)
        assert upper == pytest.approx((sizes / (sizes + 2)).sum(), rel=1e-9)  # of a diagonal matrix, for any signs
        assert lower == pytest.approx(upper, rel=1e-9) or steps == 5


@pytest.mark.parametrize("steps", [1, 2, 5, 20])
@pytest.mark.parametrize("s", [1e-4, 1.0, 1e4])
def test_the_truth_lies_between_the_bounds(steps, s, rng):
    """For each vector, of any matrix; and from 20 steps on the bounds are close where s is not small."""
    turn, sizes = np.linalg.qr(rng.normal(size=(60, 60)))[0], np.append(np.geomspace(1e-3, 1e3, 50), np.zeros(10))
    matrix = turn * sizes @ turn.T
    spectrum = quadrature(lambda v: v @ matrix, 60, 4, steps, np.random.default_rng(5))
    signs = np.random.default_rng(5).choice([-1.0, 1.0], size=(4, 60))
    exact = np.einsum("mp,pq,mq->m", signs, np.linalg.solve(matrix + s * np.eye(60), matrix), signs)
    lower, upper = spectrum.totals(s)
    rounding = 1e-9 * exact.max()
    assert (lower <= exact + rounding).all() and (exact <= upper + rounding).all()
    assert steps < 20 or s < 1 or upper == pytest.approx(lower, rel=0.05)


def test_refusals(regression):
    x, y = regression
    found = cc.allocate_network(features, np.zeros(6), x, y, weight_decay=1.0, **GIVEN)
    with pytest.raises(ValueError, match="decays: found -1, expected positive"):
        found.decay_curve([-1.0, 1.0])
    with pytest.raises(ValueError, match=r"decays: .*NaN"):
        found.decay_curve([np.nan])
    with pytest.raises(ValueError, match=r"noise: found 0.0, expected a positive variance"):
        found.decay_curve(noise=0.0)
    with pytest.raises(ValueError, match="by: found 'aic', expected one of"):
        found.decay_curve().best("aic")
    function = cc.allocate_network(features, np.zeros(6), x, y, weight_decay=lambda w: (w**2).sum(), **GIVEN)
    with pytest.raises(AttributeError, match="decay_curve: found a function as weight_decay"):
        function.decay_curve()
    assert function.leave_one_out().mean_loss == pytest.approx(
        cc.allocate_network(features, np.zeros(6), x, y, weight_decay=2.0, **GIVEN).leave_one_out().mean_loss
    )
    stopped = cc.allocate_network(features, np.zeros(6), x, y, stopping_time=1.0)
    with pytest.raises(AttributeError, match="decay_curve: found an allocation with stopping_time"):
        stopped.decay_curve([1.0])
    partly = cc.allocate_network(features, np.zeros(6), x, y, weight_decay=np.eye(6)[0], method="sketch", **GIVEN)
    with pytest.raises(AttributeError, match="decay_curve: found a sketch, and parameters without weight decay"):
        partly.decay_curve()
    labels = cc.allocate_network(
        mlp, np.ones(12), x[:, :2], (y > 0).astype(int), loss="cross-entropy", weight_decay=1.0, **GIVEN
    )
    with pytest.raises(ValueError, match=r"by: found 'gcv'.*expected 'leave_one_out', 'penalised'"):
        labels.decay_curve().best("gcv")


def test_what_does_not_fit_into_memory_is_refused_before(monkeypatch):
    monkeypatch.setenv("CAPCORE_MEMORY", "1e3")
    ones = np.ones((9, 3, 5))
    with pytest.raises(cc.TooLargeError, match=r"decay_curve: found 9 examples.*method='sketch'"):
        decay_curve(ones, ones[..., 0], ones[..., 0], np.ones(5), np.ones(5), "squared", DECAYS)
    with pytest.raises(cc.TooLargeError, match="quadrature: found 100 parameters"):
        quadrature(lambda v: v, 100, 3, 4, np.random.default_rng(0))


def test_shown_and_as_a_table(regression):
    pytest.importorskip("pandas")
    x, y = regression
    found = cc.allocate_network(features, np.zeros(6), x, y, weight_decay=1.0, **GIVEN)
    curve = found.decay_curve()
    assert curve.decays.min() == pytest.approx(0.01) and curve.decays.max() == pytest.approx(100)
    frame = curve.to_dataframe()
    assert frame.index.name == "decay" and frame["gcv"].idxmin() == curve.best("gcv")
    assert all(frame.attrs["units"][name] for name in frame.columns)
    assert "<caption>Weight decays</caption>" in curve._repr_html_() and "least gcv" in curve._repr_html_()
