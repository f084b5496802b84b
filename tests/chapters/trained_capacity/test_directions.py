"""Directions are orthonormal where they should be, and nearest to the functions they are named after."""

import numpy as np
import pytest

from chapters.trained_capacity import directions


@pytest.fixture
def x():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 5)) @ rng.normal(size=(5, 5)) + 3


def test_whitened_inputs_are_orthonormal_and_span_the_inputs(x):
    z = directions.whitened(x)
    np.testing.assert_allclose(z.T @ z, np.eye(5), atol=1e-12)  # rounding of a decomposition of condition ~ 10
    centred = x - x.mean(axis=0)
    np.testing.assert_allclose(z @ (z.T @ centred), centred, atol=1e-10)
    root = np.linalg.cholesky(np.linalg.inv(np.cov(x.T, bias=True)))
    other = centred @ root / np.sqrt(60)  # orthonormal, too, but less like the inputs
    assert np.trace(z.T @ centred) >= np.trace(other.T @ centred)


def test_dependent_inputs_share_their_rank(x):
    twice = np.hstack([x, x[:, :1], np.full((60, 1), 2.0)])
    z = directions.whitened(twice)
    assert np.sum(z**2) == pytest.approx(5)
    assert np.allclose(z[:, 0], z[:, 5]) and np.allclose(z[:, 6], 0)
    own = directions.as_they_are(twice)
    np.testing.assert_allclose(np.linalg.norm(own, axis=0), [1, 1, 1, 1, 1, 1, 0], atol=1e-12)


def test_cosines_are_orthonormal_and_bands_count_them():
    modes = directions.cosines()
    np.testing.assert_allclose(modes.T @ modes, np.eye(64), atol=1e-12)
    assert np.allclose(modes[:, 0], 1 / 8)
    slow = modes[:, 1].reshape(8, 8)  # the larger frequency is one: a single change of sign along a row
    assert np.allclose(slow, slow[0]) and np.sum(np.diff(np.sign(slow[0])) != 0) == 1
    assert directions.bands()[[0, 1, 8, 9, 2, 63]].tolist() == [-1, 0, 0, 0, 1, 3]


def test_polynomials_are_orthonormal_in_order():
    u = np.random.default_rng(1).normal(size=(400, 4))
    parts = directions.polynomials(u)
    whole = np.hstack(list(parts.values()))
    np.testing.assert_allclose(whole.T @ whole, np.eye(1 + 4 + 8 + 6), atol=1e-12)
    assert np.abs(np.sum(parts["products"][:, 0] * u[:, 0] * u[:, 1])) > 0.9 * np.linalg.norm(u[:, 0] * u[:, 1])
