"""Layers tend to the lattice law with an error of order 1/N, and that to the heat equation with one of order 1/D."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import capcore.propagation as pg
from tests.propagation.routes import evolve_dense
from tests.strategies import seeds

DEPTHS = [64, 128, 256, 512, 1024]
SYMMETRIC = {-1: 1.0, 1: 1.0}


def point(n: int, where: int | tuple[int, ...]) -> np.ndarray:
    values = np.zeros(n if isinstance(where, int) else (n,) * len(where))
    values[where] = 1
    return values


def order(errors: list[float]) -> float:
    """Exponent p of errors ∝ 2^{−pk}, from the last two."""
    return float(np.log2(errors[-2] / errors[-1]))


@pytest.mark.parametrize("rates", [SYMMETRIC, {-1: 0.3, 1: 2.0}, {3: 1.0}, {-2: 0.5, 1: 1.0, 5: 0.2}], ids=str)
@pytest.mark.parametrize("boundary", ["periodic", "absorbing", "reflecting", "renormalised"])
def test_first_order_to_the_lattice(rates: dict[int, float], boundary: str) -> None:
    generator = pg.ConvolutionTransport.of_offsets(rates)
    start = point(24, 5)
    limit = evolve_dense(start, [pg.Segment(1.0, generator)], boundary).final
    errors = []
    for n_layers in DEPTHS[:4]:
        layers = [pg.residual(generator, n_layers)] * n_layers
        errors.append(np.abs(pg.propagate(start, layers, boundary=boundary).input - limit).sum())
    assert abs(order(errors) - 1) < 0.03
    if boundary == "renormalised" and set(rates) != {-1, 1}:
        return  # far jumps: another generator at the edge than that of reflection
    if boundary in ("periodic", "renormalised"):
        other = "reflecting" if boundary == "renormalised" else "periodic"
        again = evolve_dense(start, [pg.Segment(1.0, generator)], other).final
        assert np.abs(again - limit).max() < 1e-12


@pytest.mark.parametrize(
    ("d", "lattice", "heat"), [(1.0, 0.3085083226, 0.2820947918), (4.0, 0.1434317819, 0.1410473959)]
)
def test_values_at_the_origin(d: float, lattice: float, heat: float) -> None:
    n, generator = 81, pg.ConvolutionTransport.of_offsets({-1: d, 1: d})
    start = point(n, 40)
    on_lattice = pg.evolve(start, [pg.Segment(1.0, generator)]).final[40, 0]
    assert on_lattice == pytest.approx(lattice, abs=1e-10)
    equation = pg.LimitCoefficients.of_rates(generator)
    assert pg.heat_kernel(0.0, 1.0, equation) == pytest.approx(heat, abs=1e-10)
    assert pg.propagate_equal(start, pg.residual(generator, 10**6), 10**6)[40, 0] == pytest.approx(lattice, abs=1e-6)


@settings(max_examples=8)
@given(st.floats(0.1, 3), st.floats(0.1, 3), st.integers(1, 3), st.integers(0, 2), seeds)
def test_transforms_and_dense_exponentials_agree(duration, leak, dilation, origin, seed) -> None:
    rng = np.random.default_rng(seed)
    rates = pg.ConvolutionTransport(rng.uniform(size=(1, 3, 1)), dilation, origin)
    start, source = rng.uniform(size=(2, 6, 1))
    segments = [pg.Segment(duration, rates, leak, source), pg.Segment(0.3, rates), pg.Segment(0.2, rates, 0.5)]
    fast, slow = pg.evolve(start, segments), evolve_dense(start, segments, "periodic")
    np.testing.assert_allclose(fast.final, slow.final, atol=1e-11)
    np.testing.assert_allclose(fast.leaked, slow.leaked, atol=1e-11)
    assert fast.supplied == pytest.approx(slow.supplied, rel=1e-13)
    assert fast.final.sum() + fast.leaked.sum() == pytest.approx(fast.supplied, rel=1e-12)


def test_the_equation_is_its_green_function() -> None:
    """A Gaussian that starts wide enough to be resolved stays one, and drifts, spreads and leaks as it should."""
    shape = (64, 48)
    coefficients = pg.LimitCoefficients([[3.0, 1.0], [1.0, 2.0]], [2.0, -1.0], leak=0.4)
    x = np.stack(np.meshgrid(np.arange(64) - 30, np.arange(48) - 24, indexing="ij"), axis=-1)
    start = pg.heat_kernel(x, 2.0, pg.LimitCoefficients(coefficients.diffusion, [0.0, 0.0]))
    final = pg.evolve(start, [pg.Segment(1.0, coefficients)]).final[..., 0]
    wide = pg.LimitCoefficients(3 * coefficients.diffusion, [2.0, -1.0], leak=0.4)
    np.testing.assert_allclose(final, pg.heat_kernel(x, 1.0, wide), atol=1e-6)  # of mass beyond the range
    assert final.shape == shape and final.sum() == pytest.approx(np.exp(-0.4), rel=1e-12)


@pytest.mark.parametrize("kind", ["lattice", "heat"])
def test_layers_that_change_tend_to_segments(kind: str) -> None:
    """Dilations and leaks that change from layer to layer: the limit of that very stack, to first order."""
    rates = pg.ConvolutionTransport.of_offsets({-1: 0.4, 2: 0.3})
    start = pg.heat_kernel(np.arange(256) - 128.0, 1.0, pg.LimitCoefficients(60.0, 0.0))
    segments = []  # from the output down, each a quarter of the layers
    for k in (8, 4, 2, 1):
        wider, leak = rates.dilated(k), k / 4 + 0.2
        heat = pg.LimitCoefficients.of_rates(wider, leak)
        segments.append(pg.Segment(0.25, wider, leak) if kind == "lattice" else pg.Segment(0.25, heat))
    limit = pg.evolve(start, segments)
    assert limit.supplied == pytest.approx(limit.final.sum() + limit.leaked.sum(), rel=1e-12)
    errors = []
    for n_layers in [64, 128, 256]:
        step = pg.residual(rates, n_layers)
        groups = [pg.Layer.leaky(step.dilated(k), side=k / 4 / n_layers, bias=0.2 / n_layers) for k in (1, 2, 4, 8)]
        result = pg.propagate(start, [layer for layer in groups for _ in range(n_layers // 4)])
        errors.append(np.abs(result.input - limit.final).sum())
    if kind == "lattice":
        assert abs(order(errors) - 1) < 0.05
    assert errors[-1] < 0.02
