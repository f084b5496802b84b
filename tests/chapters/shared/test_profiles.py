"""Profiles and layers: laws against SciPy and brute force, survey, straight lines, digits, and the shared figures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from capcore import AR1, ConstraintSpace, Hierarchical, PowerLaw, allocate, fit
from capcore.architectures.generic import exact_rank
from chapters.shared import layer_figures as draw
from chapters.shared import profiles, survey
from chapters.shared.data import digits
from chapters.shared.lag_figures import LAG_AXIS, plot_over_lags
from chapters.shared.layers import LayerProfiles, exact_layer_totals, largest_excess, marginal_space, worst_direction
from chapters.shared.log_log import fit_power


def test_every_image_is_on_one_side_with_its_label():
    data, (x, y) = digits(), load_digits(return_X_y=True)
    both, labels = np.concatenate([data.x, data.x_test]), np.concatenate([data.y, data.y_test])
    pixels = np.rint(16 * (both - both.min()) / np.ptp(both))
    assert sorted(np.c_[pixels, labels].tolist()) == sorted(np.c_[x, y].tolist())


def test_the_split_is_fixed_balanced_and_standardised():
    data = digits()
    assert (data.x == digits().x).all()
    assert abs(data.x.mean()) < 1e-5 and abs(data.x.std() - 1) < 1e-5
    shares = np.bincount(data.y_test) / np.bincount(np.concatenate([data.y, data.y_test]))
    assert shares.min() > 0.18 and shares.max() < 0.22


def test_lines_have_all_values_and_no_markers_and_now_is_at_the_right(ax):
    lines = {"a": np.array([0.9, 0.4, 0.1]), "b": np.array([0.2, 0.2, 0.3])}
    assert plot_over_lags(lines, ax, looks={"b": {"color": "C3"}}) is ax
    first, second, ceiling = ax.get_lines()
    assert first.get_ydata() == pytest.approx(lines["a"]) and first.get_marker() == "None"
    assert second.get_color() == "C3" and ceiling.get_ydata()[0] == 1.0
    left, right = ax.get_xlim()
    assert left > right and ax.get_xlabel() == LAG_AXIS


NAMES = ("layer 1", "layer 2", "layer 3")


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("from_top", [False, True])
def test_a_chain_is_stacked_in_its_order_and_ends_at_the_sum(ax, rng, from_top):
    profiles = (1 + rng.random((3, 12))) / 6
    profiles[2] = 0
    assert draw.plot_chain(profiles, NAMES, ax, from_top) is ax
    areas = [patch for patch in ax.patches if patch.get_fill()]
    order = [2, 1, 0] if from_top else [0, 1, 2]
    assert [area.get_label() for area in areas] == [f"{NAMES[l]}: +{profiles[l].sum():.0f}" for l in order]
    for area, l in zip(areas, order, strict=True):
        assert area.get_data().values - area.get_data().baseline == pytest.approx(profiles[l])
    assert ax.patches[-1].get_data().values == pytest.approx(profiles.sum(axis=0))
    assert [text.get_text() for text in ax.texts] == [str(l + 1) for l in order if profiles[l].any()]
    left, right = ax.get_xlim()
    assert left > right, "the most recent lag stands at the right"


PAPER = Hierarchical(channels=4, n_layers=6)


@pytest.fixture(scope="module")
def alloc():
    return allocate(PAPER, fit(PAPER, PowerLaw()).params, PowerLaw())


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


def test_it_agrees_with_numpy_on_noisy_points(rng):
    x = np.array([1, 2, 4, 8, 16.0])
    y = 3 * x**-2.5 * np.exp(rng.normal(0, 0.3, 5))
    exponent, log_prefactor = np.polyfit(np.log(x), np.log(y), 1)
    result = fit_power(x, y)
    assert result.exponent == pytest.approx(exponent)
    assert result.prefactor == pytest.approx(np.exp(log_prefactor))
    assert result.r_squared == pytest.approx(np.corrcoef(np.log(x), np.log(y))[0, 1] ** 2)


@pytest.mark.parametrize(
    ("x", "y"),
    [([1, 2, 4], [1, 0.5, 0.0]), ([1, 2], [1, 0.5]), ([2, 2, 2], [1, 2, 3]), ([1, 2, 4], [-1, 1, 1])],
    ids=["a zero", "two points", "one x", "a negative value"],
)
def test_no_line_explains_nothing(x, y):
    result = fit_power(x, y)
    assert result.r_squared == 0
    assert np.isnan(result.exponent)


def test_recent_and_distant_of_64_are_the_registered_lags():
    lags = np.arange(64)
    assert lags[profiles.recent(64)].tolist() == list(range(8))
    assert lags[profiles.distant(64)].tolist() == list(range(32, 64))
    assert lags[:3][profiles.recent(3)].tolist() == [0]


def test_extremes():
    uniform, spike = np.full(12, 0.3), np.eye(12)[4]
    assert profiles.effective_number([uniform, spike]) == pytest.approx([12, 1])
    assert profiles.mean_lag([uniform, spike]) == pytest.approx([5.5, 4])
    assert profiles.total_variation(spike, np.eye(12)[5]) == pytest.approx(1)
    assert profiles.total_variation(uniform, uniform) == 0


PROFILES = st.lists(st.floats(0, 1), min_size=2, max_size=40)


@given(PROFILES)
def test_roughness_is_at_least_one_and_one_for_monotone_profiles(values):
    assert profiles.roughness(values) >= 1 - 1e-9 or np.ptp(values) == 0
    if np.ptp(values) > 1e-6:
        assert profiles.roughness(sorted(values)) == pytest.approx(1.0)


@given(PROFILES)
def test_a_falling_profile_has_no_inversion_and_no_rising_octave(values):
    falling = sorted(values, reverse=True)
    assert profiles.largest_inversion(falling) == 0
    assert profiles.octave_increases(falling) == 0


def test_octaves_cover_every_lag_once():
    """Weighted by their lengths the octave means sum to the total."""
    values = np.random.default_rng(0).random(64)
    lengths = [1, 1, 2, 4, 8, 16, 32]
    assert profiles.octave_means(values) @ lengths == pytest.approx(values.sum())
    assert profiles.octave_means(np.arange(27.0))[-1] == pytest.approx(np.arange(16, 27).mean())
    assert profiles.octave_means([0.5]).tolist() == [0.5]


def test_share_beyond_saturation_starts_after_the_first_unsaturated_lag():
    assert profiles.share_beyond_saturation([1.0, 0.995, 0.9, 0.6, 0.4]) == pytest.approx(1.0 / 3.895)
    assert profiles.share_beyond_saturation([1.0, 1.0]) == 0.0


def test_an_inversion_needs_an_unsaturated_recent_input():
    assert profiles.largest_inversion([0.991, 1.0]) == 0.0
    assert profiles.largest_inversion([0.5, 0.2, 0.9, 0.3]) == pytest.approx(0.7)
    assert profiles.largest_inversion([0.5]) == 0.0


def test_a_low_rank_target_is_attained_at_a_singular_point():
    low, full = (survey.case(Hierarchical(channels=4, n_layers=6), process) for process in (AR1(), PowerLaw()))
    assert low.attained and not low.regular
    assert not full.attained and full.regular
    assert np.abs(low.error).max() < 1e-12 < np.abs(full.error).max()
