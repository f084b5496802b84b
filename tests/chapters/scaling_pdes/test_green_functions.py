"""Integral forms: against closed forms, solutions by Fourier, brute-force sums, and layers at an edge."""

import numpy as np
import pytest
from scipy.integrate import quad

from capcore.propagation import LimitCoefficients, Segment, evolve, heat_kernel, propagate, residual, source_kernel
from chapters.scaling_pdes import paths as green
from chapters.scaling_pdes.study import neighbours, one_output, total_variation


def test_the_average_of_a_gaussian_is_a_gaussian():
    x = np.linspace(-20, 20, 9)
    start, end = (LimitCoefficients(np.array([[d]]), np.zeros(1)) for d in (3.0, 8.0))
    found = green.gaussian_average(lambda y: heat_kernel(y, 1.0, start), x, 2 * np.sqrt(5.0))
    np.testing.assert_allclose(found, heat_kernel(x, 1.0, end), atol=1e-14)


def test_the_printed_form_of_equation_4():
    """The same without the change of variables, at one position."""
    x, spread = 5.0, 2 * np.sqrt(7.0)
    printed = quad(
        lambda y: np.exp(-((x - y) ** 2) / 28) / np.sqrt(28 * np.pi) * float(green.two_regions(np.array(y))),
        -80,
        90,
        limit=400,
        points=[-24, 5, 24],
    )[0]
    assert green.gaussian_average(green.two_regions, np.array([x]), spread)[0] == pytest.approx(printed, rel=1e-9)


@pytest.mark.parametrize("strengths", [[1.0], [1.0, 0.0], [0.0, 1.0], [0.3, 0.0, 1.0]], ids=str)
def test_sources_by_quadrature_and_by_fourier(strengths):
    integral, solved = green.two_routes(np.arange(-90.0, 91.0), 4.0, strengths)
    np.testing.assert_allclose(integral, solved, atol=1e-9)


def test_time_runs_from_the_output():
    """Early sources have spread further than late ones."""
    early, late = (green.two_routes(np.arange(-90.0, 91.0), 16.0, s)[0] for s in ([1.0, 0.0], [0.0, 1.0]))
    assert early[90] < late[90]
    assert early.sum() == pytest.approx(late.sum(), rel=1e-9)


def test_a_gaussian_source_is_a_difference_of_source_kernels():
    """A Gaussian of variance 2 D s₀ is a source at one position that started s₀ earlier, without its last s₀."""
    x, d, start = np.array([0.0, 2.0, 5.0]), 4.0, 0.25
    found = green.sources_until_now(lambda y: np.exp(-(y**2) / 4) / np.sqrt(4 * np.pi), x, d, [1.0])
    expected = source_kernel(x, 1.0 + start, d) - source_kernel(x, start, d)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_leaked_density_adds_up_and_is_the_sum_over_short_times():
    x = np.arange(-50.0, 50.0, 0.25)
    found = green.leaked_density(x, 16.0, 3.0)
    assert found.sum() / 4 == pytest.approx(-np.expm1(-1.5), abs=1e-6)
    times = (np.arange(2000) + 0.5) / 2000
    flat = LimitCoefficients(np.array([[16.0]]), np.zeros(1))
    summed = np.mean([3 * t * np.exp(-1.5 * t**2) * heat_kernel(x, t, flat) for t in times], axis=0)
    np.testing.assert_allclose(found, summed, atol=1e-5)


@pytest.mark.parametrize("boundary", green.EDGES)
def test_images_are_what_layers_do_at_an_edge(boundary):
    d, distance = 16.0, 6
    x = np.arange(120)
    layers = [residual(neighbours(d), 1000)] * 1000
    found = propagate(one_output(x - distance), layers, boundary=boundary)
    assert total_variation(found.per_position, green.edge_law(x, distance, d, boundary)) < 0.004
    assert (found.masses["boundary"] > 0.1) == (boundary == "absorbing")


def test_images_solve_the_equation_with_its_boundary():
    x, d = np.arange(150), 30.0
    flat = LimitCoefficients(np.array([[d - 10]]), np.zeros(1))
    for boundary in ("absorbing", "reflecting"):
        start = green.edge_law(x, 20, 10.0, boundary)
        later = evolve(np.abs(start), [Segment(1.0, flat)], boundary).final[:, 0]
        np.testing.assert_allclose(later, green.edge_law(x, 20, d, boundary), atol=1e-9)


def test_an_unknown_edge_is_refused():
    with pytest.raises(ValueError, match="boundary: found 'periodic'"):
        green.edge_law(np.arange(3), 1, 1.0, "periodic")
