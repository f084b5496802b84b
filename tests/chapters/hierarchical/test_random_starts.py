"""Gauss–Newton from random starts: where it ends, and after how many iterations."""

import json

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.fitting.optimum import fit
from capcore.processes import FromAutocovariance, PowerLaw
from chapters.hierarchical.random_starts import (
    ROUNDING,
    agreement,
    from_random_starts,
    iterations_from_random_starts,
)

SAME = 1e-6  # coefficients this close, relative to the largest of the target, are the same model
REDUCED = {
    "families": ["PowerLaw", "RationalQuadratic"],
    "channels": [2, 3],
    "n_layers": 6,
    "kernel_size": 2,
    "n_starts": 2,
    "max_iterations": 1000,
    "seed": 0,
}


@pytest.fixture(scope="module")
def starts():
    return from_random_starts(Hierarchical(3, 5), PowerLaw(), 3, max_iterations=200)


def test_rebalanced_runs_end_at_one_model(starts):
    assert starts.gaps(starts.rebalanced).max() < SAME
    assert np.allclose([found.loss for found in starts.rebalanced], starts.reference.loss, rtol=1e-9)


def test_both_ways_start_at_the_same_points(starts):
    for plain, rebalanced in zip(starts.plain, starts.rebalanced, strict=True):
        assert plain.history[0] == rebalanced.history[0]
        assert np.array_equal(plain.history[:20], rebalanced.history[:20])  # the first rebalancing comes after 20
        assert not np.array_equal(plain.history[20:40], rebalanced.history[20:40])


def test_a_plain_run_is_one_fit_from_the_drawn_parameters(starts):
    arch = Hierarchical(3, 5)
    params = arch.init(np.random.default_rng([0, 1]))
    one = fit(arch, PowerLaw(), start=params, rebalance=False, max_iterations=200)
    assert np.array_equal(starts.plain[1].history, one.history)


def test_fewer_starts_are_the_first_of_more(starts):
    fewer = from_random_starts(Hierarchical(3, 5), PowerLaw(), 1, max_iterations=200)
    assert np.array_equal(fewer.plain[0].history, starts.plain[0].history)


def test_the_summary_is_plain(starts):
    summary = starts.summary()
    assert json.loads(json.dumps(summary)) == summary
    assert len(summary["plain_gap"]) == len(summary["rebalanced_loss"]) == 3


def test_the_number_of_starts_is_checked():
    with pytest.raises(ValueError, match="n_starts: found 0"):
        from_random_starts(Hierarchical(1, 2), PowerLaw(), 0)


def models(*channels, n_layers=4):
    return {str(c): Hierarchical(c, n_layers) for c in channels}


def test_each_count_is_that_of_one_fit_from_that_seed():
    found = iterations_from_random_starts(models(4), PowerLaw(), (2, 5))["4"]
    for seed, count in zip((2, 5), found, strict=True):
        history = fit(Hierarchical(4, 4), PowerLaw(), start="random", rng=seed).history
        assert history[count] <= ROUNDING < history[count - 1]


def test_the_unit_of_the_process_does_not_matter():
    unit = PowerLaw()
    scaled = FromAutocovariance(2.0**20 * unit.autocovariance(32))
    once, again = (iterations_from_random_starts(models(4), each, (2, 5))["4"] for each in (unit, scaled))
    np.testing.assert_array_equal(once, again)


def test_the_start_is_random_and_not_the_optimum():
    assert min(map(np.min, iterations_from_random_starts(models(4, 16), PowerLaw(), (0, 1)).values())) > 1


def test_wider_models_need_fewer_iterations():
    narrow, middle, wide = iterations_from_random_starts(models(8, 16, 64, n_layers=6), PowerLaw()).values()
    assert narrow.min() > middle.max() > wide.max()
    assert narrow.min() >= 2 * wide.max()


def test_a_loss_that_is_never_reached_counts_one_iteration_more_than_were_made():
    options = {"max_iterations": 7, "rebalance": False}
    assert iterations_from_random_starts(models(1), PowerLaw(), (0, 1, 2), **options)["1"].tolist() == [8, 8, 8]


def test_a_loss_that_is_not_a_number_is_refused():
    with pytest.raises(ValueError, match="loss: "):
        iterations_from_random_starts(models(2), PowerLaw(), loss=float("nan"))


def test_agreement_leaves_out_one_channel_and_ar1():
    def case(gap):
        return {"rebalanced_gap": [gap, 0.0]}

    values = {"PowerLaw": {"1": case(9.0), "2": case(0.1), "3": case(0.2)}, "AR1": {"2": case(8.0)}}
    assert agreement(values) == (2, 0.2)
