"""Runs by number of components and channels: read where stored, made where not; and the √d scaling."""

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.architectures.generic import exact_rank
from chapters.kit.stored import stored
from chapters.multidimensional.study import (
    Runs,
    exact_densities,
    fixed_over_scaled,
    gets_smoother,
    mean_difference,
    restart_gap,
    scaled_channels,
    scaled_runs,
    stalled_fits,
)
from chapters.shared.profiles import roughness


@pytest.fixture(scope="module")
def content():
    return stored("multidimensional")


def test_stored_runs_are_read_and_others_made(content):
    runs = Runs("PowerLaw", content=content)
    assert runs.at(4, 2).is_stored and not runs.at(3, 1).is_stored
    assert runs.at(3, 1) is runs.at(3, 1), "made once"
    assert runs.at(4, 2).per_input.sum() == pytest.approx(runs.at(4, 2).total)


@pytest.mark.parametrize(
    "other", [{"n_layers": 3}, {"kernel_size": 3, "n_layers": 2}, {"low": 0.4}, {"seed": 1}], ids=str
)
def test_nothing_stored_is_used_for_other_settings(content, other):
    assert not Runs("PowerLaw", content=content, **other).at(1, 1).is_stored


def test_what_the_stored_fits_lack():
    cases = {"1": {"2": {"converged": True}, "3": {"converged": False}}}
    values = {"optima": {"PowerLaw": cases}, "random_starts": {"4": {"2": {"gap": 0.1}}, "8": {"1": {"gap": 0.3}}}}
    assert stalled_fits({"values": values}) == ["PowerLaw, d = 1, c = 3"]
    assert restart_gap({"values": values}) == 0.3


def test_stored_and_made_agree(content):
    kept, made = (Runs("PowerLaw", content=source).at(2, 2) for source in (content, None))
    assert kept.is_stored and not made.is_stored
    assert kept.per_input == pytest.approx(made.per_input, abs=1e-4)
    assert kept.loss == pytest.approx(made.loss, rel=1e-6)


def test_summaries_of_a_run():
    run = Runs("PowerLaw", n_layers=4).at(2, 2)
    assert run.normalised == pytest.approx(run.per_input / 2)
    assert run.recent == pytest.approx(run.per_input[:2].sum())
    assert run.recent_share == pytest.approx(run.recent / run.total)
    assert run.recent_filling == pytest.approx(run.recent / 4)
    assert run.saturated == np.sum(run.per_input >= 1.98)
    assert not run.attained and Runs("PowerLaw", n_layers=2).at(2, 8).attained


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_the_nearest_size_is_the_nearest_of_all(channels):
    runs = Runs("PowerLaw", n_layers=3)
    run = runs.at(3, channels)
    ((same, peer),) = runs.pairs_of_equal_size(3, [channels])
    assert same is run and peer is runs.of_equal_size(run)
    gaps = {c: abs(Hierarchical(c, 3).n_params - run.arch.n_params) for c in range(1, 30)}
    assert gaps[runs.of_equal_size(run).arch.channels[0]] == min(gaps.values())


def test_the_nearest_capacity_is_the_nearest_of_all():
    runs = Runs("PowerLaw", n_layers=4)
    run = runs.at(1, 2)
    found = runs.of_equal_capacity(run, 4)
    goal = run.generic_total
    gaps = {c: abs(Hierarchical(c, 4, input_dim=4).generic_capacity() / 4 - goal) for c in range(1, 9)}
    assert gaps[found.arch.channels[0]] == min(gaps.values())
    assert runs.of_equal_capacity(run, 1) is run


def test_refused():
    with pytest.raises(ValueError, match="process: found 'PowerLaws'"):
        Runs("PowerLaws")
    with pytest.raises(ValueError, match=r"exponent: found -1\.0"):
        Runs("PowerLaw", low=-1.0)
    with pytest.raises(ValueError, match="seed: found -1"):
        Runs("PowerLaw", seed=-1)
    with pytest.raises(ValueError, match="input_dim: found 0"):
        Runs("PowerLaw").at(0, 1)
    with pytest.raises(ValueError, match="n_layers: found 1, expected a whole number of at least 2"):
        Runs("PowerLaw", n_layers=1)


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
    found = [Hierarchical(scaled_channels(2, d), 6, input_dim=d).n_params / d for d in (1, 4, 16)]
    assert found == pytest.approx([4 * np.sqrt(d) + 32 + 4 / np.sqrt(d) for d in (1, 4, 16)])
    assert (64 * exact_densities(1, [1, 16, 1024], 6, 2)).tolist() == [7, 11, 64]


def test_fixed_channels_against_scaled_ones():
    runs = Runs("PowerLaw", n_layers=4)
    first, fixed, scaled = runs.at(1, 2), runs.at(4, 2), runs.at(4, 4)
    expected = mean_difference([first, fixed]) / mean_difference([first, scaled])
    assert fixed_over_scaled(runs, 2, 1, 4) == pytest.approx(expected)
    assert fixed_over_scaled(Runs("PowerLaw", n_layers=2), 4, 1, 4) == 1.0, "all positions at their ceilings"
