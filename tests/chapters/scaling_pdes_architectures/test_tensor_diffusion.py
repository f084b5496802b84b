"""Several axes: published values, two routes to the origin, moments, orders and kernel sizes."""

import numpy as np
import pytest

from capcore.propagation import ConvolutionTransport, LimitCoefficients, heat_kernel, nearest_neighbour_law
from chapters.scaling_pdes_architectures import tensor_diffusion as study


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


def test_quadrature_of_one_axis():
    rates = ConvolutionTransport.of_offsets({-1: 1.5, 1: 0.5})
    assert study.origin_by_quadrature(rates) == pytest.approx(float(nearest_neighbour_law([0], 0.5, 1.5)[0]), abs=1e-14)


def test_the_diagonal_rates_have_no_drift_and_a_correlation():
    limit = LimitCoefficients.of_rates(ConvolutionTransport(study.DIAGONAL))
    np.testing.assert_allclose(limit.drift, 0, atol=1e-15)
    assert limit.diffusion[0, 1] > 0.3 * limit.diffusion[0, 0]


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


def test_bad_axes_are_refused():
    with pytest.raises(ValueError, match="ndim: found 0"):
        study.random_rates(0, np.random.default_rng(0))
    with pytest.raises(ValueError, match="size: found 0"):
        study.variance_per_axis(0, 2, 8)
