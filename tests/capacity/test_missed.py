"""The share of a small event that a model misses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import capcore as cc

PROCESSES = [cc.PowerLaw(), cc.AR1(0.9), cc.DampedCosine(0.05, 9.0), cc.FractionalGaussianNoise(0.8)]


def directly(arch, params, covariance):
    """E_k / Σ_kk by the oblique projection R."""
    jacobian = arch.jacobian(params)
    left = np.eye(len(covariance)) - jacobian @ np.linalg.pinv(jacobian.T @ covariance @ jacobian) @ (
        jacobian.T @ covariance
    )
    return np.diag(left.T @ covariance @ left) / np.diag(covariance)


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("method", ["dense", "streamed", "sketch"])
def test_the_missed_share_is_that_of_the_oblique_projection(process, method):
    arch = cc.Hierarchical(channels=2, n_layers=5)
    params = arch.init(np.random.default_rng(0))
    missed = cc.allocate(arch, params, process, method=method).missed
    assert_allclose(missed, directly(arch, params, process.covariance(arch.n_inputs)), atol=1e-9)


@pytest.mark.parametrize("n_layers", [9, 11])
def test_the_streamed_share_is_the_dense_one_over_several_chunks(n_layers):
    arch, process = cc.Hierarchical(channels=2, n_layers=n_layers), cc.PowerLaw()
    params = arch.init(np.random.default_rng(0))
    dense, streamed = (cc.allocate(arch, params, process, method=method).missed for method in ("dense", "streamed"))
    assert_allclose(streamed, dense, atol=1e-9)


@pytest.mark.parametrize("strength", [0.01, -2.0])
def test_of_a_linear_model_it_is_what_a_planted_event_costs(strength):
    """Where coefficients are linear in the parameters the second order is all there is."""
    arch, process = cc.NearAndPools(near=4, pools=3), cc.PowerLaw()
    covariance, (target, _) = process.covariance(arch.n_inputs), process.predictor(arch.n_inputs)
    before = cc.fit(arch, process)
    missed = cc.allocate(arch, before, process).missed
    for lag in (0, 5, arch.n_inputs - 1):
        event = strength * np.eye(arch.n_inputs)[lag]
        losses = [cc.fit(arch, cc.FromCovariance(covariance, target=target + sign * event)).loss for sign in (1, -1)]
        cost = (sum(losses) / 2 - before.loss) / (strength**2 * covariance[lag, lag])
        assert_allclose(cost, missed[lag], atol=1e-9)


def test_several_components_share_a_position():
    arch = cc.Hierarchical(channels=2, n_layers=3, input_dim=2)
    mixed = np.random.default_rng(1).normal(size=(16, 40))
    covariance = mixed @ mixed.T
    problem = cc.FromCovariance(covariance, target=np.ones(16))
    params = arch.init(np.random.default_rng(0))
    by_component = directly(arch, params, covariance) * np.diag(covariance)
    expected = by_component.reshape(8, 2).sum(axis=1) / np.diag(covariance).reshape(8, 2).sum(axis=1)
    for method in ("dense", "sketch"):
        assert_allclose(cc.allocate(arch, params, problem, method=method).missed, expected, atol=1e-9)


@pytest.mark.parametrize(("channels", "expected"), [(8, 0.0), (1, None)])
def test_a_model_that_follows_every_change_misses_nothing(channels, expected):
    arch, process = cc.Hierarchical(channels=channels, n_layers=4), cc.PowerLaw()
    allocation = cc.allocate(arch, arch.init(np.random.default_rng(0)), process)
    assert (allocation.missed.max() < 1e-9) == (expected == 0.0)
    assert allocation.to_dataframe()["missed"].between(0, 1).all()


def test_octaves_list_no_inputs_and_so_no_missed_share():
    arch, process = cc.Hierarchical(channels=1, n_layers=4), cc.PowerLaw()
    allocation = cc.allocate(arch, arch.init(np.random.default_rng(0)), process, method="octaves")
    with pytest.raises(AttributeError, match="missed: found a result of method 'octaves'"):
        allocation.missed  # noqa: B018
