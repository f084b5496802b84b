import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.optimum import fit
from capcore.processes import PowerLaw
from chapters.hierarchical.gauss_newton_race import ROUNDING, iterations_from_random_starts


def models(*channels, n_layers=4):
    return {str(c): Hierarchical(c, n_layers) for c in channels}


def test_each_count_is_that_of_one_fit_from_that_seed():
    found = iterations_from_random_starts(models(4), PowerLaw(), (2, 5))["4"]
    for seed, count in zip((2, 5), found, strict=True):
        history = fit(Hierarchical(4, 4), PowerLaw(), start="random", rng=seed).history
        assert history[count] <= ROUNDING < history[count - 1]


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
