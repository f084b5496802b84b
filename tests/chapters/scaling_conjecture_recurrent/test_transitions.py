"""Transitions in a row: against products in full, and against the closed forms of their mean gain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.special import iv, ive, logsumexp

from chapters.scaling_conjecture_recurrent import transitions as study
from chapters.scaling_conjecture_recurrent.transitions import Gain, Transitions


@pytest.mark.parametrize("structure", study.STRUCTURES)
def test_columns_have_unit_length_on_average(structure, rng):
    squares = np.mean([study.random_matrix(structure, 9, rng) ** 2 for _ in range(600)], axis=0).sum(axis=0)
    assert squares.mean() == pytest.approx(8 / 9 if structure == "antisymmetric" else 1, abs=0.03)


@pytest.mark.parametrize("structure", ["local", "local antisymmetric"])
def test_local_matrices_reach_no_further_than_neighbours(structure, rng):
    A = study.random_matrix(structure, 7, rng)
    distance = np.abs(np.subtract.outer(np.arange(7), np.arange(7)))
    assert (A[np.minimum(distance, 7 - distance) > 1] == 0).all()


@pytest.mark.parametrize("structure", ["antisymmetric", "local antisymmetric"])
def test_antisymmetric_matrices_are(structure, rng):
    A = study.random_matrix(structure, 6, rng)
    np.testing.assert_array_equal(A, -A.T)


@given(
    st.sampled_from(study.STRUCTURES),
    st.floats(0.1, 1.5),
    st.booleans(),
    st.booleans(),
    st.integers(1, 13),
    st.integers(0, 99),
)
def test_the_gain_is_that_of_the_product_in_full(structure, exponent, shared, exponential, n_steps, seed):
    transitions = Transitions(structure, exponent, shared, exponential)
    found = study.gain(transitions, n_steps, 5, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    P = np.eye(5)
    for step in range(n_steps):
        if step == 0 or not shared:
            A = study.random_matrix(structure, 5, rng) / n_steps**exponent
            W = expm(A) if exponential else np.eye(5) + A
        P = W @ P
    assert found.log_mean_square == pytest.approx(np.log((P**2).sum() / 5), abs=1e-9)
    assert found.log_norm == pytest.approx(np.log(np.linalg.norm(P, 2)), abs=1e-9)


def test_gains_beyond_floating_point_stay_finite():
    found = study.gain(Transitions("local", 0.0), 4096, 8, np.random.default_rng(0))
    assert np.isfinite(found.log_mean_square) and found.log_mean_square > 710


@pytest.mark.parametrize("structure", ["dense", "local"])
@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_fresh_matrices_grow_as_the_exact_law_says(structure, exponent):
    draws = study.gains(Transitions(structure, exponent, shared=False), 32, 12, 400)
    gains = np.exp([draw.log_mean_square for draw in draws])
    error = gains.std() / 20  # of the mean of 400
    assert abs(gains.mean() - np.exp(study.fresh_log_gain(32, exponent))) < 4 * error


@pytest.mark.parametrize(("exponent", "n_steps"), [(0.5, 16), (0.75, 64), (1.0, 64)])
def test_one_dense_matrix_grows_as_the_law_for_many_units_says(exponent, n_steps):
    draws = study.gains(Transitions("dense", exponent), n_steps, 200, 12)
    # finite width changes the term of order j by about j²/n; 12 draws of 200 units scatter by a few per cent
    assert study.log_mean(draws) == pytest.approx(study.shared_log_gain(n_steps, exponent), abs=0.35)


def test_one_dense_matrix_tends_to_a_bessel_function():
    for exponent, tolerance in ((1.0, 1e-3), (0.9, 2e-2)):
        argument = 2 * 8192 ** (1 - exponent)
        assert study.shared_log_gain(8192, exponent) == pytest.approx(np.log(iv(0, argument)), rel=tolerance)


def test_at_one_over_root_n_it_is_the_bessel_function_over_e():
    N = 10**5
    log_bessel = np.log(ive(0, 2 * np.sqrt(N))) + 2 * np.sqrt(N)
    assert study.shared_log_gain(N, 0.5) == pytest.approx(log_bessel - 1, abs=0.01)


def antisymmetric_log_gain(n_steps, exponent):
    """The eigenvalues iσ of A fill the semicircle |σ| ≤ 2, and |1 + iN^−a σ|^{2N} = (1 + N^−2a σ²)^N."""
    angles = np.pi * (np.arange(4000) + 0.5) / 4000  # σ = 2 cos φ has the density 2/π sin² φ in φ
    logs = n_steps * np.log1p((2 * np.cos(angles)) ** 2 * float(n_steps) ** (-2 * exponent))
    return float(logsumexp(logs, b=2 * np.sin(angles) ** 2 / len(angles)))


def test_one_antisymmetric_matrix_grows_as_its_law_says():
    draws = study.gains(Transitions("antisymmetric", 0.5), 256, 128, 12)
    assert study.log_mean(draws) == pytest.approx(antisymmetric_log_gain(256, 0.5), abs=0.1)
    assert np.exp(antisymmetric_log_gain(10**6, 0.5)) == pytest.approx(np.exp(2) * (iv(0, 2) - iv(1, 2)), rel=1e-4)


@given(st.integers(1, 60), st.integers(0, 99))
def test_exponentials_of_antisymmetric_matrices_keep_every_length(n_steps, seed):
    transitions = Transitions("antisymmetric", 0.25, exponential=True)
    found = study.gain(transitions, n_steps, 6, np.random.default_rng(seed))
    assert abs(found.log_norm) < 1e-11 and abs(found.log_mean_square) < 1e-11


def test_the_interval_of_a_mean_holds_it():
    draws = study.gains(Transitions("dense"), 16, n=8, n_draws=30, seed=3)
    assert study.log_mean(draws) == pytest.approx(np.log(np.mean(np.exp([draw.log_mean_square for draw in draws]))))
    low, high = study.log_mean_interval(draws)
    assert low < study.log_mean(draws) < high
    assert study.log_mean_interval([Gain(1.0, 0.0)] * 5) == pytest.approx((1.0, 1.0))


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("structure: found 'dens'.*Did you mean 'dense'", lambda: Transitions("dens")),
        ("exponent: found inf", lambda: Transitions("dense", float("inf"))),
        ("n: found 2", lambda: study.random_matrix("local", 2, np.random.default_rng(0))),
        ("n_steps: found 0", lambda: study.gain(Transitions(), 0, 4, np.random.default_rng(0))),
        ("n_draws: found 0", lambda: study.gains(Transitions(), 4, 4, 0)),
    ],
)
def test_refused(message, make):
    with pytest.raises(ValueError, match=message):
        make()
