"""Exact generic capacity: the closed form of tensor trains, elimination modulo a prime, and plain fractions."""

from fractions import Fraction
from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from capcore.architectures import Hierarchical, generic, tensor_train
from tests.strategies import hierarchical_models, seeds


@st.composite
def trains(draw, max_layers=5):
    """(c_0 … c_L), (n_1 … n_L) with c_L = 1."""
    n_layers = draw(st.integers(1, max_layers))
    kernel_sizes = draw(st.lists(st.integers(1, 4), min_size=n_layers, max_size=n_layers))
    return [*draw(st.lists(st.integers(1, 9), min_size=n_layers, max_size=n_layers)), 1], kernel_sizes


def rank_by_fractions(matrix):
    """Gaussian elimination over the rational numbers."""
    rows = [[Fraction(int(x)) for x in row] for row in matrix]
    rank = 0
    for column in range(len(rows[0])):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for r in range(rank + 1, len(rows)):
            factor = rows[r][column] / rows[rank][column]
            rows[r] = [x - factor * y for x, y in zip(rows[r], rows[rank], strict=True)]
        rank += 1
    return rank


# --- ranks of a train -------------------------------------------------------------------------------------------------


@given(trains())
def test_attainable_ranks_by_their_definition(train):
    channels, sizes = train
    n_layers = len(sizes)
    below = [min(channels[j] * prod(sizes[j:l]) for j in range(l + 1)) for l in range(n_layers + 1)]
    above = [min(channels[j] * prod(sizes[l:j]) for j in range(l, n_layers + 1)) for l in range(n_layers + 1)]
    assert tensor_train.ranks_from_below(channels, sizes) == below
    assert tensor_train.ranks_from_above(channels, sizes) == above
    inner = [min(below[l], above[l]) for l in range(1, n_layers)]
    assert tensor_train.attainable_ranks(channels, sizes) == [channels[0], *inner, channels[-1]]


@given(trains(max_layers=4), seeds)
def test_attainable_ranks_are_those_of_random_unfoldings(train, seed):
    channels, sizes = train
    arch = Hierarchical(channels[1:-1], kernel_size=sizes, input_dim=channels[0])
    coefficients = arch.coefficients(arch.init(np.random.default_rng(seed)))
    ranks = tensor_train.attainable_ranks(channels, sizes)
    for l in range(1, len(sizes)):
        unfolding = coefficients.reshape(-1, prod(sizes[:l]) * channels[0])  # lags above by lags below
        assert np.linalg.matrix_rank(unfolding, rtol=1e-11) == ranks[l]


def test_the_ends_are_never_clipped():
    assert tensor_train.attainable_ranks([16, 4, 4, 1], [2, 2, 2]) == [16, 4, 2, 1]
    assert tensor_train.attainable_ranks([3, 1], [2]) == [3, 1]
    # Clipping each bond on its own would leave 4 where the bond of 1 in the middle lets 2 through.
    assert tensor_train.attainable_ranks([1, 4, 1, 4, 1], [2, 2, 2, 2]) == [1, 2, 1, 2, 1]


# --- dimension --------------------------------------------------------------------------------------------------------


@given(hierarchical_models(max_layers=5, max_channels=6, max_input_dim=5, disjoint=True))
def test_closed_form_equals_elimination_modulo_a_prime(arch):
    assert arch.generic_capacity() == generic.exact_rank(arch)


# --- elimination ------------------------------------------------------------------------------------------------------


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 7), seeds)
def test_rank_modulo_a_prime_against_fractions(n, p, rank, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-9, 10, (n, rank)) @ rng.integers(-9, 10, (rank, p))
    assert generic.rank_modulo_prime(matrix) == rank_by_fractions(matrix)


def test_rank_depends_on_the_field():
    matrix = np.array([[1, 2], [3, 6 + generic.PRIME]])  # its determinant is the prime
    assert generic.rank_modulo_prime(matrix) == 1 and generic.rank_modulo_prime(matrix + np.eye(2, dtype=int)) == 2
    assert generic.rank_modulo_prime(np.zeros((2, 3), dtype=int)) == 0


@given(hierarchical_models(max_layers=3, max_channels=2, max_kernel=3, max_input_dim=2, disjoint=False), seeds)
def test_exact_rank_against_fractions(arch, seed):
    # At random integers of moderate size the rational rank is generic too, but for unlucky choices; take the best of 3.
    rng = np.random.default_rng(seed)
    jacobians = [arch.jacobian(rng.integers(1, 30, arch.n_params).astype(float)) for _ in range(3)]
    assert generic.exact_rank(arch) == max(rank_by_fractions(j) for j in jacobians)
