"""Gradient, Hessian, retraction and trust region: against the dense matrices, finite differences and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import capcore as cc
from capcore.architectures.tensor_train import attainable_ranks, contract
from capcore.large.newton import Point, minimise_newton, trust_region_step
from capcore.large.quadratic import ToeplitzProblem, circulant_symbol, tangent_hessian
from capcore.large.retraction import lift, retract, round_train, shift


@st.composite
def points(draw: st.DrawFn) -> Point:
    """A train in general position, of at most 200 coefficients."""
    n_layers = draw(st.integers(1, 5))
    channels = draw(st.lists(st.integers(1, 4), min_size=n_layers - 1, max_size=n_layers - 1))
    sizes = draw(st.lists(st.integers(1, 3), min_size=n_layers, max_size=n_layers))
    return of(cc.Hierarchical(channels=channels, kernel_size=sizes), draw(st.integers(0, 99)))


def of(arch: cc.Hierarchical, seed: int, process: cc.Process | None = None) -> Point:
    rng = np.random.default_rng(seed)
    ranks = attainable_ranks([1, *arch.channels, 1], arch.kernel_sizes)
    problem = ToeplitzProblem.of(process or cc.PowerLaw(), arch.n_inputs)
    return Point(problem, round_train(arch.kernels(arch.init(rng)), ranks))


def dense(point: Point) -> np.ndarray:
    return cc.PowerLaw().covariance(point.problem.n_inputs)


def direction(point: Point, seed: int = 0) -> tuple[np.ndarray, float]:
    """A unit tangent vector, and a length over which the manifold hardly bends."""
    x = np.random.default_rng(seed).normal(size=point.space.dimension)
    smallest = min((np.linalg.svd(m, compute_uv=False)[-1] for m in point.bonds), default=1.0)
    return x / np.linalg.norm(x), float(smallest)


@given(points())
def test_the_hessian_by_levels_is_that_of_the_listed_basis(point: Point) -> None:
    basis, covariance = point.space.basis(), dense(point)
    found = tangent_hessian(point.space, covariance[0], 0 * covariance[0], point.bonds)
    np.testing.assert_allclose(found, basis.T @ covariance @ basis, atol=1e-12)
    np.testing.assert_allclose(point.gradient, basis.T @ covariance @ point.error, atol=1e-12)
    full = point.hessian()
    np.testing.assert_array_equal(full, full.T)


@pytest.mark.parametrize("channels", [1, 2, 3, [2, 3, 1, 2]], ids=str)
@pytest.mark.parametrize("kernel_size", [2, [3, 2, 1, 2, 3]], ids=str)
def test_gradient_and_hessian_are_the_derivatives_of_the_loss_along_the_retraction(
    channels: int | list[int], kernel_size: int | list[int]
) -> None:
    for seed in range(3):
        point = of(cc.Hierarchical(channels=channels, n_layers=5, kernel_size=kernel_size), seed)
        x, reach = direction(point, seed)
        h = 0.02 * reach
        losses = [Point(point.problem, retract(point.space, point.cores, k * h * x)).loss for k in range(-3, 4)]
        first = np.array([-1, 9, -45, 0, 45, -9, 1]) @ losses / (60 * h)
        second = np.array([2, -27, 270, -490, 270, -27, 2]) @ losses / (180 * h**2)
        assert first == pytest.approx(2 * point.gradient @ x, rel=1e-5, abs=1e-7)
        # Central differences of sixth order: about 1e-15/h² of rounding and (h/reach)⁶ of truncation.
        tolerance = 1e-5 + 1e-13 / h**2
        assert second == pytest.approx(2 * x @ point.hessian() @ x, rel=tolerance)


@given(points())
def test_bond_matrices_have_the_singular_values_of_the_unfoldings(point: Point) -> None:
    extent = 1
    for taps, bond in zip(point.space.kernel_sizes, point.bonds, strict=False):
        extent *= taps
        unfolding = point.coefficients.reshape(-1, extent)
        expected = np.linalg.svd(unfolding, compute_uv=False)[: len(bond)]
        np.testing.assert_allclose(np.linalg.svd(bond, compute_uv=False), expected, atol=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_the_retraction_is_of_second_order_and_a_shift_of_first(seed: int) -> None:
    """Its distance from A + T x falls with x², the tangent part of that with x³."""
    point = of(cc.Hierarchical(channels=[2, 3, 2, 2], n_layers=5), seed)
    x, reach = direction(point, seed)
    steps = 0.05 * reach * 0.5 ** np.arange(3)
    for move, order in ((retract, 3), (shift, 2)):
        gaps, tangent = [], []
        for h in steps:
            gap = contract(move(point.space, point.cores, h * x)) - point.coefficients - point.space.expand(h * x)
            gaps.append(np.linalg.norm(gap))
            tangent.append(np.linalg.norm(point.space.project(gap)))
        np.testing.assert_allclose(np.log2(np.divide(gaps[:-1], gaps[1:])), 2, atol=0.15)
        assert np.log2(tangent[0] / tangent[-1]) / 2 > order - 0.15


@given(points(), st.integers(0, 99))
def test_rounding_and_shifts_of_nothing_change_nothing(point: Point, seed: int) -> None:
    zero = np.zeros(point.space.dimension)
    for move in (retract, shift):
        cores = move(point.space, point.cores, zero)
        np.testing.assert_allclose(contract(cores), point.coefficients, atol=1e-13)
        assert [core.shape for core in cores] == [core.shape for core in point.cores]
    ranks = [*point.space.ranks_below, 1]
    lifted = lift(point.cores, ranks, 1e-3, np.random.default_rng(seed))
    assert np.linalg.norm(contract(lifted) - point.coefficients) < 0.1


@given(st.integers(1, 5), st.integers(0, 200), st.sampled_from(["any", "convex", "hard"]), st.floats(-3, 3))
def test_a_trust_region_step_is_the_least_of_its_ball(size: int, seed: int, kind: str, exponent: float) -> None:
    rng = np.random.default_rng(seed)
    values = np.sort(rng.normal(size=size))
    if kind == "convex":
        values = np.abs(values) + 0.1
        values.sort()
    vectors = np.linalg.qr(rng.normal(size=(size, size)))[0]
    g = rng.normal(size=size)
    if kind == "hard":
        values[0] = -1.0
        values.sort()
        g -= vectors[:, 0] * (vectors[:, 0] @ g)
    radius = 10.0**exponent
    hessian = vectors @ np.diag(values) @ vectors.T

    x, predicted = trust_region_step(values, vectors, g, radius)
    assert predicted == pytest.approx(-float(2 * g @ x + x @ hessian @ x), rel=1e-9, abs=1e-12)
    # Necessary and sufficient (corollary 7.2.2 there): (H + λI) x = −g, λ ≥ 0, H + λI ≥ 0, λ (r − ‖x‖) = 0.
    length = np.linalg.norm(x)
    assert length <= radius * (1 + 1e-8)
    slope = g + hessian @ x
    multiplier = -float(x @ slope) / length**2
    scale = np.linalg.norm(g) + np.abs(values).max() * length
    assert np.linalg.norm(slope + multiplier * x) <= 1e-7 * scale
    assert multiplier >= -1e-7 * scale / length and values[0] + multiplier >= -1e-7 * scale / length
    assert multiplier * (radius - length) <= 1e-7 * scale


def test_convergence_is_quadratic() -> None:
    end = minimise_newton(of(cc.Hierarchical(channels=2, n_layers=8), 0), tolerance=1e-10).point
    x, reach = direction(end)
    near = Point(end.problem, retract(end.space, end.cores, 1e-3 * reach * x))
    one, two = (minimise_newton(near, max_iterations=steps, tolerance=1e-10).point.stationarity for steps in (1, 2))
    assert one < 0.1 * near.stationarity and two < 1e-3 * one


def test_negative_curvature_is_no_resting_place() -> None:
    """At a saddle, a stationary point of the model with one channel that two channels leave, Newton goes on."""
    one = minimise_newton(of(cc.Hierarchical(channels=1, n_layers=5), 0), tolerance=1e-10).point
    cores = lift(one.cores, [1, 2, 2, 2, 2, 1], 1e-6, np.random.default_rng(0))
    two = minimise_newton(Point(one.problem, cores))
    assert two.converged and two.point.loss < 0.1 * one.loss


def test_an_exact_saddle_is_left() -> None:
    """Of a target in two parts, with white noise, the smaller part alone is stationary to the last bit."""
    white, second_tap = np.eye(4)[0], np.array([[[0.0], [1.0]]])
    problem = ToeplitzProblem(white, np.array([2.0, 0.0, 0.0, 1.0]), 1.0, 1e-16, circulant_symbol(white))
    saddle = Point(problem, [second_tap, second_tap])
    assert saddle.stationarity < 1e-15 and saddle.loss == pytest.approx(4)
    end = minimise_newton(saddle)
    assert end.converged and end.point.loss == pytest.approx(1)
