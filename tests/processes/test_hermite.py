"""Hermite coefficients against closed forms, for smooth functions and for kinks and jumps."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import eval_hermitenorm, gammaln
from scipy.stats import norm

from capcore.processes.hermite import SPAN, hermite_coefficients, hermite_values
from tests.strategies import refused

K = np.arange(41)
ROOT_FACTORIAL = np.exp(gammaln(K + 1) / 2)


def test_values_are_the_normalised_probabilists_polynomials():
    y = np.linspace(-4, 4, 9)
    expected = np.stack([eval_hermitenorm(k, y) for k in K], axis=-1) / ROOT_FACTORIAL
    assert_allclose(hermite_values(y, 40), expected, rtol=1e-11, atol=1e-12)
    assert np.all(np.isfinite(hermite_values(SPAN, 256)))


@given(st.floats(-8, 8))
def test_a_cosine_and_a_sine(frequency):
    """The generating function gives E[exp(iωy) He_k(y)] = (iω)^k exp(−ω²/2)."""
    wave = np.exp(-(frequency**2) / 2) * (1j * frequency) ** K / ROOT_FACTORIAL
    assert_allclose(hermite_coefficients(lambda y: np.cos(frequency * y), 40), wave.real, atol=1e-13)
    assert_allclose(hermite_coefficients(lambda y: np.sin(frequency * y), 40), wave.imag, atol=1e-13)


@given(st.floats(-4, 4))
def test_a_hinge_and_a_step(knot):
    """Integrating by parts once or twice: He_{k−1} and He_{k−2} at the knot times the density there."""
    lower = np.array([eval_hermitenorm(k, knot) for k in range(40)])
    step = np.concatenate([[norm.sf(knot)], norm.pdf(knot) * lower]) / ROOT_FACTORIAL
    hinge = np.concatenate(
        [[norm.pdf(knot) - knot * norm.sf(knot), norm.sf(knot)], norm.pdf(knot) * lower[:-1]]
    ) / ROOT_FACTORIAL  # fmt: skip
    assert_allclose(hermite_coefficients(lambda y: (y > knot) * 1.0, 40, (knot,)), step, atol=1e-13)
    assert_allclose(hermite_coefficients(lambda y: np.maximum(y - knot, 0), 40, (knot,)), hinge, atol=1e-13)


def test_the_kink_has_to_be_named():
    """Without it the quadrature runs over the kink and loses digits: the split is not decoration."""
    hinge = lambda y: np.maximum(y - 0.3, 0)  # noqa: E731
    gap = hermite_coefficients(hinge, 40) - hermite_coefficients(hinge, 40, (0.3,))
    assert np.abs(gap).max() > 1e-9


test_what_is_no_function_is_refused = refused(
    lambda function: hermite_coefficients(function, 3, name="square"),
    (lambda y: y * np.nan, "square: found .* NaN or infinite"),
    (lambda y: 1.0, "square: found an array of shape"),
    (lambda y: y[:3], "square: found 3 values for 1024 arguments"),
    (lambda y: y * 1j, "square: found complex values, expected real numbers"),
)
