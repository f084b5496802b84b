"""Networks with random signs: squared gradients follow the squared weights on average."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import capcore.propagation as pg
from chapters.shared.random_signs import mean_chi_square, signed_operator, squared_gradients
from tests.strategies import all_of, seeds

SIGNIFICANT = 1e-3  # with fixed seeds: a wrong law fails by many orders of magnitude, as shown below


@given(st.lists(st.integers(1, 3), min_size=2, max_size=4), seeds)
def test_the_mean_over_all_signs_is_exact(widths: list[int], seed: int) -> None:
    """Every sign of every hidden unit, enumerated."""
    rng = np.random.default_rng(seed)
    weights = [rng.normal(size=(a, b)) for a, b in zip(widths[:-1], widths[1:], strict=True)]  # noqa: RUF007
    hidden = widths[1:-1]
    total = np.zeros((widths[0], widths[-1]))
    choices = list(product([-1.0, 1.0], repeat=sum(hidden)))
    for signs in choices:
        matrix, start = weights[0], 0
        for size, w in zip(hidden, weights[1:], strict=True):
            matrix = matrix @ np.diag(signs[start : start + size]) @ w
            start += size
        total += matrix**2
    expected = weights[0] ** 2
    for w in weights[1:]:
        expected = expected @ w**2
    np.testing.assert_allclose(total / len(choices), expected, rtol=1e-10)


def test_dense_networks() -> None:
    rng = np.random.default_rng(11)
    weights = [rng.normal(size=(6, 6)) for _ in range(4)]
    samples = squared_gradients(weights, 2, 20_000, rng)
    law = pg.propagate(np.eye(6)[2], [pg.MatrixTransport.of_weights(w) for w in weights], conserve=False).input[:, 0]
    result = mean_chi_square(samples, law)
    assert result.dof == 6 and result.p_value > SIGNIFICANT
    assert mean_chi_square(samples, law * [1.2, 1, 1, 1, 1, 1]).p_value < 1e-9  # it would notice
    signed = np.linalg.multi_dot(weights)[:, 2] ** 2
    assert mean_chi_square(samples, signed).p_value < 1e-9  # without signs, paths interfere


def test_the_signed_operator_squares_to_the_transport() -> None:
    kernel = np.random.default_rng(13).normal(size=(2, 3, 5, 3))
    signed = signed_operator(kernel, (7, 6, 3))
    squared = pg.ConvolutionTransport.of_weights(kernel).operator((7, 6, 3))[0]
    assert abs(signed.power(2) - squared).max() < 1e-14


@given(st.integers(1, 4), seeds)
def test_the_statistic_is_hotellings(n: int, seed: int) -> None:
    """Invariant under invertible maps of the entries, and that of a t-test for one."""
    rng = np.random.default_rng(seed)
    samples, expected = rng.normal(size=(40, n)), rng.normal(size=n) / 10
    result = mean_chi_square(samples, expected)
    gap = samples.mean(axis=0) - expected
    direct = 40 * gap @ np.linalg.solve(np.atleast_2d(np.cov(samples.T)), gap)
    assert result.dof == n and result.statistic == pytest.approx(direct, rel=1e-9)
    mix = np.linalg.qr(rng.normal(size=(n, n)))[0]
    assert mean_chi_square(samples @ mix, expected @ mix).statistic == pytest.approx(direct, rel=1e-9)


def test_p_values_are_uniform() -> None:
    """Under the law itself: 400 tests of 60 correlated samples each, as a uniform histogram."""
    rng = np.random.default_rng(14)
    mix = rng.normal(size=(3, 3))
    p = np.array([mean_chi_square(rng.normal(size=(60, 3)) @ mix, np.zeros(3)).p_value for _ in range(400)])
    counts = np.histogram(p, 5, (0, 1))[0]
    assert np.sum((counts - 80) ** 2 / 80) < 18.5  # the 0.999 quantile for four degrees of freedom


def test_what_cannot_be_tested_is_refused() -> None:
    rng = np.random.default_rng(15)
    with pytest.raises(ValueError, match=all_of(["found 4", "many more than the 3"])):
        mean_chi_square(rng.normal(size=(4, 5)), np.zeros(5))
    with pytest.raises(ValueError, match="do not vary"):
        mean_chi_square(np.column_stack([rng.normal(size=50), np.ones(50)]), np.zeros(2))
    assert mean_chi_square(np.ones((5, 2)), np.ones(2)).p_value == 1
