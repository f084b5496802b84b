"""κ from Σ and from examples."""

import numpy as np
import pytest

pytest.importorskip("jax")

from chapters.capacity_vs_expressivity import ranks as study


@pytest.mark.parametrize("channels", [1, 3])
def test_both_routes_agree(channels):
    found = study.compare(channels, 200, np.random.default_rng(0))
    assert found.rank == found.kappa == {1: 7, 3: 33}[channels]  # Property 2's closed form for six layers
    assert found.per_input_gap < 1e-8


def test_too_few_examples_for_a_covariance():
    with pytest.raises(ValueError, match="n_examples: found 3, expected at least 4"):
        study.exact_examples(np.eye(4), 3, np.random.default_rng(0))
