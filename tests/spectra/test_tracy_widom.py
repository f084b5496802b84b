"""The edge of noise: quantiles from a determinant, and how often noise crosses it."""

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.optimize import brentq
from scipy.special import airy

from capcore.spectra import noise
from capcore.spectra.noise import edge


def distribution(s, n=80, length=16.0):
    """F₁(s) = det(1 − Ai(x + y + s)) on x, y > 0 (Ferrari and Spohn 2005), by Gauss and Legendre's rule."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    x, root = (nodes + 1) * length / 2, np.sqrt(weights * length / 2)
    return np.linalg.det(np.eye(n) - root[:, None] * airy(x[:, None] + x + s)[0] * root)


def quantile(level):
    return brentq(lambda s: distribution(s) - level, -5, 7)


def test_the_quantile():
    assert pytest.approx(quantile(noise.LEVEL), abs=5.1e-5) == noise.QUANTILE


def test_the_determinant_has_the_published_moments():
    """Mean −1.2065335745820 and variance 1.6077810345810 of F₁ (Bornemann 2010)."""
    s = np.linspace(-8, 8, 81)
    values = np.array([distribution(x, n=40) for x in s])
    mean = 8 - simpson(values, x=s)
    second = 64 - simpson(2 * s * values, x=s)
    assert mean == pytest.approx(-1.2065335745820, abs=1e-4)
    assert second - mean**2 == pytest.approx(1.6077810345810, abs=1e-3)


@pytest.mark.parametrize("shape", [(16, 16), (64, 16), (48, 48)])
def test_how_often_noise_crosses_the_edge(rng, shape, monkeypatch):
    """At a level of 0.9 a tenth of the time: within four standard errors and the 2 % of the small sizes."""
    monkeypatch.setattr(noise, "QUANTILE", quantile(0.9))
    matrices = rng.normal(size=(1500, *shape))
    largest = np.linalg.eigvalsh(matrices.swapaxes(1, 2) @ matrices)[:, -1]
    share = np.mean(largest > edge(*shape))
    assert share == pytest.approx(0.1, abs=0.02 + 4 * np.sqrt(0.1 * 0.9 / 1500))


def test_sides_may_be_swapped_and_small():
    assert edge(30, 20) == edge(20, 30)
    assert np.isfinite(edge(1, 1))
