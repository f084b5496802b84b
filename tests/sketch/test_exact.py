"""Exact leverage scores from products: against the dense allocation, exact fractions, and themselves."""

from __future__ import annotations

import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import capcore as cc
from capcore.sketch import JacobianProducts, estimate_capacity
from tests.strategies import hierarchical_models, seeds

METHODS = ("range", "whitened")
DILATED = {
    "four blocks": cc.Hierarchical(2, dilations=[1, 2, 4, 8] * 3),
    "the whole space": cc.Hierarchical(4, dilations=[1, 2, 4, 8] * 3),
    "one channel": cc.Hierarchical(1, dilations=[1, 2, 4, 8] * 3),
    "long": cc.Hierarchical(3, dilations=[1, 2, 4, 8, 16, 32] * 2),
    "repeated": cc.Hierarchical(2, dilations=[1, 1, 1, 4, 4, 4, 16, 16, 16]),
    "disjoint": cc.Hierarchical(3, n_layers=7),
    "recurrent": cc.Recurrent(64, 4),
    "function": cc.Function(lambda w: np.convolve(np.convolve(w[:5] ** 2, w[5:9]), w[9:]), 12),
}


@pytest.mark.parametrize("name", DILATED)
@pytest.mark.parametrize("method", METHODS)
def test_they_agree_with_the_dense_allocation(name: str, method: str) -> None:
    arch = DILATED[name]
    params = arch.init(np.random.default_rng(1))
    dense = cc.allocate(arch, params, cc.PowerLaw())
    found = estimate_capacity(arch, params, cc.PowerLaw(), method=method, rng=7)
    assert found.rank == dense.total == found.generic_total
    np.testing.assert_allclose(found.per_input.value, dense.per_input, atol=max(found.error, 1e-12))
    assert found.error < 1e-3
    assert found.per_input.covers(dense.per_input).all()
    np.testing.assert_allclose(found.total.value, dense.total, atol=max(found.error, 1e-9))


@settings(max_examples=30)
@given(hierarchical_models(), seeds)
def test_they_agree_for_any_stack_and_any_number_of_components(arch: cc.Hierarchical, seed: int) -> None:
    components = [cc.AR1(0.5), cc.PowerLaw(0.5), cc.AR1(-0.3)][: arch.input_dim]
    process = components[0] if arch.input_dim == 1 else cc.Independent(components)
    params = arch.init(np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CapacityWarning)
        dense = cc.allocate(arch, params, process)
        found = [estimate_capacity(arch, params, process, method=method, rng=seed) for method in METHODS]
    for estimate in found:
        if estimate.rank == dense.total:
            assert np.abs(estimate.per_input.value - dense.per_input).max() < max(estimate.error, 1e-9)
        octaves = np.bincount(estimate.octaves, dense.per_input)
        assert estimate.per_octave.covers(octaves, slack=1e-7).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("exponent", [150, -150])
def test_scales_of_layers_do_not_matter(method: str, exponent: int) -> None:
    arch = DILATED["four blocks"]
    params = arch.init(np.random.default_rng(2))
    scaled = params.copy()
    scaled[arch.layers["layer 3"]] *= 10.0**exponent
    scaled[arch.layers["layer 9"]] *= 10.0**-exponent
    first, second = (estimate_capacity(arch, w, cc.PowerLaw(), method=method) for w in (params, scaled))
    assert first.rank == second.rank == arch.generic_capacity()
    np.testing.assert_allclose(second.per_input.value, first.per_input.value, atol=1e-7)


def exact_capacity(poles: list[Fraction], n: int, covariance: np.ndarray) -> np.ndarray:
    """Leverage scores of ΣJ of a recurrent model in fractions: no rounding before the last conversion."""
    from flint import fmpq, fmpq_mat

    def rational(value: float | Fraction) -> object:
        fraction = Fraction(value)
        return fmpq(fraction.numerator, fraction.denominator)

    columns = [[pole**lag for lag in range(n)] for pole in poles]
    columns += [[lag * pole ** (lag - 1) if lag else Fraction(0) for lag in range(n)] for pole in poles]
    sigma = fmpq_mat([[rational(float(value)) for value in row] for row in covariance])
    matrix = sigma * fmpq_mat([[rational(x) for x in column] for column in columns]).transpose()
    gram = matrix.transpose() * matrix
    projector = matrix * gram.solve(matrix.transpose())
    return np.array([float(Fraction(int(projector[i, i].p), int(projector[i, i].q))) for i in range(n)])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("channels", [2, 3, 4, 5])
def test_the_bound_on_rounding_holds_against_exact_fractions(method: str, channels: int) -> None:
    n, process = 20, cc.PowerLaw()
    poles = [Fraction(k, 8) for k in range(1, channels + 1)]  # close together: the condition number grows fast
    arch = cc.Recurrent(n, channels)
    params = arch.assemble([float(pole) for pole in poles], np.ones(channels))
    truth = exact_capacity(poles, n, process.covariance(n))
    assert truth.sum() == pytest.approx(2 * channels, abs=1e-9)
    found = estimate_capacity(arch, params, process, method=method)
    assert found.rank == 2 * channels
    assert np.abs(found.per_input.value - truth).max() < found.error
    assert found.per_octave.covers(np.bincount(found.octaves, truth), slack=0).all()


def test_lost_directions_widen_the_limits_and_warn() -> None:
    n, channels, process = 24, 9, cc.PowerLaw()
    poles = [Fraction(k, 64) for k in range(1, channels + 1)]
    arch = cc.Recurrent(n, channels)
    params = arch.assemble([float(pole) for pole in poles], np.ones(channels))
    with pytest.warns(cc.CapacityWarning, match="below the exact generic capacity 18"):
        found = estimate_capacity(arch, params, process)
    assert found.rank is not None and found.rank < 18
    truth = exact_capacity(poles, n, process.covariance(n))
    assert found.per_octave.covers(np.bincount(found.octaves, truth), slack=0).all()
    assert found.total.lower[0] <= 18 <= found.total.upper[0]


def test_singular_parameters_are_enclosed_too() -> None:
    arch = DILATED["four blocks"]
    params = arch.init(np.random.default_rng(3))
    params[arch.layers["layer 5"]] = 0.0
    with pytest.warns(cc.CapacityWarning):
        dense = cc.allocate(arch, params, cc.PowerLaw())
    for method in METHODS:
        with pytest.warns(cc.CapacityWarning):
            found = estimate_capacity(arch, params, cc.PowerLaw(), method=method)
        assert found.rank == dense.total < found.largest_total
        np.testing.assert_allclose(found.per_input.value, dense.per_input, atol=1e-9)
        assert found.per_input.covers(dense.per_input).all()


@pytest.mark.parametrize(("n", "p", "rank"), [(300, 200, 5), (300, 200, 120), (300, 40, 40), (30, 200, 30), (9, 3, 2)])
@pytest.mark.parametrize("method", METHODS)
def test_an_unknown_rank_is_found(n: int, p: int, rank: int, method: str) -> None:
    rng = np.random.default_rng(4)
    jacobian = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p))
    process = cc.AR1(0.3)
    space = cc.ConstraintSpace.from_columns(process.covariance(n) @ jacobian)
    found = estimate_capacity(JacobianProducts.dense(jacobian), None, process, method=method)
    assert found.generic_total is None and found.rank == found.largest_total == rank
    np.testing.assert_allclose(found.per_input.value, space.per_input(), atol=1e-9)


def test_a_model_that_does_not_move_has_no_capacity() -> None:
    nothing = JacobianProducts.dense(np.zeros((5, 3)))
    for method in METHODS:
        found = estimate_capacity(nothing, None, cc.AR1(0.3), method=method)
        assert found.rank == 0 and not found.per_input.value.any()


def test_an_own_function_through_jax_agrees_with_the_dense_allocation() -> None:
    jnp = pytest.importorskip("jax.numpy")

    def network(w):
        return jnp.tanh(w[:30].reshape(10, 3)) @ jnp.sin(w[30:])

    params = np.random.default_rng(5).normal(size=33)
    dense = cc.allocate_function(network, params, cc.PowerLaw())
    for method in METHODS:
        arch = cc.Function(network, 33, derivative="jax")
        found = estimate_capacity(arch, params, cc.PowerLaw(), method=method)
        assert found.rank == dense.total
        np.testing.assert_allclose(found.per_input.value, dense.per_input, atol=1e-9)


@pytest.mark.parametrize(
    ("forward", "backward", "message"),
    [
        (lambda v: v[:1], lambda u: u, "forward: found a product of shape (1,"),
        (lambda v: v, lambda u: u[:, :1], "backward: found a product of shape (4, 1)"),
        (lambda v: v * np.nan, lambda u: u, "NaN or infinite values in a product"),
    ],
)
def test_products_that_do_not_fit_are_refused(forward, backward, message) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        estimate_capacity(JacobianProducts(forward, backward, 4, 4), None, cc.AR1(0.3))
