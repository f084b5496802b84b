"""Reorderings of sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.shared.complexity.sets import canonical_order, orbit_indices
from tests.strategies import seeds


@given(seeds, st.integers(1, 5), st.integers(1, 3))
def test_reordered_sets_are_the_same_set(seed, n_items, dim):
    rng = np.random.default_rng(seed)
    items = rng.integers(0, 2, (20, n_items, dim)).astype(float)  # many equal items
    shuffled = np.stack([each[rng.permutation(n_items)] for each in items])
    np.testing.assert_array_equal(canonical_order(items), canonical_order(shuffled))
    np.testing.assert_array_equal(orbit_indices(items), orbit_indices(shuffled))
    as_multisets = {tuple(sorted(map(tuple, each))) for each in items.tolist()}
    assert orbit_indices(items).max() + 1 == len(as_multisets)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("inputs: found an array of shape", lambda: canonical_order(np.ones((2, 3)))),
        ("inputs: found 1 value.s. that are NaN", lambda: orbit_indices([[[np.nan]]])),
    ],
)
def test_bad_input(message, call):
    with pytest.raises(ValueError, match=message):
        call()
