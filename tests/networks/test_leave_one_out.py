"""Leave-one-out from one factorisation: against models trained without each example, and what its flags say."""

from html import escape

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import capcore as cc
from capcore import networks
from capcore.networks.leave_one_out import DISTANCE, LEVERAGE
from capcore.networks.leave_one_out import leave_one_out as of_optimum
from capcore.networks.linearised import optimum
from capcore.networks.losses import losses_of, slopes_of
from tests.strategies import seeds

jnp = pytest.importorskip("jax").numpy
pytestmark = pytest.mark.usefixtures("compiled_once")
losses = st.sampled_from(["squared", "cross-entropy"])


def features(w, x):
    """Linear in its parameters."""
    return x @ w


def mlp(w, x):
    """Two inputs, three tanh units, two outputs."""
    return jnp.tanh(x @ w[:6].reshape(2, 3)) @ w[6:].reshape(3, 2)


def ridge(x, y, decay):
    return np.linalg.solve(x.T @ x + decay, x.T @ y)


def of_linear(theta, x, y, decay=1.0, **options):
    """Of the linear model at some weights."""
    return cc.allocate_network(features, theta, x, y, weight_decay=decay, **options).leave_one_out()


def leave_one_out(jacobian, outputs, *others):
    """From the derivatives of any network at its weights."""
    return of_optimum(optimum(jacobian, outputs, *others), outputs)


def arrays(seed, loss, n=9, k=3, p=5):
    """Arguments of ``leave_one_out`` for any network: derivatives and outputs that belong to no model."""
    rng = np.random.default_rng(seed)
    outputs, decay = rng.normal(size=(n, k)), rng.uniform(0.5, 2.0, p)
    targets = np.eye(k)[rng.integers(0, k, n)] if loss == "cross-entropy" else rng.normal(size=(n, k))
    return rng.normal(size=(n, k, p)), outputs, targets, decay, decay * rng.normal(size=p), loss


@pytest.mark.parametrize("at_the_optimum", [True, False])
@pytest.mark.parametrize("outputs", [1, 2])
def test_ridge_regression_is_exact(rng, at_the_optimum, outputs):
    """At machine precision from any weights: the loss is quadratic, so that Newton's step from anywhere is exact."""
    x, decay = rng.normal(size=(30, 6)), np.diag(rng.uniform(0.1, 3.0, 6))
    y = x @ rng.normal(size=(6, outputs)) + rng.normal(size=(30, outputs))
    theta = ridge(x, y, decay) if at_the_optimum else rng.normal(size=(6, outputs))
    every = np.repeat(np.diag(decay), outputs)
    found = of_linear(theta, x, y, every, curvature="gauss-newton")
    keep = ~np.eye(30, dtype=bool)
    expected = np.array([x[i] @ ridge(x[keep[i]], y[keep[i]], decay) for i in range(30)])
    assert found.outputs == pytest.approx(expected, abs=1e-12)  # eps × a condition number of 30 × sizes of 10
    assert found.mean_loss == pytest.approx(np.square(expected - y).sum(axis=1).mean() / 2)
    assert found.standard_error == pytest.approx(found.losses.std(ddof=1) / np.sqrt(30)) and found.error_rate is None
    assert (abs(found.optimum_distance) < 1e-12) == at_the_optimum


def test_least_squares_without_decay_and_a_column_twice(rng):
    """Two parameters that do the same: A is singular, and the answers are those of one of them."""
    x, y = rng.normal(size=(20, 3)), rng.normal(size=(20, 1))
    twice = np.hstack([x, x[:, :1]])
    none = np.zeros(4)
    found = leave_one_out(twice[:, None], 0 * y, y, none, none, "squared")
    once = leave_one_out(x[:, None], 0 * y, y, none[:3], none[:3], "squared")
    assert found.outputs == pytest.approx(once.outputs, abs=1e-12) and found.total == pytest.approx(3)


def retrained(loss, noise, decay):
    """Leave-one-out of a tanh network at an optimum, and its outputs on each example after going on without it."""
    rng, n = np.random.default_rng(3), 30
    x, teacher = 1.5 * rng.normal(size=(n, 2)), 1.5 * rng.normal(size=12)
    y = np.asarray(mlp(teacher, x)) + noise * rng.normal(size=(n, 2))
    options = {"loss": loss, "weight_decay": decay}
    y = y.argmax(axis=1) if loss == "cross-entropy" else y
    w = networks.polish(mlp, teacher, x, y, **options).params
    found = cc.allocate_network(mlp, w, x, y, curvature="gauss-newton", subspaces={}, **options)
    keep, exact = ~np.eye(n, dtype=bool), []
    for i in range(n):
        end = networks.polish(mlp, w, x[keep[i]], y[keep[i]], **options)
        assert end.converged
        exact.append(np.asarray(mlp(end.params, x[i : i + 1]))[0])
    return found, np.array(exact)


@pytest.mark.parametrize(
    ("loss", "noise", "decay", "tolerance"),
    [("squared", 0.3, 0.1, 0.3), ("squared", 0.03, 0.001, 0.03), ("cross-entropy", 0.3, 0.1, 0.3)],
)
def test_a_network_without_an_example_is_foretold(loss, noise, decay, tolerance):
    """By a share of the change that falls with the residuals: curvature costs second order, and so does what
    Gauss–Newton lacks. With p/N = 0.4 steps are long, and 0.3 is what second order may be; a tenth of the noise, with
    less decay, leaves a tenth of that.
    """
    allocation, exact = retrained(loss, noise, decay)
    found, w = allocation.leave_one_out(), allocation.problem.derivatives.params
    change = np.linalg.norm(exact - mlp(w, allocation.problem.derivatives.inputs))
    assert np.linalg.norm(found.outputs - exact) < tolerance * change
    truth = losses_of(exact, allocation.problem.targets, loss).mean()
    assert abs(found.mean_loss - truth) < tolerance * (truth - found.training_loss) and found.trusted.all()


@given(seeds, losses)
@settings(max_examples=10)
def test_it_is_newtons_step_without_the_example(seed, loss):
    """By brute force: at the optimum of the linear model, the matrix of all others is inverted anew for each."""
    jacobian, outputs, targets, decay, slope, _ = arrays(seed, loss)
    found = leave_one_out(jacobian, outputs, targets, decay, slope, loss)

    def value(step):
        at = outputs + jacobian @ step
        gradient = np.einsum("nkp,nk->p", jacobian, slopes_of(at, targets, loss)[0]) + slope + decay * step
        return losses_of(at, targets, loss).sum() + slope @ step + decay @ step**2 / 2, gradient

    step = minimize(value, np.zeros(5), jac=True, options={"gtol": 1e-10}).x
    at = outputs + jacobian @ step
    e, roots, means = slopes_of(at, targets, loss)
    w = np.square(roots)[:, None] * np.eye(3) - means[:, :, None] * means[:, None]
    terms = np.swapaxes(jacobian, 1, 2) @ w @ jacobian
    whole = terms.sum(axis=0) + np.diag(decay)
    total = np.trace(np.linalg.solve(whole, terms.sum(axis=0)))
    noise = 1.0 if loss == "cross-entropy" else np.square(e).sum() / (e.size - total)
    for i in range(len(outputs)):
        away = np.linalg.solve(whole - terms[i], jacobian[i].T @ e[i])
        assert found.outputs[i] == pytest.approx(at[i] + jacobian[i] @ away, abs=1e-3)  # 1e-8 of the loss: its root
        assert found.distance[i] == pytest.approx(away @ whole @ away / noise / total, rel=1e-2, abs=1e-4)
    assert found.total == pytest.approx(total, rel=1e-3) and 0 < found.leverage.max() < 1
    fall = value(np.zeros(5))[0] - value(step)[0]
    assert found.optimum_distance == pytest.approx(2 * fall / noise / total, rel=1e-3)
    assert found.training_loss == pytest.approx(losses_of(outputs, targets, loss).mean())


def test_flags_say_what_cannot_be_trusted(rng):
    x, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    plain = of_linear(ridge(x, y, np.eye(3)), x, y)
    assert plain.trusted.all() and plain.statement == "40 of 40 examples can be trusted."
    far = x.copy()
    far[7] = [0, 0, 60.0]
    outlier = of_linear(ridge(far, y, np.eye(3)), far, y)
    assert outlier.untrusted["leverage"].nonzero()[0].tolist() == [7] and not outlier.trusted[7]
    assert outlier.leverage[7] > LEVERAGE and "Not 1: leverage above 0.9" in outlier.statement
    wild = y.copy()
    far[7] = [0, 0, 8.0]
    wild[7] = 60.0
    influential = of_linear(ridge(far, wild, np.eye(3)), far, wild)
    assert influential.untrusted["influence"].nonzero()[0].tolist() == [7]
    assert "Cook's distance above 1" in influential.statement and influential.distance[7] > DISTANCE
    lost = of_linear(np.full(3, 9.0), x, y, curvature="gauss-newton")
    assert lost.untrusted["optimum"].all() and not lost.trusted.any() and "0 of 40" in lost.statement
    assert lost.outputs == pytest.approx(plain.outputs)  # of a linear model they are right all the same


def test_an_example_that_alone_fixes_its_outputs_has_no_answer(rng):
    """A parameter of its own, without decay: leverage 1, and an infinite loss instead of a large number."""
    x, y = np.hstack([rng.normal(size=(20, 2)), np.eye(20)[:, :1]]), rng.normal(size=20)
    found = of_linear(np.linalg.lstsq(x, y)[0], x, y, 0.0)
    assert np.isnan(found.outputs[0]).all() and np.isfinite(found.outputs[1:]).all()
    assert found.losses[0] == np.inf == found.mean_loss == found.standard_error
    assert not found.trusted[0] and "1 have no answer" in found.statement
    right = np.tile([3.0, -3.0], (20, 1)), np.eye(2)[[0] * 20]
    jacobian, rest = x[:, None] * [[1.0], [-1.0]], (*np.zeros((2, 3)), "cross-entropy")
    assert leave_one_out(jacobian, *right, *rest).error_rate == 1 / 20
    assert leave_one_out(jacobian, right[0], 0.8 * right[1] + 0.1, *rest).error_rate is None, "these are no labels"


def test_a_total_near_the_number_of_examples_is_said(rng):
    x, y = rng.normal(size=(12, 10)), rng.normal(size=12)
    found = of_linear(ridge(x, y, 0.1 * np.eye(10)), x, y, 0.1)
    assert f"The total is {found.total / 12:.0%} of the numbers fitted" in found.statement


def test_what_does_not_fit_into_memory_is_refused_before(monkeypatch):
    monkeypatch.setenv("CAPCORE_MEMORY", "1e3")
    with pytest.raises(cc.TooLargeError, match="linearised: found 9 examples of 3 outputs and 5 parameters"):
        leave_one_out(*arrays(0, "squared"))


def test_shown_and_as_a_table():
    pytest.importorskip("pandas")
    found = leave_one_out(*arrays(0, "cross-entropy"))
    frame = found.to_dataframe()
    assert frame.index.name == "example" and frame["loss_left_out"].mean() == pytest.approx(found.mean_loss)
    assert all(frame.attrs["units"][name] for name in frame.columns)
    assert frame["trusted"].tolist() == found.trusted.tolist()
    shown = found._repr_html_()
    assert all(part in shown for part in ("<caption>Leave-one-out<", escape(found.statement), "error rate left out"))
