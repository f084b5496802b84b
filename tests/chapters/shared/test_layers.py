import numpy as np
import pytest

from capcore import AR1, ConstraintSpace, Hierarchical, PowerLaw, allocate, fit
from capcore.architectures.generic import PRIME, exact_rank
from chapters.shared.layers import (
    LayerProfiles,
    count_steps,
    exact_layer_totals,
    largest_excess,
    marginal_space,
    middle_exceeds,
    worst_direction,
)

PAPER = Hierarchical(channels=4, n_layers=6)


@pytest.fixture(scope="module")
def alloc():
    return allocate(PAPER, fit(PAPER, PowerLaw()).params, PowerLaw())


def test_the_layer_totals_of_the_paper_s_model():
    totals = {view: values.tolist() for view, values in exact_layer_totals(PAPER).items()}
    assert totals == {
        "independent": [8, 16, 32, 32, 16, 8],
        "forward": [8, 8, 16, 16, 0, 0],
        "backward": [0, 0, 16, 16, 8, 8],
        "marginal": [0, 0, 4, 4, 0, 0],
    }


@pytest.mark.parametrize(
    "arch",
    [
        Hierarchical(channels=1, n_layers=4, kernel_size=3),
        Hierarchical(channels=[2, 3], kernel_size=2, input_dim=2),
        Hierarchical(channels=3, kernel_size=2, dilations=[1, 2, 1, 2]),
        Hierarchical(channels=2, n_layers=1),
    ],
    ids=str,
)
def test_exact_totals_agree_with_floating_point_ranks_and_chains_sum_to_the_capacity(arch, rng):
    totals = exact_layer_totals(arch)
    assert totals["forward"].sum() == totals["backward"].sum() == exact_rank(arch)
    assert np.all(totals["marginal"] <= totals["forward"]) and np.all(totals["forward"] <= totals["independent"])
    jacobian = arch.jacobian(arch.init(rng))
    parts = list(arch.layers.values())
    assert [np.linalg.matrix_rank(jacobian[:, part]) for part in parts] == totals["independent"].tolist()
    below = [0, *(np.linalg.matrix_rank(jacobian[:, : part.stop]) for part in parts)]
    assert np.diff(below).tolist() == totals["forward"].tolist()


def test_exact_totals_do_not_depend_on_the_draw_or_the_prime():
    first, second = exact_layer_totals(PAPER), exact_layer_totals(PAPER, seed=5, prime=2_147_483_629)
    assert PRIME != 2_147_483_629
    assert all(first[view].tolist() == second[view].tolist() for view in first)


def test_profiles_sum_to_the_exact_totals_and_both_chains_to_the_whole(alloc):
    profiles, exact = LayerProfiles.of(alloc), exact_layer_totals(PAPER)
    for view, totals in exact.items():
        assert profiles.totals(view) == pytest.approx(totals, abs=1e-8)
    assert profiles.forward.sum(axis=0) == pytest.approx(alloc.per_input, abs=1e-8)
    assert profiles.backward.sum(axis=0) == pytest.approx(alloc.per_input, abs=1e-8)


def test_chain_shares_are_those_of_the_sums(alloc):
    profiles = LayerProfiles.of(alloc)
    shares = profiles.chain_shares()
    assert shares["forward_short"] == pytest.approx(profiles.forward[:3, :8].sum() / alloc.per_input[:8].sum())
    assert shares["backward_long"] == pytest.approx(profiles.backward[3:, 32:].sum() / alloc.per_input[32:].sum())


def test_layers_that_add_nothing_have_no_mean_lag(alloc):
    lags = LayerProfiles.of(alloc).contributing_mean_lags("forward")
    assert np.isnan(lags).tolist() == [False] * 4 + [True] * 2
    only = LayerProfiles(("a",), *4 * [np.zeros((1, 5))])
    assert np.isnan(only.contributing_mean_lags("marginal")).all()


def test_counting_steps_and_the_middle():
    assert count_steps([1, 2, np.nan, 2, 1, 5], 1) == 2 and count_steps([1, 2, np.nan, 2, 1, 5], -1) == 1
    assert count_steps([3.0], 1) == 0
    assert not middle_exceeds(np.array([0, 3, 4, 3])) and middle_exceeds(np.array([1, 2, 2, 1]))


def test_pairs_compare_first_with_last():
    recent, uniform = np.r_[np.ones(2), np.zeros(14)], np.full(16, 0.125)
    profiles = np.array([recent, recent, uniform, uniform])
    assert LayerProfiles(tuple("abcd"), *4 * [profiles]).pairs_upper_more_uniform() == 2
    assert LayerProfiles(tuple("abcd"), *4 * [profiles[::-1]]).pairs_upper_more_uniform() == 0


@pytest.mark.parametrize("angle", [5.0, 45.0, 80.0])
def test_two_lines_in_the_plane(angle):
    """𝒦₁ at 0 and 𝒦₂ at θ: along the normal of 𝒦₂ the marginal capacity is 1, the independent one sin²θ."""
    theta = np.radians(angle)
    first = ConstraintSpace.from_columns([1.0, 0.0])
    second = ConstraintSpace.from_columns([np.cos(theta), np.sin(theta)])
    normal = [-np.sin(theta), np.cos(theta)]
    marginal = first.given(second)
    assert marginal.capacity(normal) == pytest.approx(1)
    assert first.capacity(normal) == pytest.approx(np.sin(theta) ** 2)
    excess, direction = largest_excess(marginal, first)
    assert (
        excess == pytest.approx(np.cos(theta)) and excess >= np.cos(theta) ** 2
    )  # sine of the angle between the lines
    assert marginal.capacity(direction) - first.capacity(direction) == pytest.approx(excess)


def test_the_largest_excess_is_not_exceeded_by_random_directions(alloc, rng):
    name, excess, direction = worst_direction(alloc)
    own, marginal = alloc.layers[name].space, marginal_space(alloc, name)
    assert marginal.per_input() == pytest.approx(alloc.layers[name].marginal, abs=1e-9)
    assert marginal.capacity(direction) - own.capacity(direction) == pytest.approx(excess)
    directions = rng.normal(size=(64, 500))
    assert (marginal.along(directions) - own.along(directions)).max() < excess


def test_a_single_layer_has_no_margin():
    arch = Hierarchical(n_layers=1)
    alloc = allocate(arch, np.array([1.0, 0.5]), AR1(0.5))
    with pytest.raises(ValueError, match="found a single layer, expected at least two"):
        marginal_space(alloc, "layer 1")
