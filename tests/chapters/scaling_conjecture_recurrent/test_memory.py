"""Forgetting step by step, and the memory of linear states: conservation, Eq. 30, and probes of simulated sequences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.scaling_conjecture_recurrent import memory
from chapters.scaling_conjecture_recurrent.memory import forget
from chapters.scaling_conjecture_recurrent.transitions import STRUCTURES, Transitions


@given(st.integers(2, 40), st.floats(0.01, 1.0), st.floats(0.0, 0.5))
def test_every_share_of_leak_and_spread_forgets_geometrically(n_steps, leak, spread):
    found = forget(n_steps, leak * n_steps, n_positions=5, diffusion=spread * n_steps)
    assert found.gap < 1e-14 * n_steps and found.total == pytest.approx(1, abs=1e-13)
    np.testing.assert_allclose(found.per_lag, leak * (1 - leak) ** np.arange(n_steps), atol=1e-14)


def test_the_half_life_is_exact_between_lags():
    found = forget(64, 8.0)
    assert found.half_life == pytest.approx(np.log(0.5) / np.log(1 - 8 / 64), rel=1e-12)
    assert forget(8, 0.1).half_life == np.inf


@pytest.mark.parametrize(
    ("message", "arguments"),
    [("alpha: found 0", (4, 0.0)), ("alpha: found 5", (4, 5.0)), ("diffusion: found 3", (4, 1.0, 4, 3.0))],
)
def test_refused(message, arguments):
    with pytest.raises(ValueError, match=message):
        forget(*arguments)


@given(st.sampled_from(STRUCTURES), st.sampled_from([0.5, 1.0]), st.booleans(), st.integers(2, 12), st.integers(0, 99))
def test_without_noise_all_memories_sum_to_one(structure, exponent, shared, n_steps, seed):
    transitions = Transitions(structure, exponent, shared)
    found = memory.probe_memory(transitions, n_steps, 5, np.random.default_rng(seed), noise=0.0)
    assert found.sum() == pytest.approx(1, abs=1e-8) and found.min() >= 0


@pytest.mark.parametrize("alpha", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("structure", ["antisymmetric", "local antisymmetric"])
def test_orthogonal_transitions_remember_as_equation_30_says(alpha, structure):
    transitions = Transitions(structure, 0.5, exponential=True)
    found = memory.probe_memory(transitions, 32, 6, np.random.default_rng(1), alpha=alpha, noise=0.0)
    np.testing.assert_allclose(found, memory.memory_law(alpha, 32), atol=1e-12)
    noisy = memory.probe_memory(transitions, 32, 6, np.random.default_rng(1), alpha=alpha, noise=0.25)
    np.testing.assert_allclose(noisy, memory.memory_law(alpha, 32) / 1.25, atol=1e-12)


@pytest.mark.parametrize("shared", [True, False])
def test_the_formula_is_the_regression_on_all_inputs_at_once(shared):
    """The state as one linear map of all inputs, step by step forwards in time."""
    n_steps, n, alpha, noise = 6, 4, 2.0, 0.3
    matrices = list(
        memory.unit_matrices(Transitions("dense", 0.5, shared), n_steps, n, np.random.default_rng(3), alpha)
    )
    state = np.zeros((n, n, n_steps + 1))  # of every input component, the initial state last
    state[:, :, n_steps] = np.eye(n)
    for step, W in enumerate(reversed(matrices)):
        state = np.einsum("ij,jkl->ikl", W, state)
        state[:, :, n_steps - 1 - step] += np.sqrt(alpha / n_steps) * np.eye(n)
    covariance = np.einsum("ikl,jkl->ij", state, state)
    covariance += noise * np.trace(covariance) / n * np.eye(n)
    expected = np.einsum("ikl,ij,jkl->l", state, np.linalg.inv(covariance), state) / n
    options = {"alpha": alpha, "noise": noise}
    found = memory.probe_memory(Transitions("dense", 0.5, shared), n_steps, n, np.random.default_rng(3), **options)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(("structure", "shared"), [("dense", True), ("local", True), ("local", False)])
def test_probes_of_simulated_sequences_find_the_same(structure, shared):
    transitions = Transitions(structure, 0.5, shared)
    exact = memory.probe_memory(transitions, 8, 4, np.random.default_rng([2, 8]), start=0.0)[:8]
    found = memory.sampled_memory(transitions, 8, 4, 40_000, seed=2)
    # 10,000 held-out values of 4 components: a standard error of some 0.005
    np.testing.assert_allclose(found, exact, atol=0.02)


def test_tanh_hardly_matters_for_small_states_and_forgets_for_large_ones():
    transitions = Transitions("antisymmetric", 0.5, exponential=True)
    options = {"n_samples": 8000, "seed": 0}
    linear = memory.sampled_memory(transitions, 16, 4, **options)
    small = memory.sampled_memory(transitions, 16, 4, activation="tanh", input_scale=1e-4, **options)
    large = memory.sampled_memory(transitions, 16, 4, activation="tanh", input_scale=3.0, **options)
    np.testing.assert_allclose(small, linear, atol=1e-4)
    assert large[0] > 0.5 and abs(large[8:]).max() < 0.02


def test_the_law_sums_to_one_and_its_far_half_is_known():
    law = memory.memory_law(1.0, 64)
    assert law.sum() == pytest.approx(1)
    assert memory.far_half(law) == pytest.approx((63 / 64) ** 32 - (63 / 64) ** 64)


def test_the_mean_is_over_independent_draws():
    one = memory.mean_memory(Transitions("local"), 8, 4, 1)
    three = memory.mean_memory(Transitions("local"), 8, 4, 3)
    assert np.abs(one - three).max() > 1e-3


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("alpha: found 0", {"alpha": 0.0}),
        ("alpha: found 9", {"alpha": 9.0}),
        ("noise: found -1", {"noise": -1.0}),
        ("start: found -1", {"start": -1.0}),
    ],
)
def test_refused_state_memory(message, options):
    with pytest.raises(ValueError, match=message):
        memory.probe_memory(Transitions(), 8, 4, np.random.default_rng(0), **options)


def test_unknown_activations_are_refused():
    with pytest.raises(ValueError, match="activation: found 'relu'"):
        memory.sampled_memory(Transitions(), 8, 4, 100, activation="relu")
