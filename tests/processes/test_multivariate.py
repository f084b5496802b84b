"""Several components per position: the predictor against dense solves, mixing, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import capcore as cc
from capcore.processes import DampedCosine, FractionalGaussianNoise, PowerLaw
from capcore.processes.multivariate import Independent
from tests.strategies import refused, seeds

POWERS = [PowerLaw(0.3), PowerLaw(0.6), PowerLaw(0.9)]
DIFFERENT = [PowerLaw(0.5), FractionalGaussianNoise(0.8), DampedCosine(10.0, 6.0)]
every_mixture = pytest.mark.parametrize(
    "process",
    [Independent([PowerLaw()]), Independent(POWERS), Independent(DIFFERENT, [0.2, -3.0, 1.0])],
    ids=["one", "powers", "different"],
)


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


test_refused_components_and_weights = refused(
    Independent,
    ([], None, "components: found none, expected at least one process"),
    (POWERS, [1.0, 2.0], r"weights: found 2 value\(s\), expected 3, one per component"),
    (POWERS, [0.0, 0.0, 0.0], "weights: found only zeros.*nothing to predict"),
    (POWERS, [[1.0, 1.0, 1.0]], "weights: found an array of shape"),
)


test_refused_components_and_weights_by_type = refused(
    Independent,
    (PowerLaw(), None, "components: found PowerLaw, expected a list of processes"),
    ("PowerLaw", None, "components: found str"),
    (3, None, "components: found int"),
    ([PowerLaw(), "AR1"], None, r"components\[1\]: found str, expected a Process"),
    ([Independent(POWERS)], None, r"components\[0\]: found Independent, expected one of one dimension"),
    ([Independent([PowerLaw()])], None, "expected one of one dimension"),
    error=TypeError,
)


def test_other_bad_input():
    process = Independent(POWERS)
    for method in (process.autocovariance, process.covariance, process.predictor):
        with pytest.raises(ValueError, match="n: found 0"):
            method(0)
    with pytest.raises(ValueError, match=r"found 3 component\(s\) per position, expected 2"):
        cc.fit(cc.Hierarchical(2, 3, input_dim=2), process)
    with pytest.raises(ValueError, match="read-only"):
        process.weights[0] = 2.0
