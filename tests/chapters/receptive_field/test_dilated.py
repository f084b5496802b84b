"""Dilated fields: sums in units of the largest dilation against layers on positions, and the derived factors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.propagation import ConvolutionTransport, displacement
from chapters.receptive_field import dilated as study
from tests.strategies import all_of

DEPTHS = [2**k for k in range(3, 13)]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.floats(0.01, 0.5))
def test_the_field_is_that_of_the_layers_on_positions(powers, jump):
    layer = ConvolutionTransport.of_offsets({-1: jump, 0: 1 - 2 * jump, 1: jump})
    moved = displacement([layer.dilated(2**power) for power in powers])
    found = study.field(np.log(2) * np.array(powers), jump)
    assert found.deviation * 2 ** max(powers) == pytest.approx(np.sqrt(moved.covariance.item()), rel=1e-12)
    assert found.excess_kurtosis == pytest.approx(moved.excess_kurtosis.item(), abs=1e-10)


@pytest.mark.parametrize("n_layers", [12, 24, 48])
def test_doubling_dilations_have_the_published_kurtosis(n_layers):
    """0.3 N − 1.8 at λ = 2 and a = 1, up to terms of order N 4^−N."""
    found = study.field(study.stepped_dilations(n_layers), 1 / n_layers)
    assert found.excess_kurtosis == pytest.approx(0.3 * n_layers - 1.8, abs=1e-4)
    closed = np.sqrt(2 * (4**n_layers - 1) / (3 * n_layers)) / 2.0 ** (n_layers - 1)
    assert found.deviation == pytest.approx(closed, rel=1e-12)


def test_depths_beyond_any_floating_point_number():
    found = study.field(study.stepped_dilations(4096), 1 / 4096)
    assert found.deviation == pytest.approx(np.sqrt(2 / 4096 * 4 / 3), rel=1e-12)
    assert found.excess_kurtosis == pytest.approx(0.3 * 4096 - 1.8, rel=1e-12)


@given(st.integers(1, 12), st.floats(1.1, 5), st.integers(1, 8))
def test_the_factor_of_larger_steps(every, ratio, n_stages):
    """At any number of layers: what is left of the lowest ones cancels."""
    n_layers = every * n_stages
    stepped, smooth = (study.field(study.stepped_dilations(n_layers, ratio, m), 0.3) for m in (every, 1))
    assert stepped.deviation / smooth.deviation == pytest.approx(study.step_factor(every, ratio), rel=1e-9)


def test_the_root_counts_stages():
    fields = [study.field(study.staged_dilations(n, 8), 1 / n).deviation for n in DEPTHS]
    np.testing.assert_allclose(fields, np.sqrt(2 / 8 * (1 - 4.0**-8) / (1 - 1 / 4)), rtol=1e-12)


@pytest.mark.parametrize("ratio", [1.01, 2.0, 3.0])
def test_the_printed_integral_over_the_sum(ratio):
    n_layers = 40
    printed = ratio ** (2 * n_layers) / (2 * n_layers * np.log(ratio))
    assert study.printed_over_exact(n_layers, ratio) == pytest.approx(
        printed / np.mean(ratio ** (2.0 * np.arange(n_layers))), rel=1e-12
    )


def test_equation_20_is_the_limit_of_finer_steps():
    gaps = [study.smooth_gap(n, 16.0) for n in DEPTHS]
    assert np.log2(gaps[-2] / gaps[-1]) == pytest.approx(1, abs=0.01)
    assert gaps[-1] * 4096 == pytest.approx(np.log(16), rel=0.01)  # x coth x − 1 + x, to first order


def test_finer_steps_become_gaussian_only_with_weights_of_fixed_size():
    logs = study.smooth_dilations(4096, 16.0)
    assert abs(study.field(logs, 0.25).excess_kurtosis) < 1e-3
    assert study.field(logs, 1 / 4096).excess_kurtosis > 1


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: study.stepped_dilations(7, 2.0, 2), ["every: found 2 for 7 layers", "divisor"]),
        (lambda: study.stepped_dilations(8, 1.0), ["ratio: found 1", "more than 1"]),
        (lambda: study.staged_dilations(9, 2), ["n_stages: found 2 for 9 layers"]),
        (lambda: study.smooth_dilations(9, 0.5), ["largest: found 0.5"]),
        (lambda: study.field([0.0], 0.6), ["jump: found 0.6", "at most ½"]),
        (lambda: study.field([0.0], float("nan")), ["jump: found nan"]),
        (lambda: study.step_factor(0), ["every: found 0"]),
    ],
)
def test_bad_dilations_are_refused(call, parts):
    with pytest.raises(ValueError, match=all_of(parts)):
        call()
