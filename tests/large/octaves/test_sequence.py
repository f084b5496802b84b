"""Sums of exponentials: the values they stand for, and states at edges against the matrix itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import toeplitz

import capcore as cc
from capcore.large.exponentials import exponential_sequence
from capcore.large.octaves.predictor import ExponentialSequence
from tests.strategies import refused


@given(st.integers(1, 6), st.integers(0, 5), st.integers(0, 3), st.integers(0, 3))
def test_states_carry_one_block_of_the_covariance_to_another(size: int, gap: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sequence = ExponentialSequence(1.0, rng.normal(size=m), rng.uniform(0, 2, m))
    into = np.transpose([sequence.advance(np.ones(m), i) for i in range(size)])  # each position of the later block
    state = into[:, ::-1]  # of each unit vector on the earlier block, at its end
    carried = (into.T * sequence.weights) @ sequence.advance(state, gap)
    whole = toeplitz(sequence.autocovariance(2 * size + gap))
    np.testing.assert_allclose(carried, whole[size + gap :, :size], atol=1e-13)


@pytest.mark.parametrize(
    "process",
    [
        *(cc.PowerLaw(exponent) for exponent in (0.05, 0.5, 1.0, 2.0)),
        *(cc.FractionalGaussianNoise(hurst) for hurst in (0.05, 0.3, 0.5, 0.75, 0.95)),
        cc.AR1(0.0),
        cc.AR1(0.99),
        cc.PowerLaw(0.5).with_nugget(0.3),
    ],
    ids=repr,
)
@pytest.mark.parametrize("n", [1, 8, 5000])
def test_quadrature_reproduces_every_lag(process: cc.Process, n: int) -> None:
    expected = process.autocovariance(n + 1)
    # Far lags of AR(1) underflow relative to their own accuracy: both sides take powers.
    np.testing.assert_allclose(exponential_sequence(process, n).autocovariance(n + 1), expected, rtol=5e-14)


def test_quadrature_at_a_trillion_lags() -> None:
    lags = np.unique(np.geomspace(1, 2**40, 400).astype(np.int64))
    found = exponential_sequence(cc.PowerLaw(0.5), 2**40).autocovariance(lags)
    np.testing.assert_allclose(found, (1.0 + lags) ** -0.5, rtol=1e-14)


@pytest.mark.parametrize("process", [cc.DampedCosine(), cc.AR1(-0.5), cc.RationalQuadratic()])
def test_other_processes_are_refused(process: cc.Process) -> None:
    with pytest.raises(ValueError, match="Give an ExponentialSequence"):
        exponential_sequence(process, 8)


test_bad_exponentials_are_refused = refused(
    lambda weights, rates: ExponentialSequence(1.0, weights, rates),
    ([1.0], [-1.0], "rates: found"),
    ([1.0], [1.0, 2.0], "rates: found"),
)
