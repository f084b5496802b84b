"""Several components per position: the predictor against dense solves, mixing, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import capcore as cc
from capcore.processes import AR1, DampedCosine, FractionalGaussianNoise, PowerLaw
from capcore.processes.multivariate import Independent, Mixed
from capcore.processes.problem import Problem
from tests.strategies import seeds

POWERS = [PowerLaw(0.3), PowerLaw(0.6), PowerLaw(0.9)]
DIFFERENT = [PowerLaw(0.5), FractionalGaussianNoise(0.8), DampedCosine(10.0, 6.0)]
MIXING = np.array([[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [0.5, 0.5, 0.7]])  # condition number 4.5
every_mixture = pytest.mark.parametrize(
    "process",
    [
        Independent([PowerLaw()]),
        Independent(POWERS),
        Independent(DIFFERENT, [0.2, -3.0, 1.0]),
        Mixed(POWERS, MIXING),
        Mixed(DIFFERENT, MIXING, [1.0, 0.0, 2.0]),
    ],
    ids=["one", "powers", "different", "mixed powers", "mixed different"],
)


def rotation(d, seed):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]


def allocation(process, channels=2, n_layers=4, params=None):
    arch = cc.Hierarchical(channels, n_layers, input_dim=process.input_dim)
    return cc.allocate(arch, cc.fit(arch, process).params if params is None else params, process)


# --- covariance and predictor ---------------------------------------------------------------------------------------


@every_mixture
@pytest.mark.parametrize("n", [1, 2, 9])
def test_the_predictor_solves_the_normal_equations(process, n):
    """A* = Σ⁻¹ E[x y] and v* = E[y²] − A*·E[x y], with E[x y] read from the covariance of n + 1 positions."""
    d, w = process.input_dim, process.weights
    sigma = process.covariance(n + 1)
    past, nxt = sigma[d:, d:], sigma[d:, :d] @ w  # position 0 of the longer window is the one to predict
    target, variance = process.predictor(n)
    assert target.shape == (n * d,)
    assert_allclose(process.covariance(n), past, rtol=0, atol=1e-15)
    assert_allclose(target, np.linalg.solve(past, nxt), rtol=0, atol=1e-11)  # condition numbers below 1e3
    assert variance == pytest.approx(w @ sigma[:d, :d] @ w - target @ nxt, rel=1e-9)


@every_mixture
def test_the_covariance_is_symmetric_positive_definite_and_made_of_the_blocks(process):
    n, d = 7, process.input_dim
    sigma, blocks = process.covariance(n), process.autocovariance(n)
    assert np.array_equal(sigma, sigma.T) and np.linalg.eigvalsh(sigma)[0] > 0
    for i in range(n):
        for k in range(n):
            assert np.array_equal(sigma[i * d : (i + 1) * d, k * d : (k + 1) * d], blocks[abs(i - k)])


def test_one_component_is_the_component():
    one, alone = Independent([PowerLaw()]), PowerLaw()
    assert np.array_equal(one.covariance(16), alone.covariance(16))
    assert np.array_equal(one.predictor(16)[0], alone.predictor(16)[0])
    assert np.array_equal(allocation(one).per_input, allocation(alone).per_input)


def test_a_simulation_has_these_covariances_and_this_prediction_error(rng):
    """Σ and v* from 200,000 samples of mixed AR(1) sources made by their own recursion."""
    phis, size = np.array([0.5, 0.9, -0.3]), 200_000
    z = np.zeros((size, 3))
    noise = rng.normal(size=(size, 3)) * np.sqrt(1 - phis**2)
    for t in range(1, size):
        z[t] = phis * z[t - 1] + noise[t]
    process = Mixed([AR1(phi) for phi in phis], MIXING, [1.0, -1.0, 0.5])
    x, n = z @ MIXING.T, 3
    past = np.hstack([x[n - 1 - lag : size - 1 - lag] for lag in range(n)])
    target, variance = process.predictor(n)
    # 200,000 samples with correlation times of up to 20: standard errors of about 0.01.
    assert_allclose(past.T @ past / len(past), process.covariance(n), atol=0.06)
    assert np.var(x[n:] @ process.weights - past @ target) == pytest.approx(variance, rel=0.02)


# --- mixing ---------------------------------------------------------------------------------------------------------


@given(seeds)
def test_mixing_moves_covariance_and_target_as_it_moves_the_vectors(seed):
    d, n = 3, 5
    generator = np.random.default_rng(seed)
    mixing = rotation(d, seed) * generator.uniform(0.5, 2.0, d) @ rotation(d, seed + 1)
    weights = generator.normal(size=d)
    mixed, sources = Mixed(POWERS, mixing, weights), Independent(POWERS, mixing.T @ weights)
    lift = np.kron(np.eye(n), mixing)
    assert_allclose(mixed.covariance(n), lift @ sources.covariance(n) @ lift.T, rtol=0, atol=1e-13)
    assert_allclose(lift.T @ mixed.predictor(n)[0], sources.predictor(n)[0], rtol=0, atol=1e-13)
    assert mixed.predictor(n)[1] == sources.predictor(n)[1]


@given(seeds)
def test_the_constraint_space_is_mixed_with_the_inputs(seed):
    """K̃_x = (I⊗M) K̃_z at corresponding parameters, so κ and the loss do not change, whatever the mixing."""
    mixing = MIXING @ rotation(3, seed)
    arch = cc.Hierarchical(2, 4, input_dim=3)
    params = arch.init(np.random.default_rng(seed))
    kernel, rest = params[arch.layers["layer 1"]].reshape(3, -1), params[arch.layers["layer 1"].stop :]
    moved = np.concatenate([np.linalg.solve(mixing.T, kernel).reshape(-1), rest])
    weights = np.linalg.solve(mixing.T, np.ones(3))
    mixed, sources = Mixed(POWERS, mixing, weights), Independent(POWERS, np.ones(3))
    before, after = allocation(sources, params=params), allocation(mixed, params=moved)
    lift = np.kron(np.eye(arch.n_inputs), mixing)
    expected = cc.ConstraintSpace.from_columns(lift @ before.space.basis)
    assert after.total == before.total == arch.generic_capacity()
    assert_allclose(after.space.basis @ after.space.basis.T, expected.basis @ expected.basis.T, rtol=0, atol=1e-9)
    losses = [Problem.of(arch, p).loss(arch.coefficients(w)) for p, w in [(mixed, moved), (sources, params)]]
    assert losses[0] == pytest.approx(losses[1], rel=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_a_rotation_within_positions_leaves_every_position_its_capacity(seed):
    turn = rotation(3, seed)
    turned, plain = Mixed(POWERS, turn, turn @ np.ones(3)), Independent(POWERS, np.ones(3))
    assert_allclose(allocation(turned).per_input, allocation(plain).per_input, rtol=0, atol=1e-5)  # two optima


def test_correlation_within_positions_moves_capacity_between_positions():
    weights = np.linalg.solve(MIXING.T, np.ones(3))
    mixed, plain = allocation(Mixed(POWERS, MIXING, weights)), allocation(Independent(POWERS, np.ones(3)))
    assert mixed.total == plain.total
    assert np.abs(mixed.per_input - plain.per_input).max() > 0.005  # 0.02, against 1e-5 between two optima


# --- capacity per position ------------------------------------------------------------------------------------------


@given(st.permutations(range(3)), seeds)
def test_permuting_components_permutes_their_capacities(order, seed):
    arch = cc.Hierarchical(2, 4, input_dim=3)
    params = arch.init(np.random.default_rng(seed))
    kernel = params[arch.layers["layer 1"]].reshape(3, -1)
    permuted = np.concatenate([kernel[list(order)].reshape(-1), params[arch.layers["layer 1"].stop :]])
    process, other = Independent(POWERS), Independent([POWERS[j] for j in order])
    before, after = allocation(process, params=params), allocation(other, params=permuted)
    expected = before.space.per_input().reshape(-1, 3)[:, list(order)]
    assert_allclose(after.space.per_input().reshape(-1, 3), expected, rtol=0, atol=1e-9)
    assert_allclose(after.per_input, before.per_input, rtol=0, atol=1e-9)


@every_mixture
def test_a_position_has_at_most_d(process):
    found = allocation(process, channels=4)
    assert found.per_input.shape == (16,)
    assert found.per_input.max() <= process.input_dim + 1e-9
    assert found.per_input.sum() == pytest.approx(found.total)


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("components", "weights", "error", "message"),
    [
        ([], None, ValueError, "components: found none, expected at least one process"),
        (PowerLaw(), None, TypeError, "components: found PowerLaw, expected a list of processes"),
        ("PowerLaw", None, TypeError, "components: found str"),
        (3, None, TypeError, "components: found int"),
        ([PowerLaw(), "AR1"], None, TypeError, r"components\[1\]: found str, expected a Process"),
        ([Independent(POWERS)], None, TypeError, r"components\[0\]: found Independent, expected a one-dim"),
        ([Mixed(POWERS, MIXING)], None, TypeError, "List all components in one process"),
        ([Independent([PowerLaw()])], None, TypeError, "expected a one-dimensional process"),
        (POWERS, [1.0, 2.0], ValueError, r"weights: found 2 value\(s\), expected 3, one per component"),
        (POWERS, [1.0, np.nan, 1.0], ValueError, "weights: found 1 value.* NaN or infinite"),
        (POWERS, [0.0, 0.0, 0.0], ValueError, "weights: found only zeros.*nothing to predict"),
        (POWERS, [[1.0, 1.0, 1.0]], ValueError, "weights: found an array of shape"),
    ],
)
def test_refused_components_and_weights(components, weights, error, message):
    with pytest.raises(error, match=message):
        Independent(components, weights)
    with pytest.raises(error, match=message):
        Mixed(components, np.eye(3), weights)


@pytest.mark.parametrize(
    ("mixing", "message"),
    [
        (np.ones((3, 2)), r"mixing: found shape \(3, 2\), expected \(3, 3\)"),
        (np.eye(2), r"mixing: found shape \(2, 2\), expected \(3, 3\)"),
        (np.ones(3), "mixing: found an array of shape"),
        (np.diag([1.0, np.nan, 1.0]), "mixing: found 1 value.* NaN or infinite"),
        (np.ones((3, 3)), "mixing: found a condition number of .*, expected less than 1e.08"),
        (np.zeros((3, 3)), "mixing: found a condition number"),
        (np.diag([1.0, 1.0, 1e-9]), "Leave those out, or mix less"),
    ],
)
def test_refused_mixing(mixing, message):
    with pytest.raises(ValueError, match=message):
        Mixed(POWERS, mixing)


def test_other_bad_input():
    process = Independent(POWERS)
    for method in (process.autocovariance, process.covariance, process.predictor):
        with pytest.raises(ValueError, match="n: found 0"):
            method(0)
    with pytest.raises(ValueError, match=r"found 3 component\(s\) per position, expected 2"):
        cc.fit(cc.Hierarchical(2, 3, input_dim=2), process)
    with pytest.raises(ValueError, match="read-only"):
        process.weights[0] = 2.0


def test_they_say_what_they_are():
    assert repr(Independent([AR1(0.5)], [2.0])) == "Independent([AR1(phi=0.5)], weights=[2.0])"
    assert repr(Mixed([AR1(0.5)], [[2.0]])) == "Mixed([AR1(phi=0.5)], mixing=[[2.0]], weights=[1.0])"
