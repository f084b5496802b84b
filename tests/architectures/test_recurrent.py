"""Recurrent models: coefficients by running the recurrence, derivatives four ways, the exact capacity min(2c, n)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from capcore.architectures import Recurrent
from capcore.architectures.finite_field import PRIME, jacobian_of_function, rank_modulo_prime
from capcore.architectures.generic import exact_rank
from tests.strategies import projector, random_params, refused, seeds, small_integers

models = st.builds(Recurrent, n_inputs=st.integers(1, 9), channels=st.integers(1, 6))


def plain_recurrence(arch, w):
    """Eq. 21 written out, for numbers of any kind."""
    c = arch.channels
    return [sum(w[j] * w[c + j] ** lag * w[2 * c + j] for j in range(c)) for lag in range(arch.n_inputs)]


# --- coefficients ---------------------------------------------------------------------------------------------------


@given(models, seeds)
def test_coefficients_are_what_the_recurrence_computes(arch, seed):
    # h_t = rec · h_{t−1} + in · x_t for each channel on its own, y_t = Σ_j out_j h_t: run on the n most recent inputs.
    params = small_integers(arch, seed)
    first, recurrent, last = params.reshape(3, -1)
    inputs = np.random.default_rng(seed + 1).integers(-3, 4, arch.n_inputs)  # oldest first
    state = np.zeros(arch.channels)
    for x in inputs:
        state = recurrent * state + first * x
    assert last @ state == arch.coefficients(params) @ inputs[::-1]  # integers: no rounding


def test_hand_example_in_order():
    # in 2 and 1, rec 3 and −1, out 5 and 4; lag 0 is the most recent.
    assert Recurrent(3, 2).coefficients([2, 1, 3, -1, 5, 4]).tolist() == [14, 26, 94]
    assert Recurrent(3, 1).coefficients([2, 0, 5]).tolist() == [10, 0, 0]  # a pole at zero sees the present only


@given(models, seeds, st.floats(0.1, 10))
def test_only_the_product_of_input_and_output_weights_counts(arch, seed, factor):
    params = random_params(arch, seed)
    moved = params * np.repeat([factor, 1, 1 / factor], arch.channels)
    assert_allclose(arch.coefficients(moved), arch.coefficients(params), atol=1e-12)
    assert_allclose(arch.weights(moved), arch.weights(params), atol=1e-14)
    assert np.array_equal(arch.poles(moved), arch.poles(params))


@given(models, seeds)
def test_assembled_parameters_have_the_poles_and_weights(arch, seed):
    rng = np.random.default_rng(seed)
    poles, weights = rng.normal(size=(2, arch.channels))
    params = arch.assemble(poles, weights)
    assert np.array_equal(arch.poles(params), poles)
    assert_allclose(arch.weights(params), weights, rtol=1e-14)
    first, _, last = params.reshape(3, -1)
    assert np.array_equal(np.abs(first), np.abs(last))
    powers = poles[None, :] ** np.arange(arch.n_inputs)[:, None]
    assert_allclose(arch.coefficients(params), powers @ weights, atol=1e-9)


# --- derivatives ----------------------------------------------------------------------------------------------------


@given(models, seeds)
def test_jacobian_against_central_differences(arch, seed):
    params = random_params(arch, seed)
    jacobian = arch.jacobian(params)
    assert jacobian.shape == (arch.n_inputs, arch.n_params)
    h = 1e-5
    for j, step in enumerate(h * np.eye(arch.n_params)):
        difference = (arch.coefficients(params + step) - arch.coefficients(params - step)) / (2 * h)
        # Third derivatives (at most 8·7·6 times a weight) times h²/6, and eps / h.
        assert_allclose(jacobian[:, j], difference, atol=1e-6 * max(1, np.abs(params).max() ** 2))


@given(models, seeds)
def test_the_modular_jacobian_at_large_integers(arch, seed):
    # Python's integers do not overflow.
    params = np.random.default_rng(seed).integers(0, PRIME, arch.n_params)
    first, recurrent, last = (list(map(int, part)) for part in params.reshape(3, -1))
    for lag, row in enumerate(arch.jacobian_modulo(params).reshape(arch.n_inputs, 3, -1)):
        for j, (a, r, b) in enumerate(zip(first, recurrent, last, strict=True)):
            slope = lag * r ** (lag - 1) if lag else 0
            assert row[:, j].tolist() == [r**lag * b % PRIME, slope * a * b % PRIME, r**lag * a % PRIME]


@given(models, seeds)
def test_tangents_span_each_layers_columns(arch, seed):
    params = random_params(arch, seed)
    jacobian = arch.jacobian(params)
    tangents = arch.tangents(params)
    assert list(tangents) == list(arch.layers) == ["input", "recurrent", "output"]
    for name, part in arch.layers.items():
        assert tangents[name].shape[1] <= min(arch.n_inputs, arch.channels)
        missing = jacobian[:, part] - projector(tangents[name], 1e-14) @ jacobian[:, part]
        assert np.abs(missing).max() <= 1e-10 * max(1, np.abs(jacobian[:, part]).max())


# --- counts and capacities --------------------------------------------------------------------------------------------


@given(models)
def test_counts(arch):
    assert arch.n_params == 3 * arch.channels and arch.input_dim == 1
    assert [part.stop - part.start for part in arch.layers.values()] == 3 * [arch.channels]
    assert [part.start for part in arch.layers.values()] == [0, arch.channels, 2 * arch.channels]
    assert repr(arch) == f"Recurrent(n_inputs={arch.n_inputs}, channels={arch.channels})"


def test_random_parameters():
    arch = Recurrent(4, 2000)
    first, poles, last = random_params(arch).reshape(3, -1)
    assert 0 <= poles.min() < 0.01 and 0.99 < poles.max() <= 1
    for weights in (first, last):
        assert np.mean(weights**2) * arch.channels == pytest.approx(1, abs=5 * np.sqrt(2 / 2000))
    assert not np.array_equal(first, last)
    assert np.array_equal(random_params(arch), random_params(arch))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13, 64])
@pytest.mark.parametrize("c", [1, 2, 3, 4, 7, 16, 31, 32, 33, 64])
def test_exact_capacity_by_elimination(n, c):
    arch = Recurrent(n, c)
    assert exact_rank(arch) == arch.generic_capacity() == min(2 * c, n)


@given(models, seeds)
def test_exact_capacity_of_the_formula_itself(arch, seed):
    integers = np.random.default_rng(seed).integers(1, PRIME, arch.n_params)
    own = jacobian_of_function(lambda w: plain_recurrence(arch, w), integers)
    assert rank_modulo_prime(own) == min(2 * arch.channels, arch.n_inputs)


@given(st.integers(1, 9), st.lists(st.integers(-3, 3), min_size=1, max_size=5), seeds)
def test_merged_poles_and_idle_channels_lower_the_rank(n, poles, seed):
    # Each distinct pole with a weight gives two directions; a channel without any weight gives none.
    rng = np.random.default_rng(seed)
    arch, active = Recurrent(n, len(poles)), rng.random(len(poles)) < 0.7
    weights = np.where(active, rng.integers(1, 5, len(poles)), 0)
    params = np.concatenate([weights, poles, weights])
    distinct = {pole for pole, used in zip(poles, active, strict=True) if used}
    assert exact_rank(arch, params=params) == min(2 * len(distinct), n)


def test_a_channel_with_one_weight_gives_one_direction():
    assert rank_modulo_prime(Recurrent(6, 1).jacobian_modulo(np.array([0, 2, 1]))) == 1


# --- refusals ---------------------------------------------------------------------------------------------------------

MODEL = Recurrent(8, 2)


test_refusals_say_what_was_found_and_expected = refused(
    lambda use: use(),
    (lambda: Recurrent(0, 2), ["n_inputs", "found 0", "at least 1"]),
    (lambda: Recurrent(8, 0), ["channels", "found 0", "at least 1"]),
    (lambda: MODEL.coefficients(np.ones(5)), ["params", "found 5 values", "expected 6", "Recurrent("]),
    (lambda: MODEL.jacobian_modulo(np.ones(5, int)), ["params", "found 5 values", "expected 6"]),
    (lambda: MODEL.vjp(np.ones(6), np.ones(7)), ["vector", "found 7 values", "expected 8"]),
    (lambda: MODEL.assemble([0.5], [1.0]), ["found 1 and 1 values", "expected 2 (channels)"]),
)
