"""Forecasters see what they should, what foretells is the package's, and costs are ranked as the page says."""

import jax
import numpy as np
import pytest

import capcore as cc
from chapters.trained_capacity import event_answers, trained_events
from chapters.trained_capacity.forecasters import FORECASTERS, N_INPUTS, first_params


@pytest.mark.parametrize("name", FORECASTERS)
def test_forecasts_see_the_past_alone_and_as_much_of_it_as_is_said(name):
    x, (apply, _) = np.random.default_rng(0).normal(size=1100), FORECASTERS[name]
    (seen,) = np.nonzero(jax.grad(lambda x: apply(first_params(name, 1), x)[1050])(x))
    assert seen.max() == 1050 and (name == "GRU" or seen.min() == 1051 - N_INPUTS[name])


def test_capacity_and_missed_share_are_the_package_s(monkeypatch):
    """To 1e-6: rounding of products by the condition number, which weight decay bounds."""
    monkeypatch.setattr(trained_events, "N_TRAIN", 80)
    monkeypatch.setattr(trained_events, "N_TEST", 20)
    monkeypatch.setattr(trained_events, "N_PROBED", 4)
    monkeypatch.setattr(trained_events, "TRAIN", slice(-100, -20))
    rng, lags, params = np.random.default_rng(2), [1, 7], first_params("transformer", 3)
    x = rng.normal(size=64 + 99)
    events = np.array([np.concatenate([np.zeros(lag), x[:-lag]]) for lag in lags])
    found = trained_events.foretelling("transformer", params, x, events, lags)
    apply, places = FORECASTERS["transformer"][0], np.arange(63, 143)
    windows = np.lib.stride_tricks.sliding_window_view(x, 64)[:80, ::-1]
    same = cc.allocate_network(
        lambda params, at: apply(params, x)[at], params, places, x[places], weight_decay=80 * trained_events.DECAY,
        subspaces={"inputs": cc.networks.inputs(windows)},
    )  # fmt: skip
    assert found["total"] == pytest.approx(same.total, rel=1e-6)
    np.testing.assert_allclose(found["capacity"], same.per_subspace["inputs"][lags], rtol=1e-6)
    left = windows[:, lags] - np.column_stack([same.response(windows[:, lag]).ravel() for lag in lags])
    np.testing.assert_allclose(found["missed"], (left**2).sum(axis=0) / (windows[:, lags] ** 2).sum(axis=0), rtol=1e-6)


def test_a_cost_is_near_its_missed_share():
    assert event_answers.near({"missed": [0.4, 0.4, 0.01], "cost": [0.45, 0.6, 0.029]}) == pytest.approx(2 / 3)
