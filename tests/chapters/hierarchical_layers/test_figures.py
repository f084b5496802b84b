"""The cells of the picture are counted like the directions that they stand for, for all sets of layers."""

from itertools import combinations

import numpy as np
import pytest

import capcore as cc
from capcore.generic import PRIME, rank_modulo_prime
from chapters.hierarchical_layers.figures import nested_cells, plot_nested
from chapters.hierarchical_layers.study import exact_overlaps

PAPER = cc.Hierarchical(channels=4, n_layers=6)


def test_any_layers_together_have_as_many_cells_as_directions():
    """By brute force: the rank of every one of the 63 sets of layers, and what all of them together leave out."""
    cells = nested_cells(exact_overlaps(PAPER))
    weights = np.random.default_rng(1).integers(1, PRIME, size=PAPER.n_params)
    jacobian, parts = PAPER.jacobian_modulo(weights, PRIME), list(PAPER.layers.values())
    for size in range(1, 7):
        for chosen in combinations(range(6), size):
            rank = rank_modulo_prime(np.hstack([jacobian[:, parts[l]] for l in chosen]), PRIME)
            assert len(set().union(*(cells[l] for l in chosen))) == rank, chosen


def test_layers_that_are_not_nested_are_refused():
    with pytest.raises(ValueError, match="nested"):
        nested_cells(exact_overlaps(cc.Hierarchical(channels=1, n_layers=6)))


def test_every_outline_is_closed_around_its_own_cells(ax):
    plot_nested(exact_overlaps(PAPER), list("abcdef"), 64, ax)
    assert [text.get_text() for text in ax.texts] == [
        *(f"{n}\n{k}" for n, k in zip("abcdef", (8, 16, 32, 32, 16, 8), strict=True)),
        "in no layer\n16",
    ]
    for lines in ax.collections:
        ends = np.concatenate([np.array(piece) for piece in lines.get_segments()]).round(9)
        _, counts = np.unique(ends, axis=0, return_counts=True)
        assert set(counts) == {2}
