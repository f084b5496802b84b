"""Dilated stacks in closed form, and where L-BFGS-B and Gauss–Newton end."""

from itertools import product

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.capacity.constraints import ConstraintSpace
from capcore.fitting.optimum import fit
from capcore.processes import PowerLaw
from chapters.gaussian_prediction.study import models_by_channels
from chapters.hierarchical.figures import plot_address
from chapters.hierarchical.random_starts import ROUNDING, from_random_starts, iterations_from_random_starts
from chapters.hierarchical.study import (
    cut_shares,
    digits,
    disjoint_dilations,
    doublings_beyond,
    first_within,
    impulse_response,
    products,
    sweep,
)

ARCHITECTURES = [Hierarchical(1, n_layers=4), Hierarchical([2, 3], kernel_size=[3, 2, 4]), Hierarchical(1, 1, 5)]


@pytest.mark.parametrize("arch", ARCHITECTURES, ids=repr)
def test_the_tree_has_one_path_per_input_and_names_the_taps_of_one(arch, ax):
    lag = arch.n_inputs - 1
    assert plot_address(arch, lag, ax) is ax
    edges = [edge for collection in ax.collections for edge in collection.get_segments()]
    for (x0, y0), (x1, y1) in edges:
        tap = (x0 - x1) / arch.dilations[int(y0)]
        assert y1 == y0 + 1
        assert tap in range(arch.kernel_sizes[int(y0)])
    assert sorted(edge[0][0] for edge in edges if edge[0][1] == 0) == list(range(arch.n_inputs))
    taps = [text.get_text() for text in ax.texts if "tap" in text.get_text()]
    pairs = zip(arch.dilations[::-1], arch.kernel_sizes[::-1], strict=True)
    assert taps == [f"dilation {dilation}, tap {size - 1}" for dilation, size in pairs]
    bold = [line.get_xdata() for line in ax.get_lines() if line.get_linewidth() > 3]
    assert (bold[0][1], bold[-1][0]) == (0, lag)


SAME = 1e-6  # coefficients this close, relative to the largest of the target, are the same model


@pytest.fixture(scope="module")
def starts():
    return from_random_starts(Hierarchical(3, 5), PowerLaw(), 3, 0, max_iterations=200)


def test_rebalanced_runs_end_at_one_model(starts):
    assert starts.gaps(starts.rebalanced).max() < SAME
    assert np.allclose([result.loss for result in starts.rebalanced], starts.reference.loss, rtol=1e-9)


def models(*channels, n_layers=4):
    return {str(c): Hierarchical(c, n_layers) for c in channels}


def test_each_count_is_that_of_one_fit_from_that_seed():
    result = iterations_from_random_starts(models(4), PowerLaw(), (2, 5))["4"]
    for seed, count in zip((2, 5), result, strict=True):
        history = fit(Hierarchical(4, 4), PowerLaw(), start="random", rng=seed).history
        assert history[count] <= ROUNDING < history[count - 1]


KERNELS = [(2,) * 6, (3, 2, 4), (5,), (1, 3, 2)]


def one_channel(sizes, seed=0):
    arch = Hierarchical(1, kernel_size=sizes)
    params = arch.init(np.random.default_rng(seed))
    return arch, params, [kernel.ravel() for kernel in arch.kernels(params)]


@pytest.mark.parametrize("sizes", KERNELS)
def test_three_routes_to_the_coefficients_agree(sizes):
    arch, params, weights = one_channel(sizes)
    coefficients = arch.coefficients(params)
    assert np.allclose(products(weights), coefficients, rtol=1e-12)
    assert np.allclose(impulse_response(weights, arch.dilations), coefficients, rtol=1e-12)


@pytest.mark.parametrize("sizes", KERNELS)
def test_digits_write_the_lag(sizes):
    """τ = Σ t_l d_l, every digit in its range, every combination once."""
    written = digits(sizes)
    assert (written @ disjoint_dilations(sizes) == np.arange(np.prod(sizes))).all()
    assert {tuple(row) for row in written.tolist()} == set(product(*map(range, sizes)))


def test_four_channels_and_six_layers_have_one_cut_that_matters():
    """Ranks 1, 2, 4, 4, 4, 2, 1: only the middle one, of an 8 x 8 matrix, is restricted."""
    arch = Hierarchical(4, 6)
    params = arch.init(np.random.default_rng(1))
    older, recent = cut_shares(arch.coefficients(params), arch.kernel_sizes, rank=4)
    numerical = ConstraintSpace.from_columns(arch.jacobian(params)).per_input()
    assert np.allclose(1 - np.outer(1 - older, 1 - recent).ravel(), numerical, atol=1e-10)
    assert older.sum() == pytest.approx(4)
    assert recent.sum() == pytest.approx(4)


@pytest.fixture(scope="module")
def optima():
    return sweep(models_by_channels([1, 2, [2, 3], 4], n_layers=3), PowerLaw())


def test_attained_targets_have_an_excess_of_exactly_zero(optima):
    assert (optima.excess[:1] > 0).all()
    assert optima.loss[-1] > 0
    assert optima.excess[-1] == 0


def test_transitions(optima):
    assert doublings_beyond(1, optima.width, optima.loss, optima.loss[1] / 10) == 1
    assert doublings_beyond(1, optima.width, optima.loss, optima.loss[1] / 5) == 1
    assert doublings_beyond(1, optima.width, optima.loss, -1.0) == 0, "no transition is none beyond"
    assert first_within([3.0, 2.0], 0.1) is None
    assert first_within([3.0, 2.0, 1.0], 0.2) == 1
