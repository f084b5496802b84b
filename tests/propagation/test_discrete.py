"""Any stack is the product of its squared matrices; nothing is lost but what is accounted for."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from capcore.propagation import BOUNDARIES, ConvolutionTransport, Layer, MatrixTransport, propagate
from tests.strategies import seeds

EXACT = 1e-12  # sums of at most a few thousand numbers of order one


def fold(position: int, n: int, boundary: str) -> int | None:
    """Where capacity lands, walked one reflection at a time."""
    if boundary == "periodic":
        return position % n
    while not 0 <= position < n:
        if boundary != "reflecting":
            return None
        position = -1 - position if position < 0 else 2 * n - 1 - position
    return position


def dense(layer: ConvolutionTransport, shape: tuple[int, ...], boundary: str) -> np.ndarray:
    """The operator, entry by entry."""
    below, above = layer.weights.shape[0], layer.weights.shape[-1]
    matrix = np.zeros((*shape, below, *shape, above))
    for start in np.ndindex(*shape):
        for tap in np.ndindex(*layer.weights.shape[1:-1]):
            steps = [(t - o) * k for t, o, k in zip(tap, layer.origin, layer.dilation, strict=True)]
            end = [fold(y + j, n, boundary) for y, j, n in zip(start, steps, shape, strict=True)]
            if None not in end:
                for i, o in product(range(below), range(above)):
                    matrix[(*end, i, *start, o)] += layer.weights[(i, *tap, o)]
    matrix = matrix.reshape(int(np.prod(shape)) * below, -1)
    if boundary == "renormalised":
        matrix *= np.tile(layer.sums, int(np.prod(shape))) / matrix.sum(axis=0)
    return matrix


@st.composite
def convolutions(draw: st.DrawFn, ndim: int, below: int, above: int) -> ConvolutionTransport:
    """Column-stochastic, with random taps, dilations and origins."""
    numbers = lambda low, high: tuple(draw(st.integers(low, high)) for _ in range(ndim))  # noqa: E731
    taps, dilation = numbers(1, 3), numbers(1, 3)
    origin = tuple(draw(st.integers(0, size - 1)) for size in taps)
    rng = np.random.default_rng(draw(seeds))
    kernel = rng.normal(size=(below, *taps, above))
    return ConvolutionTransport.of_weights(kernel, dilation, origin).normalised()


@st.composite
def stacks(draw: st.DrawFn) -> tuple[tuple[int, ...], list[ConvolutionTransport]]:
    """Positions and layers with one or two axes and up to three channels."""
    ndim = draw(st.integers(1, 2))
    shape = tuple(draw(st.integers(7, 9)) for _ in range(ndim))
    channels = draw(st.lists(st.integers(1, 3), min_size=2, max_size=4))
    return shape, [draw(convolutions(ndim, a, b)) for a, b in pairwise(channels)]


@given(stacks(), st.sampled_from(BOUNDARIES), seeds)
def test_a_stack_is_the_product_of_its_matrices(stack, boundary, seed) -> None:
    shape, layers = stack
    output = np.random.default_rng(seed).uniform(size=(*shape, layers[-1].weights.shape[-1]))
    if boundary == "renormalised":  # what leaves must not be all there is
        assume(all(np.all(dense(layer, shape, "absorbing").sum(axis=0) > 0) for layer in layers))
    result = propagate(output, layers, boundary=boundary)
    expected = output.reshape(-1)
    for layer in reversed(layers):
        expected = dense(layer, shape, boundary) @ expected
    assert np.abs(result.input.reshape(-1) - expected).max() < EXACT
    assert abs(result.imbalance) < EXACT
    if boundary != "absorbing":
        assert result.masses["boundary"] == 0
        assert result.input.sum() == pytest.approx(output.sum(), rel=EXACT)


def test_renormalised_edges_conserve_where_hardly_anything_stays_inside() -> None:
    """Of the columns 1.7e-9 stay: as what is left of 1, this would have 7 digits less than as their own sum."""
    layer = ConvolutionTransport.of_offsets({0: 1e-9, 1: 7e-10, 3: 1.0}).normalised()
    result = propagate(np.ones(4), [layer], boundary="renormalised")
    assert result.input.sum() == pytest.approx(4, rel=EXACT) and abs(result.imbalance) < EXACT


@given(stacks(), st.sampled_from(["periodic", "absorbing", "reflecting"]), seeds, st.floats(0, 0.4), st.floats(0, 0.4))
def test_leaks_sources_and_boundaries_are_accounted_for(stack, boundary, seed, side, bias) -> None:
    shape, convolutions = stack
    rng = np.random.default_rng(seed)
    layers = [Layer.leaky(layer, side, bias) for layer in convolutions]
    widths = [convolutions[0].weights.shape[0], *(layer.weights.shape[-1] for layer in convolutions)]
    sources = {level: rng.uniform(size=(*shape, width)) for level, width in enumerate(widths)}
    result = propagate(sources[len(layers)], layers, boundary=boundary, sources=sources, keep=True)
    assert abs(result.imbalance) < EXACT
    assert [state.shape[-1] for state in result.states] == widths
    reaching = [float(state.sum()) for state in result.states]
    np.testing.assert_allclose(result.side_mass, side * np.array(reaching[1:]), atol=EXACT)
    np.testing.assert_allclose(result.bias_mass, bias * np.array(reaching[1:]), atol=EXACT)
    for level, layer in enumerate(convolutions, 1):
        kept = dense(layer, shape, boundary).sum(axis=0) @ result.states[level].reshape(-1)
        lost = reaching[level] - kept if boundary == "absorbing" else 0.0
        assert result.boundary_mass[level - 1] == pytest.approx(lost * (1 - side - bias), abs=1e-10)


@given(st.lists(st.integers(1, 5), min_size=2, max_size=5), seeds)
def test_matrices(widths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = [rng.normal(size=pair) for pair in pairwise(widths)]
    output = rng.uniform(size=widths[-1])
    expected = np.linalg.multi_dot([w**2 for w in [*weights, np.eye(widths[-1])]]) @ output
    raw = propagate(output, [MatrixTransport.of_weights(w) for w in weights], conserve=False)
    np.testing.assert_allclose(raw.input[:, 0], expected, rtol=EXACT)
    normal = propagate(output, [MatrixTransport.of_weights(w).normalised() for w in weights])
    assert abs(normal.imbalance) < EXACT


def test_skips_inside_the_network_are_paths_of_their_own() -> None:
    """Two layers below a residual block, X₃ = X₁ + W₃ f(W₂ X₁): the block's matrix is s I + W₂∘W₂ · W₃∘W₃."""
    rng = np.random.default_rng(1)
    w1, w2, w3 = (MatrixTransport.of_weights(rng.normal(size=(4, 4))).normalised() for _ in range(3))
    identity = MatrixTransport(0.7 * np.eye(4))
    block = Layer(w3.scaled(0.3), skips={1: identity})
    output = rng.uniform(size=4)
    one, two, three = (w.weights.toarray() for w in (w1, w2, w3))
    expected = one @ (0.7 * np.eye(4) + two @ (0.3 * three)) @ output
    result = propagate(output, [w1, w2, block])
    np.testing.assert_allclose(result.input[:, 0], expected, rtol=EXACT)
    assert abs(result.imbalance) < EXACT


def test_skips_lose_capacity_at_the_boundary_too_and_side_inputs_do_not() -> None:
    to_the_right = ConvolutionTransport.of_offsets({1: 1.0})
    layer = Layer(to_the_right.scaled(0.5), side=0.3, skips={0: to_the_right.scaled(0.2)})
    below = ConvolutionTransport.of_offsets({0: 1.0})
    result = propagate([1.0, 2.0, 4.0], [below, layer], boundary="absorbing")
    assert result.boundary_mass.tolist() == pytest.approx([0, 2.8])
    np.testing.assert_allclose(result.per_position, [0, 0.7, 1.4], rtol=EXACT)
    assert result.masses["side"] == pytest.approx(2.1) and abs(result.imbalance) < EXACT
