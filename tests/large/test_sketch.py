"""Exact leverage scores from products: against the dense allocation, exact fractions, and themselves."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import capcore as cc
from capcore.architectures import Linear
from capcore.checks.arguments import quiet
from capcore.checks.memory import TooLargeError
from capcore.large import sketch
from capcore.large.sketch import estimate_capacity
from tests.strategies import hierarchical_models, seeds

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
def test_they_agree_with_the_dense_allocation(name: str) -> None:
    arch = DILATED[name]
    params = arch.init(np.random.default_rng(1))
    dense = cc.allocate(arch, params, cc.PowerLaw())
    found = estimate_capacity(arch, params, cc.PowerLaw(), rng=7)
    assert found.total == dense.total == found.generic_total
    np.testing.assert_allclose(found.per_input, dense.per_input, atol=max(found.error, 1e-12))
    assert found.error < 1e-3
    np.testing.assert_allclose(found.per_input.sum(), dense.total, atol=max(found.error, 1e-9))


@settings(max_examples=30)
@given(hierarchical_models(), seeds)
def test_they_agree_for_any_stack_and_any_number_of_components(arch: cc.Hierarchical, seed: int) -> None:
    components = [cc.AR1(0.5), cc.PowerLaw(0.5), cc.AR1(-0.3)][: arch.input_dim]
    process = components[0] if arch.input_dim == 1 else cc.Independent(components)
    params = arch.init(np.random.default_rng(seed))
    with quiet():
        dense = cc.allocate(arch, params, process)
        found = estimate_capacity(arch, params, process, rng=seed)
    if found.total == dense.total:
        assert np.abs(found.per_input - dense.per_input).max() < max(found.error, 1e-9)


@pytest.mark.parametrize("exponent", [150, -150])
def test_scales_of_layers_do_not_matter(exponent: int) -> None:
    arch = DILATED["four blocks"]
    params = arch.init(np.random.default_rng(2))
    scaled = params.copy()
    scaled[arch.layers["layer 3"]] *= 10.0**exponent
    scaled[arch.layers["layer 9"]] *= 10.0**-exponent
    first, second = (estimate_capacity(arch, w, cc.PowerLaw()) for w in (params, scaled))
    assert first.total == second.total == arch.generic_capacity()
    np.testing.assert_allclose(second.per_input, first.per_input, atol=1e-7)


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


@pytest.mark.parametrize("channels", [2, 3, 4, 5])
def test_the_bound_on_rounding_holds_against_exact_fractions(channels: int) -> None:
    n, process = 20, cc.PowerLaw()
    poles = [Fraction(k, 8) for k in range(1, channels + 1)]  # close together: the condition number grows fast
    arch = cc.Recurrent(n, channels)
    params = arch.assemble([float(pole) for pole in poles], np.ones(channels))
    truth = exact_capacity(poles, n, process.covariance(n))
    assert truth.sum() == pytest.approx(2 * channels, abs=1e-9)
    found = estimate_capacity(arch, params, process)
    assert found.total == 2 * channels
    assert np.abs(found.per_input - truth).max() < found.error


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("n", "p", "rank"), [(300, 200, 5), (300, 200, 120), (300, 40, 40), (30, 200, 30), (9, 3, 2)])
def test_known_and_unknown_ranks_are_found(
    n: int, p: int, rank: int, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not known:
        monkeypatch.setattr(sketch, "EXACT_ENTRIES", 0)
    rng = np.random.default_rng(4)
    columns = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p))
    process = cc.AR1(0.3)
    space = cc.ConstraintSpace.from_columns(process.covariance(n) @ columns)
    found = estimate_capacity(Linear(columns), np.ones(p), process)
    assert found.generic_total == (rank if known else None) and found.total == rank
    np.testing.assert_allclose(found.per_input, space.per_input(), atol=1e-9)


def test_the_same_seed_gives_the_same_answer_and_progress_is_shown(capsys: pytest.CaptureFixture) -> None:
    arch = DILATED["long"]
    params = arch.init(np.random.default_rng(9))
    first, second = (estimate_capacity(arch, params, cc.AR1(0.5), rng=3, progress=shown) for shown in (False, True))
    np.testing.assert_array_equal(first.per_input, second.per_input)
    assert "capacity: " in capsys.readouterr().err


def test_a_model_that_does_not_move_has_no_capacity() -> None:
    found = estimate_capacity(Linear(np.zeros((5, 3))), np.ones(3), cc.AR1(0.3))
    assert found.total == 0 and not found.per_input.any()


def test_singular_parameters_are_reported() -> None:
    arch = DILATED["long"]
    params = arch.init(np.random.default_rng(0))
    params[arch.layers["layer 2"]] = 0
    with pytest.warns(cc.CapacityWarning, match="differs from the exact generic capacity"):
        found = estimate_capacity(arch, params, cc.PowerLaw())
    assert found.total < found.generic_total


def test_a_long_model_is_neither_listed_nor_ranked() -> None:
    arch = cc.Hierarchical(1, dilations=[2**k for k in range(11)] * 2)
    found = estimate_capacity(arch, arch.init(np.random.default_rng(0)), cc.PowerLaw())
    np.testing.assert_allclose(found.per_input.sum(), found.total, atol=1e-9)


def test_what_cannot_be_done_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    arch = cc.Hierarchical(2, 3, input_dim=2)
    params = arch.init(np.random.default_rng(0))
    with pytest.raises(ValueError, match=re.escape("found 1 component(s) per position, expected 2")):
        estimate_capacity(arch, params, cc.AR1(0.5))
    with pytest.raises(ValueError, match="params: found 1 value"):
        estimate_capacity(DILATED["long"], [1.0], cc.AR1(0.5))
    monkeypatch.setenv("CAPCORE_MEMORY", "2.2e6")
    with pytest.raises(TooLargeError, match=r"sketch: found 300 inputs of \d+ columns"):
        estimate_capacity(Linear(np.random.default_rng(6).normal(size=(300, 400))), np.ones(400), cc.AR1(0.5))


def test_a_covariance_that_loses_a_direction_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long covariance is not checked as a whole; here none is."""
    monkeypatch.setattr(sketch, "covariance_product", lambda *_: np.diag([1.0, 2, 3, 0, 1, 1]).__matmul__)
    with pytest.raises(ValueError, match=re.escape("numerically singular on the tangent space")):
        estimate_capacity(Linear(np.eye(6)[:, :4]), np.ones(4), cc.AR1(0.5))
