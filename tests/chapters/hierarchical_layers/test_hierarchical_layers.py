"""Parameters that give one model, idle channels, and directions that two layers share."""

import numpy as np
import pytest

import capcore as cc
from capcore import Hierarchical, PowerLaw, Problem, allocate, fit
from capcore.architectures.generic import PRIME, rank_modulo_prime
from chapters.hierarchical_layers import study as ensembles
from chapters.hierarchical_layers.figures import plot_overlaps
from chapters.hierarchical_layers.study import exact_overlaps, same_coefficients

ARCH = Hierarchical(channels=3, n_layers=3)


PROBLEM = Problem.of(ARCH, PowerLaw())


def test_the_same_model_keeps_what_the_layers_add_up_to():
    params = fit(ARCH, PROBLEM).params
    same = ensembles.same_model(ARCH, params, PROBLEM, 3)
    sums = ensembles.stack(same, "forward").sum(axis=1)
    assert np.ptp(sums, axis=0).max() < 1e-8
    assert ensembles.largest_change(same, "independent").shape == (3,)


@pytest.mark.parametrize("channels", [1, 4, [2, 3, 5, 1, 2]], ids=str)
def test_the_draws_are_the_same_model(channels, rng):
    arch = Hierarchical(channels, 6)
    params = arch.init(rng)
    for draw in same_coefficients(arch, params, 3, rng):
        assert arch.coefficients(draw) == pytest.approx(arch.coefficients(params), abs=1e-12)


def test_only_layers_beside_idle_channels_have_a_profile_that_depends_on_the_weights():
    """Layer 1 sees the bond above it, layer L the bond below; inner layers see an idle channel's null space only."""
    arch = Hierarchical(4, 6)
    params = fit(arch, PowerLaw()).params
    draws = same_coefficients(arch, params, 4, np.random.default_rng(1))
    allocs = [allocate(arch, draw, PowerLaw()) for draw in draws]
    profiles = np.array([[layer.independent for layer in alloc.layers.values()] for alloc in allocs])
    changes = np.ptp(profiles, axis=0).max(axis=1)
    assert (changes[[0, 5]] > 0.05).all() and (changes[1:5] < 1e-8).all()
    assert np.ptp([alloc.per_input for alloc in allocs], axis=0).max() < 1e-8


PAPER = cc.Hierarchical(channels=4, n_layers=6)


def test_the_table_shows_the_directions_that_two_layers_share(ax):
    """By brute force: two spaces share what the rank of both together falls short of the sum of their ranks."""
    plot_overlaps(exact_overlaps(PAPER), ax)
    weights = np.random.default_rng(1).integers(1, PRIME, size=PAPER.n_params)
    jacobian = PAPER.jacobian_modulo(weights)
    columns = [jacobian[:, part] for part in PAPER.layers.values()]
    ranks = [rank_modulo_prime(column) for column in columns]
    for text in ax.texts:
        b, a = (round(at) for at in text.get_position())
        both = rank_modulo_prime(np.hstack([columns[a], columns[b]]))
        assert int(text.get_text()) == ranks[a] + ranks[b] - both
    assert len(ax.texts) == 36
