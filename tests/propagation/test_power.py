"""Powers of the symbol are the layers one by one, at any depth, with nothing lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.propagation import ConvolutionTransport, propagate, propagate_equal, residual
from tests.strategies import seeds

EXACT = 1e-12


@st.composite
def square(draw: st.DrawFn) -> tuple[tuple[int, ...], ConvolutionTransport]:
    """Positions and one conserving layer with up to three axes and as many channels below as above."""
    ndim, channels = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(seeds))
    shape = tuple(draw(st.integers(1, 7)) for _ in range(ndim))
    kernel = rng.uniform(size=(channels, *(3,) * ndim, channels)) ** 2
    dilation = tuple(draw(st.integers(1, 3)) for _ in range(ndim))
    return shape, ConvolutionTransport(kernel, dilation, draw(st.integers(0, 2))).normalised()


@given(square(), st.integers(1, 40), seeds)
def test_periodic(layer, n_layers, seed) -> None:
    shape, transport = layer
    output = np.random.default_rng(seed).uniform(size=(*shape, transport.weights.shape[-1]))
    expected = propagate(output, [transport] * n_layers)
    result = propagate_equal(output, transport, n_layers)
    assert np.abs(result - expected.input).max() < EXACT
    assert result.sum() == pytest.approx(output.sum(), rel=EXACT)


@pytest.mark.parametrize("channels", [1, 2])
def test_a_million_layers(channels: int) -> None:
    """Against repeated squaring of the dense operator. Rates of order 1/N, so that the limit is not uniform."""
    n, n_layers = 24, 2**20
    rng = np.random.default_rng(3)
    rates = ConvolutionTransport(rng.uniform(size=(channels, 3, channels)))
    step = residual(rates, n_layers)
    output = np.zeros((n, channels))
    output[7, 0] = 1
    matrix = step.operator(output.shape)[0].toarray()
    for _ in range(20):
        matrix = matrix @ matrix
    result = propagate_equal(output, step, n_layers)
    assert np.abs(result.reshape(-1) - matrix @ output.reshape(-1)).max() < 1e-9  # 2^20 roundings of the dense matrix
    assert abs(result.sum() - 1) < EXACT
    assert 0.05 < result.max() < 0.9
