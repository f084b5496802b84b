"""The discriminants against polynomial roots and against refits, the two routes to redundancy, and the stored runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore import DampedCosine, Frozen, Hierarchical, PowerLaw, Problem, Recurrent, fit
from chapters.kit.stored import stored
from chapters.layer_redundancy import experiment, study
from chapters.layer_redundancy.redundancy import is_redundant
from chapters.layer_redundancy.study import compare_subsets

moderate = st.floats(-3, 3).filter(lambda x: abs(x) > 0.05)


@given(weight=moderate, pole=moderate, other=moderate, other_weight=moderate)
def test_where_a_solution_is_known_the_recurrent_discriminant_is_not_negative(weight, pole, other, other_weight):
    target = [weight * pole**t + other_weight * other**t for t in range(3)]
    scale = max(map(abs, target)) ** 3 + weight**4
    assert experiment.recurrent_discriminant(target, weight) >= -1e-9 * scale


def test_the_recurrent_discriminant_is_that_of_the_quadratic(rng):
    """(A₀ − w)(A₂ − w s²) = (A₁ − w s)², as a polynomial in s."""
    for _ in range(50):
        (a0, a1, a2), w = rng.normal(size=3), rng.normal()
        v = a0 - w
        roots = np.roots([w * w + v * w, -2 * a1 * w, a1 * a1 - v * a2])
        real = bool(np.abs(roots.imag).max() < 1e-7)
        assert (experiment.recurrent_discriminant([a0, a1, a2], w) >= 0) == real


def test_the_recurrent_weights_are_redundant_and_refits_agree_with_the_sign():
    process = PowerLaw()
    assert is_redundant(Recurrent(3, 2), [1, 5])
    weights = np.array([-0.5, 0.2, 0.4, 1.0])
    losses = experiment.recurrent_losses(process, weights)
    negative = experiment.recurrent_discriminant(process.predictor(3)[0], weights) < 0
    assert negative.tolist() == [True, False, False, True]
    assert (losses > 1e-4).tolist() == negative.tolist() and losses[~negative].max() < 1e-20


def test_two_frozen_weights_of_a_channel_are_drawn_and_not_their_product(rng):
    """The exact share against 100,000 pairs; the product itself drawn from the normal law would give 0.78."""
    for process in PowerLaw(), DampedCosine():
        pairs = rng.standard_normal((100_000, 2)).prod(axis=1)
        sampled = np.mean(experiment.recurrent_discriminant(process.predictor(3)[0], pairs) < 0)
        assert experiment.unsolvable_shares(process, 1)["recurrent"] == pytest.approx(sampled, abs=0.0065), "four se"


def test_one_exponential_is_a_double_root_and_not_a_matter_of_rounding():
    assert experiment.recurrent_discriminant([0.9, -0.3, 0.1], [0.3, 2.0]).tolist() == [0.0, 0.0]


def test_the_diagonal_weights_are_redundant_and_the_discriminant_is_that_of_the_equations(rng):
    arch = Hierarchical(2, 2)
    assert is_redundant(arch, list(experiment.DIAGONAL))
    seen = set()
    for _ in range(100):
        target, (a, d, e, h) = rng.normal(size=4), rng.normal(size=4)
        a00, a10, a01, a11 = target
        alpha, beta = a00 - a * e, a11 - d * h
        roots = np.roots([-h * a10, a01 * a10 + d * h * alpha - a * e * beta, -d * alpha * a01])
        solvable = experiment.diagonal_discriminant(target, [a, d, e, h]) >= 0
        assert solvable == bool(np.abs(roots.imag).max() < 1e-7)
        seen.add(bool(solvable))
        if solvable:  # substitute the root back
            p = roots.real[0]
            params = np.array([a, p, (a10 - d * alpha / p) / e, d, e, (a01 - h * p) / a, alpha / p, h])
            assert arch.coefficients(params) == pytest.approx(target, rel=1e-6, abs=1e-6)
    assert seen == {True, False}


def test_refits_of_the_diagonal_agree_with_the_sign():
    """Two by two matrices for which the sign is clear: a quarter of a plane apart."""
    arch, values = Hierarchical(2, 2), np.zeros(8)
    values[list(experiment.DIAGONAL)] = 1.0
    free = np.setdiff1d(np.arange(8), experiment.DIAGONAL)
    for target, solvable in ([2.0, 1.0, 1.0, 2.0], False), ([0.5, 1.0, 1.0, 1.5], True):
        problem = Problem(np.array(target), np.eye(4), np.eye(4), 1.0)
        assert (experiment.diagonal_discriminant(target, np.ones(4)) >= 0) == solvable
        loss = fit(Frozen(arch, values, free), problem, start="random", n_starts=10, max_iterations=300).loss
        assert (loss < 1e-20) == solvable


def test_the_square_has_no_solution_above_the_target():
    assert experiment.square_share() == pytest.approx(1 / 3)
    assert experiment.square_share(limit=0.5) == 0


def test_both_routes_to_redundancy_agree_and_both_outcomes_occur():
    compared = compare_subsets(PowerLaw(), 60, seed=5)
    assert compared.mismatches == 0 and compared.rarer >= 6


def test_outer_layers_can_be_frozen_without_loss():
    for n_starts in (0, 3):
        found = experiment.freeze_layers(Hierarchical(2, 4), PowerLaw(), 2, n_starts=n_starts)
        assert list(found) == [("layer 1", "layer 4")]
        assert study.worst(found) < 1e-6 and found[("layer 1", "layer 4")].settled.all()


def test_a_refit_never_beats_the_optimum():
    found = experiment.freeze_single_weights(Hierarchical(2, 4), PowerLaw(), 3, n_starts=1, max_iterations=50)
    assert found.excess.shape == (3,) and found.excess.min() > -1e-6


def test_nothing_is_frozen_where_no_layer_is_redundant():
    assert experiment.freeze_layers(Hierarchical(1, 3), PowerLaw(), 1) == {}


def free_layers_are_neighbours(frozen, n_layers):
    free = [l for l in range(1, n_layers + 1) if f"layer {l}" not in frozen]
    return free == list(range(free[0], free[-1] + 1))


def test_the_stored_weights_are_shown_for_their_own_model_only():
    content = stored("layer_redundancy")
    assert study.single_weights(content, Hierarchical(4, 6), PowerLaw(), 1).excess.size == 50
    assert study.single_weights(content, Hierarchical(2, 3), PowerLaw(), 5).excess.size == 3
    assert next(iter(study.layer_groups(content))).startswith("c = 3: layers ")
