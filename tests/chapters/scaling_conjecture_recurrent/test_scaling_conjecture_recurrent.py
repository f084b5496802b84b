"""Recurrent transitions, memories and the adding task: loops and closed forms, and the stored runs."""

from itertools import product

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.special import iv, logsumexp

from chapters.kit.stored import stored
from chapters.scaling_conjecture_recurrent import experiment, memory, study
from chapters.scaling_conjecture_recurrent import transitions as transitions_of
from chapters.scaling_conjecture_recurrent.experiment import BASELINE, RecurrentNetwork, adding_batches
from chapters.scaling_conjecture_recurrent.memory import forget
from chapters.scaling_conjecture_recurrent.transitions import STRUCTURES, Transitions, random_matrix

pytest.importorskip("jax")


def full(network, A):
    """W of one step, as a matrix that acts on rows."""
    n, scale = network.width, network.n_steps**-network.exponent
    if network.structure == "local":
        matrix = np.zeros((n, n))
        for i in range(n):
            for k in range(3):
                matrix[(i + 1 - k) % n, i] += A[k, i]
        return np.eye(n) + scale * matrix
    if network.structure == "dense":
        return np.eye(n) + scale * A
    A = (A - A.T) / np.sqrt(2)
    if network.structure == "antisymmetric":
        return np.eye(n) + scale * A
    return np.linalg.inv(np.eye(n) - scale / 2 * A) @ (np.eye(n) + scale / 2 * A)


CASES = [
    *((kind, shared) for kind in ("dense", "local") for shared in (True, False)),
    ("antisymmetric", True),
    ("orthogonal", True),
]


@pytest.mark.slow
@pytest.mark.parametrize(("structure", "shared"), CASES)
@pytest.mark.parametrize("exponent", [0.0, 0.5])
def test_states_are_those_of_a_loop(structure, shared, exponent):
    network = RecurrentNetwork(7, 5, structure, exponent, shared)
    params = network.initial(jax.random.key(1))
    params = {name: np.asarray(value, float) for name, value in params.items()}
    inputs = np.asarray(adding_batches(7, 4)(jax.random.key(2))[0], float)
    x = np.zeros((4, 5))
    for t in range(7):
        A = params["A"] if shared else params["A"][t]
        y = np.tanh(inputs[t] @ params["V"] + params["c"])
        x = np.tanh(x @ full(network, A) + y / np.sqrt(7))
    np.testing.assert_allclose(network.states(params, inputs), x, atol=2e-5)  # single precision
    answers = x @ params["r"] + params["r0"]
    sums = np.arange(4.0)
    assert float(network.loss(params, (inputs, sums))) == pytest.approx(np.mean((answers - sums) ** 2), rel=1e-4)


@pytest.mark.slow
def test_the_adding_task_has_one_mark_in_each_half_and_their_sum():
    inputs, sums = map(np.asarray, adding_batches(9, 500)(jax.random.key(3)))
    marks = inputs[..., 1]
    assert (marks[:4].sum(axis=0) == 1).all() and (marks[4:].sum(axis=0) == 1).all()
    np.testing.assert_allclose(((inputs[..., 0] + 0.5) * marks).sum(axis=0), sums, rtol=1e-5)
    assert (marks.sum(axis=1) > 0).all()
    many = np.asarray(adding_batches(2, 100_000)(jax.random.key(4))[1])
    assert many.var() == pytest.approx(BASELINE, rel=0.02) and many.mean() == pytest.approx(1, abs=0.01)


@pytest.mark.slow
def test_the_search_goes_on_beyond_the_edge_of_the_grid():
    """Far too small learning rates: the largest is the best, so that two larger ones are tried."""
    settings = {**experiment.SETTINGS, "learning_rates": [1e-5, 3e-5], "n_steps": 120, "seeds": [0], "width": 8}
    best = experiment.search_arm(RecurrentNetwork(4, 8, "dense", 1.0), settings)
    assert best["learning_rates"] == [1e-5, 3e-5, 9e-5, 2.7e-4] and best["best"] == 3 and best["at_edge"]
    assert np.shape(best["final"]) == (4, 1)


@given(st.integers(2, 40), st.floats(0.01, 1.0), st.floats(0.0, 0.5))
def test_every_share_of_leak_and_spread_forgets_geometrically(n_steps, leak, spread):
    remembered = forget(n_steps, leak * n_steps, n_positions=5, diffusion=spread * n_steps)
    assert remembered.gap < 1e-14 * n_steps and remembered.per_lag.sum() + remembered.initial == pytest.approx(
        1, abs=1e-13
    )
    np.testing.assert_allclose(remembered.per_lag, leak * (1 - leak) ** np.arange(n_steps), atol=1e-14)


@given(st.sampled_from(STRUCTURES), st.sampled_from([0.5, 1.0]), st.booleans(), st.integers(2, 12), st.integers(0, 99))
def test_without_noise_all_memories_sum_to_one(structure, exponent, shared, n_steps, seed):
    transitions = Transitions(structure, exponent, shared)
    remembered = memory.probe_memory(transitions, n_steps, 5, np.random.default_rng(seed), noise=0.0)
    assert remembered.sum() == pytest.approx(1, abs=1e-8) and remembered.min() >= 0


@pytest.mark.parametrize("alpha", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("structure", ["antisymmetric", "local antisymmetric"])
def test_orthogonal_transitions_remember_as_equation_30_says(alpha, structure):
    transitions = Transitions(structure, 0.5, exponential=True)
    remembered = memory.probe_memory(transitions, 32, 6, np.random.default_rng(1), alpha=alpha, noise=0.0)
    np.testing.assert_allclose(remembered, memory.memory_law(alpha, 32), atol=1e-12)
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
    remembered = memory.probe_memory(Transitions("dense", 0.5, shared), n_steps, n, np.random.default_rng(3), **options)
    np.testing.assert_allclose(remembered, expected, atol=1e-12)


@pytest.mark.parametrize(("structure", "shared"), [("dense", True), ("local", True), ("local", False)])
def test_probes_of_simulated_sequences_find_the_same(structure, shared):
    transitions = Transitions(structure, 0.5, shared)
    exact = memory.probe_memory(transitions, 8, 4, np.random.default_rng([2, 8]), start=0.0)[:8]
    remembered = memory.sampled_memory(transitions, 8, 4, 40_000, None, 1.0, 2)
    # 10,000 held-out values of 4 components: a standard error of some 0.005
    np.testing.assert_allclose(remembered, exact, atol=0.02)


def test_the_mean_over_signs_is_the_power_of_squared_weights() -> None:
    """Against a sum over all signs: n = 3 units, two steps, 64 sign patterns."""
    sums = []
    for N in (1, 2):
        A = random_matrix("dense", 3, np.random.default_rng(4))
        np.fill_diagonal(A, 0)
        W = np.eye(3) + A / np.sqrt(N)
        patterns = np.array(list(product([-1.0, 1.0], repeat=3 * N))).reshape(-1, N, 3)
        total = 0.0
        for signs in patterns:
            P = np.eye(3)
            for step in signs:
                P = step[:, None] * (W @ P)
            total += (P**2).sum() / 3
        sums.append(total / len(patterns))
    assert study.signed_growth((1, 2), 3, 1, 4) == pytest.approx(sums[1] / sums[0], rel=1e-12)


@pytest.fixture(scope="module")
def content():
    return stored("recurrent_memory")


def test_the_best_rate_has_the_lowest_median_and_is_inside_the_grid_unless_it_says_so(content):
    for arms in content["values"]["arms"].values():
        for arm in arms.values():
            final = np.array([[np.inf if loss is None else loss for loss in row] for row in arm["final"]])
            assert np.argmin(np.median(final, axis=1)) == arm["best"]
            assert arm["at_edge"] == (arm["best"] in (0, len(arm["learning_rates"]) - 1))


@given(
    st.sampled_from(transitions_of.STRUCTURES),
    st.floats(0.1, 1.5),
    st.booleans(),
    st.booleans(),
    st.integers(1, 13),
    st.integers(0, 99),
)
def test_the_gain_is_that_of_the_product_in_full(structure, exponent, shared, exponential, n_steps, seed):
    transitions = Transitions(structure, exponent, shared, exponential)
    result = transitions_of.log_gain(transitions, n_steps, 5, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    P = np.eye(5)
    for step in range(n_steps):
        if step == 0 or not shared:
            A = transitions_of.random_matrix(structure, 5, rng) / n_steps**exponent
            W = expm(A) if exponential else np.eye(5) + A
        P = W @ P
    assert result == pytest.approx(np.log((P**2).sum() / 5), abs=1e-9)


@pytest.mark.parametrize("structure", ["dense", "local"])
@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_fresh_matrices_grow_as_the_exact_law_says(structure, exponent):
    draws = transitions_of.log_gains(Transitions(structure, exponent, shared=False), 32, 12, 400)
    gains = np.exp(draws)
    error = gains.std() / 20  # of the mean of 400
    assert abs(gains.mean() - np.exp(transitions_of.fresh_log_gain(32, exponent))) < 4 * error


def antisymmetric_log_gain(n_steps, exponent):
    """The eigenvalues iσ of A fill the semicircle |σ| ≤ 2, and |1 + iN^−a σ|^{2N} = (1 + N^−2a σ²)^N."""
    angles = np.pi * (np.arange(4000) + 0.5) / 4000  # σ = 2 cos φ has the density 2/π sin² φ in φ
    logs = n_steps * np.log1p((2 * np.cos(angles)) ** 2 * float(n_steps) ** (-2 * exponent))
    return float(logsumexp(logs, b=2 * np.sin(angles) ** 2 / len(angles)))


def test_one_antisymmetric_matrix_grows_as_its_law_says():
    draws = transitions_of.log_gains(Transitions("antisymmetric", 0.5), 256, 128, 12)
    assert transitions_of.log_mean(draws) == pytest.approx(antisymmetric_log_gain(256, 0.5), abs=0.1)
    assert np.exp(antisymmetric_log_gain(10**6, 0.5)) == pytest.approx(np.exp(2) * (iv(0, 2) - iv(1, 2)), rel=1e-4)
