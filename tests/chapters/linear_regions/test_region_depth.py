"""Exponents by depth from other random numbers: repeatable, independent, and those of the check that they repeat."""

import numpy as np
import pytest

from chapters.linear_regions import region_depth as study
from chapters.linear_regions.region_laws import random_networks, regions_by_length


def test_more_repetitions_leave_the_first_as_it_is():
    few, more = (study.depth_exponents(n, 8, 4, 0.5, 10, 3) for n in (1, 2))
    assert few[0] == more[0] != more[1]
    assert study.depth_exponents(1, 8, 4, 0.5, 10, 4)[0] != few[0]


def test_it_compares_eight_layers_with_one():
    rng, means = np.random.default_rng([5, 1]), []
    for n_layers in (1, 8):
        networks = random_networks([8, *[6] * n_layers, 1], 3, 0.5, rng)
        assert networks[0].n_hidden == 6 * n_layers
        means.append(regions_by_length(networks, [1.0], 0.5, 20, rng)[0].mean())
    assert study.depth_exponents(1, 6, 3, 0.5, 20, 5)[0] == pytest.approx(np.log(means[1] / means[0]) / np.log(8))
