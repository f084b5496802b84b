"""Mixing within positions: the loss and κ stay, and the capacity of a position stays once it is whitened."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import capcore as cc
from chapters.multidimensional.correlated_components import correlated_cases, equicorrelation, symmetric_power, whitened
from chapters.multidimensional.study import spread_components

COMPONENTS = spread_components("PowerLaw", 3)
ARCH = cc.Hierarchical(2, 4, input_dim=3)


@pytest.mark.parametrize("correlation", [-0.45, 0.0, 0.8])
def test_every_pair_has_the_correlation(correlation):
    block = cc.Mixed(COMPONENTS, equicorrelation(3, correlation)).autocovariance(1)[0]
    assert_allclose(block, np.eye(3) * (1 - correlation) + correlation, rtol=0, atol=1e-12)


def test_powers_of_a_symmetric_matrix(rng):
    root = rng.normal(size=(4, 4))
    matrix = root @ root.T + np.eye(4)
    assert_allclose(symmetric_power(matrix, 2), matrix @ matrix, rtol=1e-10)
    assert_allclose(symmetric_power(matrix, 0.5) @ symmetric_power(matrix, -0.5), np.eye(4), atol=1e-12)


def test_whitening_leaves_the_target():
    process = cc.Mixed(COMPONENTS, [[1, 0, 0], [2, 1, 0], [0, 1, 3]], [1.0, 2.0, -1.0])
    white = whitened(process)
    assert_allclose(white.autocovariance(1)[0], np.eye(3), rtol=0, atol=1e-12)
    assert_allclose(white.sources.weights, process.sources.weights, rtol=0, atol=1e-12)


def test_correlation_keeps_loss_and_total_and_moves_capacity_unless_whitened():
    cases = correlated_cases(ARCH, COMPONENTS, [0.0, -0.45])
    white = correlated_cases(ARCH, COMPONENTS, [-0.45], whiten=True)[-0.45]
    plain, mixed = cases[0.0], cases[-0.45]
    for other in (mixed, white):
        assert other.fit.loss == pytest.approx(plain.fit.loss, rel=1e-9)
        assert other.allocation.total == plain.allocation.total
    moved = np.abs(mixed.allocation.per_input - plain.allocation.per_input).max()
    assert moved > 0.01
    assert_allclose(white.allocation.per_input, plain.allocation.per_input, rtol=0, atol=1e-5)


@pytest.mark.parametrize("correlation", [1.0, -0.5, 1.5, float("nan"), "0.5"])
def test_refused(correlation):
    with pytest.raises(ValueError, match=r"found .*, expected a number strictly between -0\.5 and 1, for 3"):
        equicorrelation(3, correlation)
    assert equicorrelation(1, 0.5).tolist() == [[1.0]]
