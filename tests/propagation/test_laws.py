"""Closed forms satisfy their equations, and the moments of a stack are those of its capacity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import skellam

import capcore.propagation as pg
from capcore.propagation.evolution import Segment
from chapters.scaling_conjecture_recurrent.memory import forgetting
from chapters.scaling_pdes_layers.study import source_kernel
from tests.strategies import seeds


@given(st.floats(0.2, 5), st.floats(-2, 2), st.floats(0, 2), st.floats(0.3, 2), st.floats(-3, 3))
def test_the_heat_kernel_solves_the_equation(d, v, alpha, t, x) -> None:
    """∂_t π = D π'' − v π' − α π by central differences of step h, exact to h² times fourth derivatives."""
    equation, h = pg.LimitCoefficients(d, v, alpha), 1e-3
    pi = lambda x, t: float(pg.heat_kernel(x, t, equation))  # noqa: E731
    in_time = (pi(x, t + h) - pi(x, t - h)) / (2 * h)
    slope = (pi(x + h, t) - pi(x - h, t)) / (2 * h)
    bend = (pi(x + h, t) - 2 * pi(x, t) + pi(x - h, t)) / h**2
    assert in_time == pytest.approx(d * bend - v * slope - alpha * pi(x, t), abs=2e-2)


@pytest.mark.parametrize("x", [0.0, 0.7, 3.0, -5.0])
def test_the_source_kernel_is_the_integral_of_the_heat_kernel(x: float) -> None:
    d, t = 1.7, 0.9
    # s = u² takes the square-root singularity at the origin away
    integral, _ = quad(lambda u: 2 * u * pg.heat_kernel(x, u**2, pg.LimitCoefficients(d, 0.0)), 1e-12, np.sqrt(t))
    assert source_kernel(x, t, d) == pytest.approx(integral, abs=1e-10)


@given(st.floats(0.05, 4), st.floats(0.05, 4))
def test_the_nearest_neighbour_law_is_that_of_the_generator(right: float, left: float) -> None:
    start = np.zeros(81)
    start[40] = 1
    rates = pg.ConvolutionTransport.of_offsets({-1: left, 1: right})
    expected = skellam.pmf(np.arange(81) - 40, right, left)
    assert np.abs(pg.evolve(start, [Segment(1.0, rates)]).final[:, 0] - expected).max() < 1e-12


@pytest.mark.parametrize("alpha", [0.0, 0.5, 2.0, 8.0])
def test_recurrent_networks_forget_exponentially(alpha: float) -> None:
    n = 64
    step = pg.residual(pg.ConvolutionTransport.of_offsets({-1: 1.0, 1: 1.0}), n)
    result = pg.propagate(np.ones(8) / 8, [pg.Layer.leaky(step, side=alpha / n)] * n)
    np.testing.assert_allclose(result.side_mass[::-1], forgetting(alpha, n), atol=1e-14)
    assert forgetting(alpha, n).sum() + result.masses["input"] == pytest.approx(1, rel=1e-13)


@given(st.integers(1, 5), seeds, st.booleans())
def test_moments_of_a_stack(n_layers: int, seed: int, two: bool) -> None:
    """By cumulants, and by summing over the capacity that arrives."""
    rng = np.random.default_rng(seed)
    shape = (63, 41) if two else (201,)
    layers = [
        pg.ConvolutionTransport.of_weights(
            rng.normal(size=(1, *(3,) * len(shape), 1)), int(rng.integers(1, 5))
        ).normalised()
        for _ in range(n_layers)
    ]
    start = np.zeros(shape)
    start[tuple(n // 2 for n in shape)] = 1
    arrived = pg.propagate(start, layers, boundary="absorbing")
    assert arrived.masses["boundary"] == 0
    field = pg.displacement(layers)
    for axis, n in enumerate(shape):
        p = arrived.per_position.sum(axis=1 - axis) if two else arrived.per_position
        x = np.arange(n) - n // 2
        away = x - p @ x
        variance = p @ away**2
        assert field.mean[axis] == pytest.approx(p @ x, abs=1e-10)
        assert field.covariance[axis, axis] == pytest.approx(variance, rel=1e-10)
        assert field.excess_kurtosis[axis] == pytest.approx(p @ away**4 / variance**2 - 3, abs=1e-8)
    if two:
        p, (x, y) = arrived.per_position, (np.arange(n) - n // 2 for n in shape)
        cross = x @ p @ y - (x @ p.sum(axis=1)) * (p.sum(axis=0) @ y)
        assert field.covariance[0, 1] == pytest.approx(cross, abs=1e-9)


@pytest.mark.parametrize("n_layers", [12, 16, 24])
def test_dilated_layers_are_not_gaussian(n_layers: int) -> None:
    """Excess kurtosis 0.3 N − 1.8 at λ = 2, a = 1, up to terms of order N 4^{−N}."""
    step = pg.residual(pg.ConvolutionTransport.of_offsets({-1: 1.0, 1: 1.0}), n_layers)
    field = pg.displacement([step.dilated(2**level) for level in range(n_layers)])
    assert field.covariance[0, 0] == pytest.approx(2 * (4**n_layers - 1) / (3 * n_layers), rel=1e-12)
    assert field.excess_kurtosis[0] == pytest.approx(0.3 * n_layers - 1.8, abs=1e-4)


@given(st.integers(2, 4), seeds)
def test_evenly_mixed_channels_follow_one_law(channels: int, seed: int) -> None:
    """Lumpable layers: the sum over channels evolves alone, whatever the capacity of each channel."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.ones(channels), size=(3, channels))  # of each tap, from each channel to all
    taps = rng.uniform(size=3)
    kernel = np.einsum("t,tac->cta", taps, share)
    layer = pg.ConvolutionTransport(kernel).normalised()
    output = rng.uniform(size=(9, channels))
    many = pg.propagate(output, [layer] * 5).per_position
    one = pg.propagate(output.sum(axis=1), [pg.lumped(layer)] * 5).per_position
    np.testing.assert_allclose(many, one, rtol=1e-13)
    rates = pg.residual(layer, 8)
    assert pg.LimitCoefficients.of_rates(rates).drift.shape == (1,)
