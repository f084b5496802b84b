"""Several components per position: the experiment's pieces, its stored results, and the √d scaling."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import capcore as cc
from capcore.architectures import Hierarchical
from capcore.architectures.generic import exact_rank
from capcore.processes.problem import Problem
from chapters.kit.stored import stored
from chapters.multidimensional import similar
from chapters.multidimensional.experiment import SETTINGS, profile, rerun, spread_components, summarise
from chapters.multidimensional.study import Runs, exact_densities, scaled_channels

REDUCED = {
    **SETTINGS,
    "channels": {"PowerLaw": {"1": [1, 2, 4], "2": [2], "4": [1, 2]}, "DampedCosine": {"1": [2]}},
    "random_starts": {"2": [2]},
}


def test_the_profile_is_that_of_the_allocation(rng):
    arch = cc.Hierarchical(3, 4, input_dim=3)
    problem = Problem.of(arch, cc.Independent(spread_components("PowerLaw", 3)))
    params = arch.init(rng)
    expected = cc.allocate(arch, params, problem)
    result, total = profile(arch, params, problem)
    assert total == expected.total
    assert_allclose(result, expected.per_input, rtol=0, atol=1e-12)


def test_a_random_start_ends_at_the_same_optimum():
    arch, process = cc.Hierarchical(2, 4, input_dim=2), cc.Independent(spread_components("PowerLaw", 2))
    result = rerun(arch, process, summarise(arch, process), 1)
    assert result["gap"] < 1e-4 and result["loss_ratio"] == pytest.approx(1, rel=1e-9)


def test_the_stored_optima_are_optima_but_for_those_the_chapter_names():
    """A relative offset of at most 1e-3 is Bates and Watts' criterion; below a loss of 1e-12 it is mostly rounding."""
    content, stalled = stored("multidimensional"), []
    for family, dims in content["values"]["optima"].items():
        for d, cases in dims.items():
            assert list(map(int, cases)) == content["settings"]["channels"][family][d]
            for c, case in cases.items():
                if not case["converged"]:
                    stalled.append((family, d, c))
                    assert case["relative_offset"] < 2e-3
                else:
                    assert case["loss"] < 1e-12 or case["relative_offset"] < 1e-3, (family, d, c)
    assert stalled == [("DampedCosine", "4", "4"), ("DampedCosine", "16", "4")]
    for d, cases in content["values"]["random_starts"].items():
        assert all(case["gap"] < 1e-3 for case in cases.values()), d


def test_similar_components_are_similar_and_their_fits_arrived():
    """Similar is what differs by a twentieth at most at every lag, as almost equal does in the registry."""
    least, most = similar.SETTINGS["ranges"]["PowerLaw"][1:]
    components = spread_components("PowerLaw", 16, least, most)
    assert np.ptp([component.autocovariance(64) for component in components], axis=0).max() <= 0.05
    for cases in stored("similar_components")["values"]["optima"]["PowerLaw"].values():
        assert all(case["converged"] for case in cases.values())


@pytest.fixture(scope="module")
def content():
    return stored("multidimensional")


def test_stored_and_made_agree(content):
    stored_run, made = (Runs("PowerLaw", content=source).at(2, 2) for source in (content, None))
    assert stored_run.is_stored and not made.is_stored
    assert stored_run.per_input == pytest.approx(made.per_input, abs=1e-4)
    assert stored_run.loss == pytest.approx(made.loss, rel=1e-6)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_the_nearest_size_is_the_nearest_of_all(channels):
    runs = Runs("PowerLaw", n_layers=3)
    run = runs.at(3, channels)
    ((same, peer),) = runs.pairs_of_equal_size(3, [channels])
    assert same is run and peer is runs.of_equal_size(run)
    gaps = {c: abs(Hierarchical(c, 3).n_params - run.arch.n_params) for c in range(1, 30)}
    assert gaps[runs.of_equal_size(run).arch.channels[0]] == min(gaps.values())
    one = runs.at(1, channels)
    apart = {c: abs(Hierarchical(c, 3, input_dim=3).n_params - 3 * one.arch.n_params) for c in range(1, 30)}
    assert apart[runs.of_proportional_size(one, 3).arch.channels[0]] == min(apart.values())


@pytest.mark.parametrize("base", [1, 2])
def test_densities_are_exact_ranks(base):
    for d, density in zip((1, 4, 9), exact_densities(base, (1, 4, 9), 3, 2), strict=True):
        arch = Hierarchical(scaled_channels(base, d), 3, input_dim=d)
        assert density == exact_rank(arch) / (arch.n_inputs * d)


def test_the_first_layer_outgrows_the_dimension():
    """2·d·c + 8c² + 2c parameters at L = 6: per component 2c₀√d + 8c₀² + 2c₀/√d, which grows without bound."""
    sizes = [Hierarchical(scaled_channels(2, d), 6, input_dim=d).n_params / d for d in (1, 4, 16)]
    assert sizes == pytest.approx([4 * np.sqrt(d) + 32 + 4 / np.sqrt(d) for d in (1, 4, 16)])
    assert (64 * exact_densities(1, [1, 16, 1024], 6, 2)).tolist() == [7, 11, 64]
