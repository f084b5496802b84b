"""The √d scaling: what it does to exact totals, and the measures by which profiles are compared."""

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.generic import exact_rank
from chapters.multidimensional.component_runs import Runs
from chapters.multidimensional.dimension_scaling import (
    exact_densities,
    fixed_over_scaled,
    gets_smoother,
    least_difference,
    mean_difference,
    parameters_per_component,
    scaled_channels,
    scaled_runs,
)
from chapters.shared.profiles import roughness


@pytest.fixture(scope="module")
def group():
    return scaled_runs(Runs("PowerLaw", n_layers=4), 1, (1, 4))


def test_channels_grow_with_the_root_of_the_dimension():
    assert [scaled_channels(c, d) for d in (1, 4, 16) for c in (1, 2, 4)] == [1, 2, 4, 2, 4, 8, 4, 8, 16]


def test_the_scaled_models(group):
    assert [(run.arch.input_dim, run.arch.channels[0]) for run in group] == [(1, 1), (4, 2)]


def test_totals_bound_the_difference_of_profiles(group):
    expected = np.abs(group[0].per_input - group[1].per_input / 4).mean()
    assert mean_difference(group) == pytest.approx(expected)
    assert mean_difference(group) >= least_difference(group) > 0
    assert mean_difference(group[:1]) == 0


def test_smoother_means_less_rough(group):
    falls = roughness(group[1].normalised) < roughness(group[0].normalised)
    assert gets_smoother(group) == falls != gets_smoother(group[::-1])
    assert not gets_smoother([group[0], group[0]])


@pytest.mark.parametrize("base", [1, 2])
def test_densities_are_exact_ranks(base):
    for d, density in zip((1, 4, 9), exact_densities(base, (1, 4, 9), 3, 2), strict=True):
        arch = Hierarchical(scaled_channels(base, d), 3, input_dim=d)
        assert density == exact_rank(arch) / (arch.n_inputs * d)


def test_the_first_layer_outgrows_the_dimension():
    """2·d·c + 8c² + 2c parameters at L = 6: per component 2c₀√d + 8c₀² + 2c₀/√d, which grows without bound."""
    found = parameters_per_component(2, (1, 4, 16), 6, 2)
    assert found == pytest.approx([4 * np.sqrt(d) + 32 + 4 / np.sqrt(d) for d in (1, 4, 16)])
    assert (64 * exact_densities(1, [1, 16, 1024], 6, 2)).tolist() == [7, 11, 64]


def test_fixed_channels_against_scaled_ones():
    runs = Runs("PowerLaw", n_layers=4)
    first, fixed, scaled = runs.at(1, 2), runs.at(4, 2), runs.at(4, 4)
    expected = mean_difference([first, fixed]) / mean_difference([first, scaled])
    assert fixed_over_scaled(runs, 2, 1, 4) == pytest.approx(expected)
    assert fixed_over_scaled(Runs("PowerLaw", n_layers=2), 4, 1, 4) == 1.0, "all positions at their ceilings"
