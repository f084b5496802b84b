"""The table of shared directions shows what brute force counts."""

import numpy as np

import capcore as cc
from capcore.architectures.generic import PRIME, rank_modulo_prime
from chapters.hierarchical_layers.figures import plot_overlaps
from chapters.hierarchical_layers.study import exact_overlaps

PAPER = cc.Hierarchical(channels=4, n_layers=6)


def test_the_table_shows_the_directions_that_two_layers_share(ax):
    """By brute force: two spaces share what the rank of both together falls short of the sum of their ranks."""
    plot_overlaps(exact_overlaps(PAPER), ax)
    weights = np.random.default_rng(1).integers(1, PRIME, size=PAPER.n_params)
    jacobian = PAPER.jacobian_modulo(weights, PRIME)
    columns = [jacobian[:, part] for part in PAPER.layers.values()]
    ranks = [rank_modulo_prime(each, PRIME) for each in columns]
    for text in ax.texts:
        b, a = (round(at) for at in text.get_position())
        both = rank_modulo_prime(np.hstack([columns[a], columns[b]]), PRIME)
        assert int(text.get_text()) == ranks[a] + ranks[b] - both
    assert len(ax.texts) == 36
