"""Exact arithmetic in the stack: products modulo a prime, and the integer Jacobian against Python's own integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.architectures.generic import PRIME
from capcore.architectures.stack import matmul
from tests.strategies import seeds


@pytest.mark.parametrize("terms", [1, 2, 1000, 2**15])
def test_products_do_not_overflow_at_the_largest_entries(terms):
    a, b = np.full((1, terms), PRIME - 1), np.full((terms, 2), PRIME - 1)
    assert matmul(a, b).tolist() == [[terms * (PRIME - 1) ** 2 % PRIME] * 2]


@given(st.integers(1, 8), st.integers(1, 40), seeds)
def test_products_equal_those_of_python_integers(rows, terms, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, PRIME, (rows, terms)), rng.integers(0, PRIME, (terms, 3))
    expected = (a.astype(object) @ b.astype(object)) % PRIME
    found = matmul(a, b)
    assert found.dtype == np.int64 and found.tolist() == expected.tolist()
