"""Features: means, moments and coefficients against closed forms, orthonormal bases, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import factorial2
from scipy.stats import norm

import capcore as cc
from capcore.processes.features import Basis, Features, Recombined
from capcore.processes.hermite import normal_quadrature
from tests.strategies import all_of, refused, seeds

BASES = {basis.__name__: basis for basis in Basis.__subclasses__()}
every_basis = pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
counts = st.integers(1, 7)


@every_basis
@given(count=counts)
def test_features_are_centred_and_their_coefficients_give_their_moments(basis, count):
    """Parseval: what the coefficients up to order 256 leave out is small, for hinges a power of the order."""
    features = basis(count)
    nodes, weights = normal_quadrature(features.kinks)
    values = features(nodes)
    assert values.shape == (nodes.size, count) and features.count == count
    scale = np.sqrt(np.diag(features.second_moment()))
    assert_allclose(weights @ values / scale, 0, atol=1e-12)
    coefficients = features.hermite_coefficients() / scale[:, None]
    assert np.all(coefficients[:, 0] == 0)
    moment = features.second_moment() / np.outer(scale, scale)
    assert_allclose(coefficients @ coefficients.T, moment, atol=1e-3 if features.kinks else 1e-11)


def test_any_shape_of_input_is_kept():
    for features in (basis(3) for basis in BASES.values()):
        assert features(0.5).shape == (3,) and features(np.zeros((2, 5))).shape == (2, 5, 3)
        assert_allclose(features([[0.5]])[0, 0], features(0.5))


def test_monomials_have_the_moments_of_the_normal_law():
    moments = np.array([0 if k % 2 else factorial2(k - 1) if k else 1 for k in range(13)], dtype=float)
    i = np.arange(1, 7)
    expected = moments[np.add.outer(i, i)] - np.outer(moments[i], moments[i])
    assert_allclose(cc.Monomials(6).second_moment(), expected, rtol=1e-11, atol=1e-9)


def test_fourier_features_alternate_and_lose_their_mean():
    y, w = 0.7, 2 * np.pi / 5
    expected = [np.sin(w * y), np.cos(w * y) - np.exp(-(w**2) / 2), np.sin(2 * w * y)]
    assert_allclose(cc.Fourier(3, period=5.0)(y), expected, atol=1e-14)


def test_piecewise_linear_features_are_the_input_and_hinges_at_quantiles():
    knots = norm.ppf([1 / 3, 2 / 3])
    features = cc.PiecewiseLinear(3)
    assert_allclose(features.kinks, knots)
    means = norm.pdf(knots) - knots * norm.sf(knots)
    assert_allclose(features(2.0), [2.0, *(2.0 - knots - means)], atol=1e-14)
    assert cc.PiecewiseLinear(1).kinks == () and cc.PiecewiseLinear(1)(1.5) == pytest.approx([1.5])


@every_basis
@given(count=counts)
def test_orthonormalised_features_are_orthonormal_and_in_order(basis, count):
    """Each is a combination of the features up to its own: the matrix is triangular."""
    orthonormal = basis(count).orthonormalised()
    assert_allclose(orthonormal.second_moment(), np.eye(count), atol=1e-9)
    assert_allclose(np.triu(orthonormal.matrix, 1), 0, atol=0)


@given(counts, seeds)
def test_orthonormal_bases_of_the_same_functions_differ_by_a_rotation(count, seed):
    mixing = np.random.default_rng(seed).normal(size=(count, count))
    if np.linalg.cond(mixing) > 1e4:
        return
    first, second = cc.Hermite(count), Recombined(cc.Hermite(count), mixing).orthonormalised()
    rotation = second.matrix @ mixing
    assert_allclose(rotation @ rotation.T, np.eye(count), atol=1e-6)
    y = np.linspace(-2, 2, 5)
    assert_allclose(second(y), first(y) @ rotation.T, atol=1e-9 * np.linalg.cond(mixing))


def test_gram_schmidt_turns_powers_into_hermite_polynomials():
    y = np.linspace(-3, 3, 7)
    assert_allclose(cc.Monomials(6).orthonormalised()(y), cc.Hermite(6)(y), atol=1e-9)


class Steps(Features):
    """A reader's own features: three steps."""

    count = 3
    kinks = (-1.0, 0.0, 1.0)

    def _values(self, y):
        return (y[..., None] > np.array(self.kinks)) * 1.0


def test_features_of_ones_own():
    p = norm.sf([-1, 0, 1])
    assert_allclose(Steps().second_moment(), np.minimum.outer(p, p) - np.outer(p, p), atol=1e-14)
    Steps().check_independent()


@pytest.mark.parametrize(
    "features",
    [
        cc.Monomials(32),
        cc.Fourier(3, period=1e7),
        Recombined(cc.Hermite(2), [[1, 1], [2, 2]]),
        Recombined(cc.Hermite(2), [[1, 0], [0, 1], [1, 1]]),
    ],
    ids=repr,
)
def test_collinear_features_are_refused(features):
    message = all_of(["features: collinear", "found", "expected at least 1e-12", "Use fewer features"])
    with pytest.raises(ValueError, match=message.replace("found", "Found")):
        features.orthonormalised()


def test_a_constant_feature_is_refused():
    with pytest.raises(ValueError, match=r"features: found a constant \(number 2 of 2\)"):
        Recombined(cc.Hermite(1), [[1], [0]]).check_independent()


test_bad_input_is_refused = refused(
    lambda make: make(),
    (lambda: cc.Hermite(0), "count: found 0"),
    (lambda: cc.Monomials(-1), "count: found -1"),
    (lambda: cc.Fourier(2.5), "count: found 2.5"),
    (lambda: cc.Fourier(2, period=0), "period: found 0"),
    (lambda: Recombined(cc.Hermite(1), [[np.nan]]), "matrix: found 1 value.* NaN"),
)
