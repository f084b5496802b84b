"""The optimal predictor in closed form, against Levinson's recursion and the equation it solves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import toeplitz

import capcore as cc
from capcore.architectures.tensor_train import contract
from capcore.large.exponentials import exponential_sequence
from capcore.large.octaves.predictor import ExponentialSequence, optimal_predictor
from tests.strategies import refused

PROCESSES = [
    cc.PowerLaw(0.3),
    cc.PowerLaw(0.5),
    cc.PowerLaw(1.5),
    cc.FractionalGaussianNoise(0.75),
    cc.PowerLaw(0.5).with_nugget(0.5),
    cc.AR1(0.9).with_nugget(0.1),
]


@pytest.mark.parametrize("process", PROCESSES, ids=repr)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 63, 1024])
def test_it_is_levinsons_predictor(process: cc.Process, n: int) -> None:
    found = contract(optimal_predictor(exponential_sequence(process, n), [n]))
    np.testing.assert_allclose(found, process.predictor(n)[0], atol=1e-14)


@given(st.integers(1, 5), st.integers(1, 12), st.integers(0, 99), st.floats(-0.9, 2))
def test_it_solves_the_normal_equations_of_any_positive_exponentials(m: int, n: int, seed: int, more: float) -> None:
    """Variances above and below Σ w/ρ: the last zero of the spectral density changes sides."""
    rng = np.random.default_rng(seed)
    rates, weights = np.sort(rng.uniform(0.05, 3, m)) + 0.05 * np.arange(m), rng.uniform(0.1, 1, m)
    floor = 2 * np.sum(weights / (1 + np.exp(-rates)))  # a positive spectral density at frequency ½ needs more
    natural = np.sum(weights * np.exp(rates))
    variance = natural + more * (natural - floor)
    sequence = ExponentialSequence(variance, weights, rates)
    c = sequence.autocovariance(n + 1)
    found = contract(optimal_predictor(sequence, [n]))
    np.testing.assert_allclose(toeplitz(c[:-1]) @ found, c[1:], atol=1e-10 * c[0])


def test_a_train_of_any_kernel_sizes_lists_the_same_coefficients() -> None:
    sequence = exponential_sequence(cc.PowerLaw(), 24)
    expected = contract(optimal_predictor(sequence, [24]))
    np.testing.assert_allclose(contract(optimal_predictor(sequence, [2, 3, 4])), expected, atol=1e-15)


def test_the_far_end_at_a_billion_inputs_is_the_partial_autocorrelation() -> None:
    """The last coefficient is the partial autocorrelation, d/n for long memory c_τ ~ τ^(2d−1): here d = 1/4."""
    n = 2**30
    cores = optimal_predictor(exponential_sequence(cc.FractionalGaussianNoise(0.75), n), [2] * 30)
    last = np.linalg.multi_dot([core[:, -1] for core in cores])
    np.testing.assert_allclose(last * n, 0.25, rtol=1e-4)


test_other_sequences_are_refused = refused(
    lambda sequence: optimal_predictor(sequence, [8]),
    (ExponentialSequence(1.0, [-0.1], [1.0]), "found 1 exponentials, of which 0 have positive weights"),
    (ExponentialSequence(1.0, [], []), "0 exponentials"),
    (ExponentialSequence(1.0, [5.0], [1.0]), "not positive definite"),
)
