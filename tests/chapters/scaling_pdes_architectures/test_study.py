"""Channels that collapse and stages of dilations: layers, laws, variances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.propagation import nearest_neighbour_law, propagate, residual
from chapters.scaling_pdes.study import total_variation
from chapters.scaling_pdes_architectures import study
from tests.strategies import seeds


@given(st.integers(1, 6), seeds, st.sampled_from(["uniform", "lumpable"]), st.sampled_from([8, 100, 4096]))
def test_equal_totals_collapse(channels, seed, kind, n_layers):
    rng = np.random.default_rng(seed)
    rates = study.mixing_rates(kind, channels, rng)
    np.testing.assert_allclose(rates.weights.sum(axis=0), np.array(study.TAP_TOTALS)[:, None].repeat(channels, 1))
    assert study.collapse_gap(rates, n_layers, rng) < 1e-14


def test_free_rates_do_not_collapse():
    rates = study.mixing_rates("free", 4, np.random.default_rng(1))
    with pytest.raises(ValueError, match="differs by"):
        study.collapse_gap(rates, 64, np.random.default_rng(0))
    assert total_variation(*study.other_channel(rates, 64)) > 0.01


def test_the_two_ends_layer_by_layer():
    rates = study.mixing_rates("free", 3, np.random.default_rng(2))
    for channel, end in enumerate(study.other_channel(rates, 32)):
        start = np.zeros((64, 3))
        start[32, channel] = 1
        slow = propagate(start, [residual(rates, 32)] * 32).per_position
        np.testing.assert_allclose(end, slow, atol=1e-14)


def test_free_rates_have_the_same_sum_on_average():
    totals = [study.mixing_rates("free", 8, np.random.default_rng(seed)).sums.mean() for seed in range(100)]
    assert np.mean(totals) == pytest.approx(sum(study.TAP_TOTALS), rel=0.02)  # 19,200 exponentials: 0.7 %


@pytest.mark.parametrize(("channels", "taps"), [(4, 1), (16, 3), (64, 9)])
def test_xavier_conserves_on_average(channels, taps):
    rng = np.random.default_rng(0)
    assert study.squared_sum(channels, taps, study.xavier_variance(channels, taps), rng) == pytest.approx(1, rel=0.02)
    assert study.squared_sum(channels, taps, 1 / channels, rng) == pytest.approx(taps, rel=0.02)


def test_one_channel_has_no_other():
    with pytest.raises(ValueError, match="rates: found 1 channel"):
        study.other_channel(study.mixing_rates("uniform", 1, np.random.default_rng(0)), 8)


def test_unknown_mixing_is_refused():
    with pytest.raises(ValueError, match=r"kind: found 'lumpd'.*Did you mean 'lumpable'"):
        study.mixing_rates("lumpd", 2, np.random.default_rng(0))


def test_stages_are_the_layers_one_by_one():
    rates = study.stage_rates(3, 1.0)
    layers = [residual(r, 12) for r in rates for _ in range(4)]
    start = np.zeros(64)
    start[32] = 1
    np.testing.assert_allclose(study.law_of_stages(12, 3, 1.0, 64), propagate(start, layers).per_position, atol=1e-14)


def test_one_stage_is_the_law_of_nearest_neighbours():
    expected = nearest_neighbour_law(np.arange(81) - 40, 2.0, 2.0)
    np.testing.assert_allclose(study.lattice_law(1, 2.0, 81), expected, atol=1e-12)


def test_the_variance_is_summed_over_the_stages():
    law, x = study.lattice_law(4, 1.0, 512), np.arange(512) - 256
    assert law @ x**2 == pytest.approx(2 * study.diffusion(4, 1.0), rel=1e-10)


def test_orders_of_both_limits():
    layers = [study.lattice_gap(n, 4, 1.0, 256) for n in (512, 1024)]
    heat = [study.heat_gap(4, rate) for rate in (32.0, 64.0)]
    for gaps in (layers, heat):
        assert np.log2(gaps[0] / gaps[1]) == pytest.approx(1, abs=0.02)


def test_unequal_stages_are_refused():
    with pytest.raises(ValueError, match="n_stages: found 3 for 8 layers"):
        study.law_of_stages(8, 3, 1.0, 64)
