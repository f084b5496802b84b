"""Models on features: other routes to every share, samples, and laws of a change of basis."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import capcore as cc
from capcore.capacity.constraints import ConstraintSpace
from capcore.processes import FAMILIES
from capcore.processes.feature_process import FeatureProcess
from capcore.processes.features import Basis, Recombined
from chapters.feature_space import figures as draw
from chapters.feature_space import study
from chapters.feature_space.study import sampled_covariance
from chapters.shared import survey
from tests.strategies import seeds


def test_capacities_are_stacked_per_input_below_the_ceiling(ax, rng):
    capacities = rng.random((6, 5))
    assert draw.plot_feature_capacities(capacities, ax) is ax
    assert [len(bars) for bars in ax.containers] == [6] * 5
    tops = [bar.get_y() + bar.get_height() for bar in ax.containers[-1]]
    assert tops == pytest.approx(capacities.sum(axis=1))
    assert ax.get_lines()[0].get_ydata()[0] == 5
    left, right = ax.get_xlim()
    assert left > right, "the most recent lag stands at the right"


every_basis = pytest.mark.parametrize("basis", Basis.__subclasses__())


@every_basis
def test_sampling_agrees(basis):
    """Of 300 z-scores the largest exceeds 5 with probability 2e-4, were they normal; cubes are heavier-tailed."""
    process = FeatureProcess(cc.PowerLaw(), basis(3))
    sampled = sampled_covariance(process, 8, 50_000, seed=1)
    scores = (sampled.mean - process.covariance(8)) / sampled.standard_error
    assert np.abs(scores).max() < 5
    assert 0.3 < scores.std() < 1.7
    again = sampled_covariance(process, 8, 50_000, seed=1)
    assert np.array_equal(sampled.mean, again.mean)


every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


ARCH = cc.Hierarchical(2, 3, input_dim=3)


@pytest.fixture(scope="module")
def model():
    return survey.case(ARCH, study.pose(cc.PowerLaw(), cc.Hermite(3)))


@every_family
def test_the_exact_share_of_the_square_is_that_of_all_products_and_bounds_every_sum(family):
    exact = study.share_explained_exactly(family(), 10, "square")
    known = 1 - family().predictor(10)[1]
    assert exact == pytest.approx(known**2, rel=1e-9)
    for features in (cc.Hermite(4), cc.Fourier(4), cc.PiecewiseLinear(4)):
        assert study.share_explained(study.pose(family(), features, "square"), 10) <= exact * (1 + 1e-9)


@pytest.mark.parametrize("target", study.TARGETS)
def test_the_exact_share_is_a_variance_of_conditional_means(target, rng):
    """Two independent futures of one past have covariance Var(E[g | past])."""
    process = cc.AR1(0.8)
    function = study.TARGETS[target].function
    past = rng.normal(size=400_000)
    first, second = (function(0.8 * past + 0.6 * rng.normal(size=past.size)) for _ in range(2))
    expected = np.corrcoef(first, second)[0, 1]
    assert study.share_explained_exactly(process, 3, target) == pytest.approx(expected, abs=0.02)


def test_the_change_of_basis_is_the_matrix_between_the_features(rng):
    matrix = rng.normal(size=(3, 3))
    for features in (cc.Hermite(3), cc.Fourier(3), cc.PiecewiseLinear(3)):
        assert_allclose(study.change_of_basis(features, Recombined(features, matrix)), matrix, atol=1e-8)


def test_a_model_written_in_another_basis_is_the_same_model_and_still_at_its_optimum(model):
    new = study.rewrite(ARCH, model, cc.Monomials(3))
    y = np.random.default_rng(0).normal(size=(50, ARCH.n_inputs))
    predictions = [
        case.process.features(y).reshape(50, -1) @ case.fit.coefficients for case in (model, new)
    ]  # fmt: skip
    assert_allclose(predictions[1], predictions[0], atol=1e-12)
    assert new.fit.loss == pytest.approx(model.fit.loss, rel=1e-6)
    assert new.fit.relative_offset < 1e-6 and new.fit.n_iterations == 0
    assert new.allocation.total == model.allocation.total


@given(st.integers(1, 3), st.integers(1, 3), seeds)
@settings(max_examples=15)
def test_an_input_holds_the_sum_over_its_features_and_no_more_than_there_are(d, channels, seed):
    arch = cc.Hierarchical(channels, 3, input_dim=d)
    problem = cc.Problem.of(arch, study.pose(cc.PowerLaw(), cc.Hermite(d)))
    allocation = survey.allocate_quietly(arch, arch.init(np.random.default_rng(seed)), problem)
    assert study.sum_gap(allocation) < 1e-9
    assert study.per_feature(allocation).max() <= 1 + 1e-9
    assert allocation.per_input.max() <= d + 1e-9


@given(seeds)
@settings(max_examples=10)
def test_the_constraint_space_is_moved_by_the_change_of_basis_and_rotations_change_no_input(model, seed):
    matrix = np.random.default_rng(seed).normal(size=(3, 3))
    new = study.rewrite(ARCH, model, Recombined(cc.Hermite(3), matrix))
    moved = np.kron(np.eye(ARCH.n_inputs), matrix) @ model.allocation.space.basis
    expected = ConstraintSpace.from_columns(moved).per_input(3)
    assert_allclose(new.allocation.per_input, expected, atol=1e-7)
    rotated = study.rewrite(ARCH, model, Recombined(cc.Hermite(3), np.linalg.qr(matrix)[0]))
    assert_allclose(rotated.allocation.per_input, model.allocation.per_input, atol=1e-7)


def test_only_for_a_markov_process_do_functions_of_single_inputs_reach_the_conditional_expectation():
    """The square of the prediction contains products of inputs, unless the last value says it all."""
    shares = study.square_shares(16)
    gaps = {name: shares["exact"][name] - shares["sum over inputs"][name] for name in FAMILIES}
    assert abs(gaps.pop("AR1")) < 1e-9
    assert min(gaps.values()) > 0.004
