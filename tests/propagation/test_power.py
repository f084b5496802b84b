"""Powers of the symbol are the layers one by one, at any depth, with nothing lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.propagation import ConvolutionTransport, NoSymbolError, propagate, propagate_equal, residual
from capcore.propagation.fourier import Grid
from tests.strategies import all_of, seeds

EXACT = 1e-12


@st.composite
def square(draw: st.DrawFn, symmetric: bool = False) -> tuple[tuple[int, ...], ConvolutionTransport]:
    """Positions and one conserving layer with one or two axes and as many channels below as above."""
    ndim, channels = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(seeds))
    shape = tuple(draw(st.integers(4, 7)) for _ in range(ndim))
    kernel = rng.uniform(size=(channels, *(3,) * ndim, channels)) ** 2
    if symmetric:
        for axis in range(1, ndim + 1):
            kernel = kernel + np.flip(kernel, axis)
        return shape, ConvolutionTransport(kernel).normalised()
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


@given(square(symmetric=True), st.integers(1, 40), st.sampled_from(["reflecting", "absorbing"]), seeds)
def test_images_are_the_boundaries(layer, n_layers, boundary, seed) -> None:
    shape, transport = layer
    output = np.random.default_rng(seed).uniform(size=(*shape, transport.weights.shape[-1]))
    expected = propagate(output, [transport] * n_layers, boundary=boundary)
    assert np.abs(propagate_equal(output, transport, n_layers, boundary=boundary) - expected.input).max() < EXACT


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


@pytest.mark.parametrize("boundary", ["periodic", "reflecting", "absorbing"])
@pytest.mark.parametrize("shape", [(6,), (7,), (4, 5), (2, 3, 4), (1,)])
def test_the_transform_has_an_inverse(boundary: str, shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(4).normal(size=(*shape, 2))
    grid = Grid(shape, boundary)
    assert np.abs(grid.inverse(grid.transform(values)) - values).max() < 1e-14


@pytest.mark.parametrize(
    ("weights", "boundary", "parts"),
    [
        ({0: 0.5, 1: 0.5}, "reflecting", ["symmetric along every axis", "(1,) and (-1,)", "propagate"]),
        ({-2: 0.5, 2: 0.5}, "absorbing", ["jumps to neighbours only"]),
        ({0: 1.0}, "renormalised", ["no Fourier symbol"]),
        ({(1, 1): 0.5, (-1, -1): 0.5}, "reflecting", ["symmetric along every axis"]),
    ],
)
def test_boundaries_without_a_symbol_are_refused(weights, boundary, parts) -> None:
    transport = ConvolutionTransport.of_offsets(weights)
    with pytest.raises(NoSymbolError, match=all_of(parts)):
        propagate_equal(np.ones((5,) * transport.ndim), transport, 3, boundary=boundary)


def test_layers_that_cannot_be_repeated_are_refused() -> None:
    transport = ConvolutionTransport(np.ones((2, 1, 1)) / 2)
    with pytest.raises(ValueError, match=all_of(["found 1 channels above and 2 below", "equal numbers"])):
        propagate_equal(np.ones(4), transport, 2)
