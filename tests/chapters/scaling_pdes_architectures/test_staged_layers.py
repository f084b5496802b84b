"""Stages of dilations: layers, their lattice law, its variance and its Gaussian."""

import numpy as np
import pytest

from capcore.propagation import nearest_neighbour_law, propagate, residual
from chapters.scaling_pdes_architectures import study


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
