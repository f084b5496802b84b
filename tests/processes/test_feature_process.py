"""Features of a Gaussian process: moments against sampling and two-dimensional quadrature, targets, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import capcore as cc
from capcore.processes import FAMILIES
from capcore.processes.feature_process import FeatureProcess
from capcore.processes.features import Basis, Recombined
from capcore.processes.hermite import normal_quadrature
from tests.strategies import refused

every_basis = pytest.mark.parametrize("basis", Basis.__subclasses__())
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


@every_basis
@pytest.mark.parametrize("rho", [-0.8, -0.3, 0.0, 0.5, 0.8])
def test_mehler_is_a_double_integral(basis, rho):
    """E[φ(y) φ(ρy + √(1−ρ²) z)ᵀ] over a grid: kinks in the inner variable cost the quadrature some digits."""
    features = basis(3)
    y, w = normal_quadrature(features.kinks)
    z = rho * y[:, None] + np.sqrt(1 - rho**2) * y
    inner = np.einsum("m,kmj->kj", w, features(z.T).transpose(1, 0, 2))
    expected = features(y).T @ (w[:, None] * inner)
    found = FeatureProcess(cc.FromAutocovariance([1.0, rho]), features).autocovariance(2)[1]
    scale = np.sqrt(np.diag(features.second_moment()))
    assert_allclose(found / np.outer(scale, scale), expected / np.outer(scale, scale), atol=1e-6)


@every_family
def test_one_linear_feature_is_the_process_itself(family):
    """The trivial case φ(Y) = Y of the paper."""
    linear = FeatureProcess(family(), cc.Hermite(1), lambda y: y)
    assert_allclose(linear.covariance(12), family().covariance(12), atol=1e-13)
    target, variance = linear.predictor(12)
    assert_allclose(target, family().predictor(12)[0], atol=1e-9)
    assert variance == pytest.approx(family().predictor(12)[1], rel=1e-9)


@every_family
def test_hermite_features_are_independent_processes_with_powers_of_the_autocovariance(family):
    """Σ_φ falls apart by degree, and the square is predicted from the second degree with ρ²."""
    n, process = 8, FeatureProcess(family(), cc.Hermite(3))
    sigma = process.covariance(n).reshape(n, 3, n, 3)
    rho = family().covariance(n)
    for i in range(3):
        for j in range(3):
            assert_allclose(sigma[:, i, :, j], rho ** (i + 1) if i == j else 0, atol=1e-12)
    squared = cc.FromAutocovariance(family().autocovariance(n + 1) ** 2)
    target, variance = process.predictor(n)
    assert_allclose(target.reshape(n, 3), np.outer(squared.predictor(n)[0], [0, np.sqrt(2), 0]), atol=1e-9)
    assert variance == pytest.approx(2 * squared.predictor(n)[1], rel=1e-9)


def test_for_a_markov_process_the_last_value_says_it_all():
    """E[y² | past] = φ²y₀² + 1 − φ²: a function of the last value, here in powers."""
    target, variance = FeatureProcess(cc.AR1(0.8), cc.Monomials(2)).predictor(4)
    assert_allclose(target, [0, 0.64, 0, 0, 0, 0, 0, 0], atol=1e-9)
    assert variance == pytest.approx(2 * (1 - 0.8**4))


@every_basis
def test_the_predictor_is_the_best(basis, rng):
    """Samples: regressing g(next) on the features gives the same error variance to sampling accuracy."""
    process = FeatureProcess(cc.PowerLaw(), basis(2), np.abs, kinks=(0.0,))
    target, variance = process.predictor(3)
    root = np.linalg.cholesky(cc.PowerLaw().covariance(4))
    y = rng.normal(size=(200_000, 4)) @ root.T  # column 0 is the next value
    phi = process.features(y[:, 1:]).reshape(len(y), -1)
    g = np.abs(y[:, 0]) - np.sqrt(2 / np.pi)
    assert process.target_variance == pytest.approx(1 - 2 / np.pi)
    assert np.var(g - phi @ target) == pytest.approx(variance, rel=0.01)
    regressed = np.linalg.lstsq(phi, g, rcond=None)[0]
    assert np.var(g - phi @ regressed) == pytest.approx(variance, rel=0.01)


@given(st.floats(0.01, 100))
def test_the_scale_of_the_process_does_not_matter(scale):
    process = FeatureProcess(cc.FromAutocovariance(scale * cc.PowerLaw().autocovariance(6)), cc.Fourier(2))
    other = FeatureProcess(cc.PowerLaw(), cc.Fourier(2))
    assert_allclose(process.covariance(5), other.covariance(5), atol=1e-12)
    assert process.predictor(5)[1] == pytest.approx(other.predictor(5)[1])


def test_a_change_of_basis_changes_coefficients_and_no_prediction(rng):
    mixing = rng.normal(size=(3, 3))
    first = FeatureProcess(cc.PowerLaw(), cc.Hermite(3), lambda y: y**2 + y)
    second = FeatureProcess(cc.PowerLaw(), Recombined(cc.Hermite(3), mixing), lambda y: y**2 + y)
    block = np.kron(np.eye(5), mixing)
    assert_allclose(second.covariance(5), block @ first.covariance(5) @ block.T, atol=1e-9)
    assert_allclose(block.T @ second.predictor(5)[0], first.predictor(5)[0], atol=1e-9)
    assert second.predictor(5)[1] == pytest.approx(first.predictor(5)[1])


def test_it_is_a_process_like_any_other():
    process = FeatureProcess(cc.PowerLaw(), cc.Hermite(2))
    arch = cc.Hierarchical(2, 3, input_dim=2)
    fit = cc.fit(arch, process)
    alloc = cc.allocate(arch, fit.params, process)
    assert alloc.per_input.shape == (8,) and alloc.per_input.sum() == pytest.approx(alloc.total)
    with pytest.raises(ValueError, match="task: found 2 component"):
        cc.fit(cc.Hierarchical(2, 3), process)
    with pytest.raises(TypeError, match=r"several components.*Add the noise to each"):
        process.with_nugget(0.5)


def test_more_terms_are_asked_for_where_the_sum_is_cut_too_early():
    """Hinges have slowly falling coefficients, and a correlation near 1 does not help."""
    slow, hinges = cc.AR1(0.97), cc.PiecewiseLinear(3)
    with pytest.raises(ValueError, match=r"features: Mehler's sum of 256 terms leaves out .* Give a larger order"):
        FeatureProcess(slow, hinges).covariance(3)
    with pytest.raises(ValueError, match="target: Mehler's sum of 256 terms"):
        FeatureProcess(slow, cc.Hermite(2), np.abs, kinks=(0.0,)).predictor(3)
    assert FeatureProcess(slow, hinges, order=1024).covariance(3).shape == (9, 9)


def test_a_singular_covariance_is_refused():
    """Smooth samples are nearly equal, and so are their features."""
    with pytest.raises(ValueError, match="numerically singular"):
        FeatureProcess(cc.RationalQuadratic(scale=20.0), cc.Hermite(1)).covariance(32)
    with pytest.raises(ValueError, match=r"features: numerically singular.*with_nugget"):
        FeatureProcess(cc.AR1(1 - 1e-12), cc.Monomials(14)).covariance(2)


test_bad_input_is_refused_by_type = refused(
    lambda make: make(),
    (lambda: FeatureProcess("AR1", cc.Hermite(1)), "process: found str"),
    (lambda: FeatureProcess(FeatureProcess(cc.AR1(), cc.Hermite(1)), cc.Hermite(1)), "FeatureProcess"),
    (lambda: FeatureProcess(cc.AR1(), np.square), "features: found ufunc"),
    (lambda: FeatureProcess(cc.AR1(), cc.Hermite(1), "square"), "target: found 'square'"),
    error=TypeError,
)


test_bad_input_is_refused = refused(
    lambda make: make(),
    (lambda: FeatureProcess(cc.AR1(), cc.Monomials(40)), "features: collinear"),
    (lambda: FeatureProcess(cc.AR1(), cc.Hermite(1), lambda y: 0 * y + 3), "target: found a constant"),
    (lambda: FeatureProcess(cc.AR1(), cc.Hermite(1), lambda y: y * np.nan), "target: found .* NaN"),
    (lambda: FeatureProcess(cc.AR1(), cc.Hermite(1), cc.Hermite(2)), "target: found 2 values per"),
    (lambda: FeatureProcess(cc.AR1(), cc.Hermite(1), order=0), "order: found 0"),
    (lambda: FeatureProcess(cc.AR1(), cc.Hermite(1), order=10**5), "order: found 100000, expected at"),
)
