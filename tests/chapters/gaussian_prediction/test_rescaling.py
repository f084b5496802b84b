import numpy as np

from capcore.constraints import ConstraintSpace
from chapters.gaussian_prediction.response import rescaled_capacity, rescaled_odds


def test_the_odds_are_multiplied_by_the_square_of_the_factor(rng):
    factors = np.geomspace(1e-2, 1e2, 9)
    for _ in range(20):
        space = ConstraintSpace.from_columns(rng.normal(size=(7, 3)))
        for position, capacity in enumerate(space.per_input()):
            computed = rescaled_capacity(space, position, factors)
            assert np.allclose(computed, rescaled_odds(capacity, factors), atol=1e-10)
            assert np.allclose(computed / (1 - computed), factors**2 * capacity / (1 - capacity), rtol=1e-6)


def test_full_and_empty_inputs_stay_what_they_are():
    space = ConstraintSpace.from_columns(np.eye(3)[:, :1])
    assert np.allclose(rescaled_capacity(space, 0, [0.1, 10.0]), 1)
    assert np.allclose(rescaled_capacity(space, 2, [0.1, 10.0]), 0)
