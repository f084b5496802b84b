"""The search over learning rates on problems whose best rate is known."""

import jax.numpy as jnp
import numpy as np
import pytest

from chapters.scaling_conjecture.scaled_tasks import Task
from chapters.scaling_conjecture.search import search

# Gradient descent on w²/2 from 1 has the loss (1 − rate)^(2t)/2: the best rate is 1, rates above 2 diverge.
BOWL = Task(lambda key: 1.0, lambda w, batch: 0.5 * w**2, [np.zeros(4)], lambda w, x: (x, x), 0.5)


def find(rates, **options):
    return search(BOWL, rates, [0, 1], 10, optimiser="sgd", **options)


def test_a_grid_around_the_best_rate_is_not_extended():
    found = find([0.5, 1.0, 2.0])
    assert found.rates.tolist() == [0.5, 1.0, 2.0] and found.rates[found.best] == 1 and not found.at_edge


@pytest.mark.parametrize("rates", [[0.0625, 0.125], [4.0, 8.0]])
def test_a_grid_beside_it_is_extended_until_the_best_lies_inside(rates):
    found = find(rates, extensions=6)
    assert found.rates[found.best] == 1 and not found.at_edge
    assert np.allclose(np.diff(np.log2(found.rates)), 1)


def test_extensions_end():
    found = find([2.0**-9, 2.0**-8], extensions=2)
    assert found.rates.tolist() == [2.0**k for k in (-9, -8, -7, -6)] and found.at_edge


def test_nothing_is_extended_where_every_rate_diverges():
    steep = Task(lambda key: 1.0, lambda w, batch: jnp.exp(1e3 * w), [np.zeros(4)], lambda w, x: (x, x), 1.0)
    found = search(steep, [1.0, 2.0], [0], 10, optimiser="sgd")
    assert found.rates.tolist() == [1.0, 2.0] and np.isinf(found.losses).all()


def test_parameters_are_those_of_the_best_rate():
    assert np.allclose(find([0.5, 1.0, 2.0]).params, 0)


def test_rates_must_rise():
    with pytest.raises(ValueError, match=r"rates: found .*expected rising numbers"):
        find([1.0, 0.5])
