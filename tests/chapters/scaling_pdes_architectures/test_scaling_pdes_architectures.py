"""Channels that collapse, and several axes by two routes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.propagation import ConvolutionTransport, LimitCoefficients, heat_kernel, propagate, residual
from chapters.scaling_pdes.study import total_variation
from chapters.scaling_pdes_architectures import study
from tests.strategies import seeds


@given(st.integers(1, 6), seeds, st.sampled_from(["uniform", "lumpable"]), st.sampled_from([8, 100, 4096]))
def test_equal_totals_collapse(channels, seed, kind, n_layers):
    rng = np.random.default_rng(seed)
    rates = study.mixing_rates(kind, channels, rng)
    np.testing.assert_allclose(rates.weights.sum(axis=0), np.array(study.TAP_TOTALS)[:, None].repeat(channels, 1))
    assert study.collapse_gap(rates, n_layers, rng) < 1e-14


def test_free_rates_do_not_collapse():
    rates = study.mixing_rates("free", 4, np.random.default_rng(1))
    with pytest.raises(ValueError, match="differs by"):
        study.collapse_gap(rates, 64, np.random.default_rng(0))
    assert total_variation(*study.other_channel(rates, 64)) > 0.01


def test_the_two_ends_layer_by_layer():
    rates = study.mixing_rates("free", 3, np.random.default_rng(2))
    for channel, end in enumerate(study.other_channel(rates, 32)):
        start = np.zeros((64, 3))
        start[32, channel] = 1
        slow = propagate(start, [residual(rates, 32)] * 32).per_position
        np.testing.assert_allclose(end, slow, atol=1e-14)


@pytest.mark.parametrize(("channels", "taps"), [(4, 1), (16, 3), (64, 9)])
def test_xavier_conserves_on_average(channels, taps):
    rng = np.random.default_rng(0)
    assert study.squared_sum(channels, taps, study.xavier_variance(channels, taps), rng) == pytest.approx(1, rel=0.02)
    assert study.squared_sum(channels, taps, 1 / channels, rng) == pytest.approx(taps, rel=0.02)


def test_eight_neighbours_by_both_routes():
    rates = ConvolutionTransport(study.EIGHT_NEIGHBOURS)
    assert study.origin_by_transform(rates, 41) == pytest.approx(0.0682041942, abs=1e-10)
    assert study.origin_by_quadrature(rates) == pytest.approx(study.origin_by_transform(rates, 41), abs=1e-14)
    assert heat_kernel([0.0, 0.0], 1.0, LimitCoefficients.of_rates(rates)) == pytest.approx(0.0530516477, abs=1e-10)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_the_covariance_of_what_arrives(ndim):
    rates = study.random_rates(ndim, np.random.default_rng(ndim))
    for n_layers in (8, 64):
        assert study.covariance_gap(rates, n_layers, 49) < 1e-9


def test_orders_on_a_plane():
    rates = study.random_rates(2, np.random.default_rng(5))
    gaps = [study.lattice_distance(rates, n) for n in (512, 1024)]
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(1, abs=0.02)
    heat = [study.heat_gap(ConvolutionTransport(study.DIAGONAL * s), 121) for s in (16, 32)]
    assert np.log2(heat[0] / heat[1]) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("ndim", [1, 2])
@pytest.mark.parametrize("size", [3, 5, 9])
def test_the_variance_of_a_full_kernel(ndim, size):
    assert study.variance_per_axis(size, ndim, 64) == pytest.approx((size**2 - 1) / 12, rel=1e-12)
