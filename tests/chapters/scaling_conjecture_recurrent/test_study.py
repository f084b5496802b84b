"""Growth against the functions behind it, and the stored adding task: its form, and runs made now."""

from itertools import product

import numpy as np
import pytest

pytest.importorskip("jax")

from chapters.kit.stored import stored
from chapters.scaling_conjecture_recurrent import experiment, study
from chapters.scaling_conjecture_recurrent.memory import far_half, mean_memory, memory_law, tanh_memories
from chapters.scaling_conjecture_recurrent.transitions import ALLOWED, Transitions, gains, log_mean, random_matrix


def test_a_curve_is_the_gain_at_every_length():
    curve = study.growth_curve(Transitions("local", 0.5), [4, 16], 6, 9, seed=2)
    for N, found in zip(curve.lengths, curve.log_gain, strict=True):
        assert found == pytest.approx(log_mean(gains(Transitions("local", 0.5), N, 6, 9, 2)))
    assert all(low <= mid <= high for low, mid, high in zip(curve.low, curve.log_gain, curve.high, strict=True))
    assert curve.ratio((4, 16)) == pytest.approx(np.exp(curve.log_gain[1] - curve.log_gain[0]))


def test_a_ratio_beyond_floating_point_is_infinite():
    curve = study.GrowthCurve((1, 2), (0.0, 800.0), (0.0, 0.0), (0.0, 0.0))
    assert curve.ratio((1, 2)) == np.inf and curve.ratio((2, 1)) == 0


def test_laws_order_the_scales_and_one_matrix_grows_at_least_as_fast():
    fresh, shared = (study.growth_laws([0.25, 0.5, 1.0], [16, 256], flag) for flag in (False, True))
    for each in (fresh, shared):
        assert each[0.25][1] > each[0.5][1] > each[1.0][1]
    assert all(s >= f for a in fresh for f, s in zip(fresh[a], shared[a], strict=True))


def test_what_may_be_shared_remembers_the_far_half_and_one_over_root_n_does_not():
    """Memory of the far half of 64 lags, over what Eq. 30 gives them."""

    def far_ratio(transitions):
        return far_half(mean_memory(transitions, 64, 16, 4, 0)) / far_half(memory_law(1.0, 64))

    assert min(map(far_ratio, ALLOWED.values())) > 0.7
    assert far_ratio(Transitions("local", 0.5)) < 0.3


def test_tanh_forgets_sooner_the_larger_its_inputs():
    found = tanh_memories(16, 4, 6000, {"large": 0.0, "root": 0.5, "inverse": 1.0})
    far = {name: values[8:].sum() for name, values in found.items()}
    assert far["linear"] > far["inverse"] > max(0.5 * far["linear"], far["root"]) and far["root"] > far["large"] - 0.02


@pytest.mark.parametrize("compared", [[16], [16, 16], [64, 16], [16, 32], [16, 64, 256]])
def test_lengths_that_cannot_be_compared_are_refused(compared):
    with pytest.raises(ValueError, match=r"compared: found .*expected two of"):
        study.compared_lengths(compared, [16, 64, 256])


def test_random_signs_make_one_matrix_as_good_as_fresh_ones() -> None:
    """Squares add when signs are drawn at every step, but for the units' own weights, which no sign parts from."""
    assert study.signed_growth((64, 1024), 32, 20, 0) == pytest.approx(1, abs=0.05)  # discrete time, of order 1/N


def test_the_mean_over_signs_is_the_power_of_squared_weights() -> None:
    """Against a sum over all signs: n = 3 units, two steps, 64 sign patterns."""
    sums = []
    for N in (1, 2):
        A = random_matrix("dense", 3, np.random.default_rng(4))
        np.fill_diagonal(A, 0)
        W = np.eye(3) + A / np.sqrt(N)
        patterns = np.array(list(product([-1.0, 1.0], repeat=3 * N))).reshape(-1, N, 3)
        total = 0.0
        for signs in patterns:
            P = np.eye(3)
            for step in signs:
                P = step[:, None] * (W @ P)
            total += (P**2).sum() / 3
        sums.append(total / len(patterns))
    assert study.signed_growth((1, 2), 3, 1, 4) == pytest.approx(sums[1] / sums[0], rel=1e-12)


@pytest.fixture(scope="module")
def content():
    return stored("recurrent_memory")


def test_every_arm_is_there_and_has_a_name(content):
    assert content["settings"] == experiment.SETTINGS
    for N in experiment.SETTINGS["lengths"]:
        labels = [network.label for network in experiment.networks(N)]
        assert set(content["values"]["arms"][str(N)]) == set(labels) == set(study.NAMES)
    assert len(set(study.NAMES.values())) == len(study.NAMES)


def test_the_best_rate_has_the_lowest_median_and_is_inside_the_grid_unless_it_says_so(content):
    for arms in content["values"]["arms"].values():
        for arm in arms.values():
            final = np.array([[np.inf if loss is None else loss for loss in row] for row in arm["final"]])
            assert np.argmin(np.median(final, axis=1)) == arm["best"]
            assert arm["at_edge"] == (arm["best"] in (0, len(arm["learning_rates"]) - 1))


def test_losses_are_relative_to_a_constant_answer(content):
    arm = content["values"]["arms"]["16"]["dense shared 1"]
    found = study.relative_losses(content, "dense shared 1", 16)
    np.testing.assert_allclose(found, 6 * np.array(arm["final"][arm["best"]]))
    assert study.median_loss(content, "dense shared 1", 16) == np.median(found)
    assert study.all_losses(content, 16)["one dense, 1/N"] == found.tolist()


def test_intervals_cover_the_mean_as_often_as_they_say(rng):
    hits = [
        low < np.exp(0.3) < high for low, high in (study.interval(np.exp(rng.normal(0.3, 1, 3))) for _ in range(2000))
    ]
    assert np.mean(hits) == pytest.approx(0.95, abs=0.015)  # three standard errors
    assert study.interval([1.0, np.inf, 2.0]) == (0.0, np.inf)
