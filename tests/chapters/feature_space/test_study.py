"""Models on features: other routes to every share, laws of a change of basis, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import capcore as cc
from capcore.capacity.constraints import ConstraintSpace
from capcore.processes import FAMILIES
from capcore.processes.features import Recombined
from chapters.feature_space import study
from chapters.shared import survey
from tests.strategies import seeds

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


@every_family
def test_no_linear_model_sees_the_square(family):
    shares = study.square_shares(6)
    name = family.__name__
    assert abs(shares["linear in the inputs"][name]) < 1e-12
    assert 0 < shares["sum over inputs"][name] <= shares["exact"][name] * (1 + 1e-9)


def test_the_change_of_basis_is_the_matrix_between_the_features(rng):
    matrix = rng.normal(size=(3, 3))
    for features in (cc.Hermite(3), cc.Fourier(3), cc.PiecewiseLinear(3)):
        assert_allclose(study.change_of_basis(features, Recombined(features, matrix)), matrix, atol=1e-8)
    with pytest.raises(ValueError, match="expected two bases of the same functions"):
        study.change_of_basis(cc.Hermite(3), cc.Fourier(3))
    with pytest.raises(ValueError, match="expected two bases of the same functions"):
        study.change_of_basis(cc.Hermite(3), cc.Hermite(2))


def test_bases_are_compared_relative_to_their_coefficients():
    """Those of x^14 reach 10⁷, where rounding alone is beyond the bound of the comparison."""
    monomials = cc.Monomials(14)
    found = study.change_of_basis(cc.Hermite(14), monomials)
    expected = monomials.hermite_coefficients()
    assert_allclose(found @ cc.Hermite(14).hermite_coefficients(), expected, atol=1e-9 * np.abs(expected).max())


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


def test_powers_fitted_from_scratch_have_the_allocation_of_the_rewritten_model(model):
    """The law is about the optimum, however it was found."""
    fresh = survey.case(ARCH, study.pose(cc.PowerLaw(), cc.Monomials(3)))
    new = study.rewrite(ARCH, model, cc.Monomials(3))
    assert fresh.fit.loss == pytest.approx(model.fit.loss, rel=1e-6)
    assert_allclose(fresh.allocation.per_input, new.allocation.per_input, atol=1e-5)


@given(st.integers(1, 3), st.integers(1, 3), seeds)
@settings(max_examples=15)
def test_an_input_holds_the_sum_over_its_features_and_no_more_than_there_are(d, channels, seed):
    arch = cc.Hierarchical(channels, 3, input_dim=d)
    problem = cc.Problem.of(arch, study.pose(cc.PowerLaw(), cc.Hermite(d)))
    allocation = survey.allocate_quietly(arch, arch.init(np.random.default_rng(seed)), problem)
    assert study.sum_gap(allocation) < 1e-9
    assert study.per_feature(allocation).max() <= 1 + 1e-9
    assert allocation.per_input.max() <= d + 1e-9


def test_the_optimum_does_not_see_moves_orthogonal_to_the_constraint_space(model):
    assert study.response_ratio(ARCH, model) < 1e-3
    full = cc.Hierarchical(8, 3, input_dim=3)
    assert study.response_ratio(full, survey.case(full, model.process)) == 0.0


def test_the_offset_of_an_attained_target_is_zero(model):
    assert study.offset(model) == model.fit.relative_offset < 1e-6
    attained = survey.case(ARCH, study.pose(cc.AR1(), cc.Hermite(3)))
    assert attained.attained and study.offset(attained) == 0.0


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


def test_powers_change_the_capacity_of_an_input_and_orthonormal_ones_do_not(model):
    powers, cured = (study.rewrite(ARCH, model, new) for new in (cc.Monomials(3), cc.Monomials(3).orthonormalised()))
    assert np.abs(powers.allocation.per_input - model.allocation.per_input).max() > 0.01
    assert_allclose(cured.allocation.per_input, model.allocation.per_input, atol=1e-8)


def test_z_scores_of_a_wrong_covariance_are_large():
    """The same samples judged against the covariance of another process."""
    task = study.pose(cc.PowerLaw(), cc.Hermite(2))
    assert np.abs(study.z_scores(task, 4, 20_000)).max() < 5
    wrong = study.pose(cc.PowerLaw(0.7), cc.Hermite(2))
    task.covariance = wrong.covariance
    assert np.abs(study.z_scores(task, 4, 20_000)).max() > 10


@pytest.mark.parametrize(
    ("names", "count", "message"),
    [
        ([], 3, r"features: found \[\]"),
        ("Hermite", 3, "features: found 'Hermite', expected a list"),
        (["Hermite", "Wavelets"], 3, "features: found 'Wavelets'"),
        (["Hermite"], 0, "count: found 0"),
        (["Monomials"], 40, "features: collinear"),
    ],
)
def test_unusable_features_are_refused(names, count, message):
    with pytest.raises(ValueError, match=message):
        study.named_features(names, count)


def test_an_unknown_target_is_refused():
    with pytest.raises(ValueError, match=r"target: found 'squares'.*Did you mean 'square'"):
        study.pose(cc.AR1(), cc.Hermite(2), "squares")


def test_only_for_a_markov_process_do_functions_of_single_inputs_reach_the_conditional_expectation():
    """The square of the prediction contains products of inputs, unless the last value says it all."""
    shares = study.square_shares(16)
    gaps = {name: shares["exact"][name] - shares["sum over inputs"][name] for name in FAMILIES}
    assert abs(gaps.pop("AR1")) < 1e-9
    assert min(gaps.values()) > 0.004
