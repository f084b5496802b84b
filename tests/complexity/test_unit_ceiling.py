"""The ceiling with changes of single units set aside: never passed, whatever that is, and reached beyond others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.complexity import Network, parameter_rank, random_network
from capcore.complexity.unit_ceiling import CLEAR, passed_on, unit_ceiling
from chapters.along_training.exact_rank import exact_rank
from chapters.along_training.rank_ceiling import rank_ceiling
from tests.complexity.test_data_rank_bound import ACTIVATIONS, WIDTHS, awkward, with_odd_units
from tests.strategies import seeds


def pair(seed):
    """A network of 12 and 4 ReLU units with six outputs, and examples of which two that are alike share an input."""
    rng = np.random.default_rng(seed)
    net = random_network([5, 12, 4, 6], rng, 1.5, 0.5)
    x = np.zeros((120, 5))
    x[:, :4] = rng.normal(size=(120, 4))
    x[:2, 4] = [1.0, 0.7]
    x[1, :4] = x[0, :4] + 0.05 * rng.normal(size=4)
    return net, x


@settings(max_examples=60)
@given(seeds, WIDTHS, ACTIVATIONS, st.integers(4, 40), st.booleans())
def test_it_is_never_passed_whatever_is_set_aside(seed, widths, activation, n, odd):
    rng = np.random.default_rng(seed)
    net = random_network(widths, rng, 1.5, 0.5, activation)
    net = with_odd_units(net) if odd and activation in ("relu", "identity") else net
    x = awkward(rng, n, widths[0])
    units = [(layer, k) for layer, m in enumerate(widths[1:-1]) for k in range(m) if rng.random() < 0.4]
    aside = {unit: np.eye(n)[:, : rng.integers(1, n)] for unit in units}
    found = unit_ceiling(net, x, aside)
    rank = parameter_rank(net, x, 1e-10).rank
    assert rank <= found.total and rank <= unit_ceiling(net, x).total
    assert found.total == found.base + sum(each.sum() for each in found.per_unit)


@pytest.mark.parametrize("seed", [1, 2, 4, 6])
def test_two_examples_that_share_what_no_other_has(seed):
    """An input that two examples have alone: one direction for each upper unit, not one for each unit below."""
    net, x = pair(seed)
    shared = np.eye(len(x))[:, :1] + x[1, 4] * np.eye(len(x))[:, 1:2]
    on = net.pre_activations(x)[1][:2] > 0
    aside = {(1, int(k)): shared for k in np.flatnonzero(on.any(axis=0))}
    found = parameter_rank(net, x, 1e-10).rank
    assert on[0].tolist() == on[1].tolist()
    assert found == unit_ceiling(net, x, aside).total < rank_ceiling(net, x).total


@settings(max_examples=20)
@given(seeds, st.sampled_from(["relu", "tanh"]))
def test_derivatives_by_what_units_take_in(seed, activation):
    """Finite differences: a bias moved by a little."""
    rng = np.random.default_rng(seed)
    net, x, step = random_network([3, 4, 3, 2], rng, 1.5, 0.5, activation), rng.normal(size=(8, 3)), 1e-6
    for layer, routes in enumerate(passed_on(net, x)):
        biases = [b.copy() for b in net.biases]
        biases[layer][1] += step
        difference = (Network(net.weights, tuple(biases), activation)(x) - net(x)) / step
        far = np.all([np.abs(z).min(axis=1) > 1e-4 for z in net.pre_activations(x)[:-1]], axis=0)
        assert np.allclose(difference[far], routes[far][:, :, 1], atol=1e-4)


def test_without_hidden_layers_there_is_only_the_base():
    found = unit_ceiling(random_network([3, 2], np.random.default_rng(0)), np.eye(3))
    assert found.total == found.base == 6 and not found.per_unit


def test_what_is_told_apart():
    """All that is left of directions of unit length is clearly something, or rounding; with nothing, both are empty."""
    net, x = pair(1)
    found = unit_ceiling(net, x)
    assert 0 < found.dropped < 1e-11 and 1e-3 < found.counted <= 1
    alone = unit_ceiling(random_network([3, 2], np.random.default_rng(0)), np.eye(3))
    assert (alone.counted, alone.dropped) == (np.inf, 0.0)


def test_examples_that_hardly_differ_can_be_missed():
    """What the docstring of CLEAR says: the ceiling falls below the rank where what is left is below it."""
    rng = np.random.default_rng(2)
    net, x = random_network([4, 4, 2], rng, 1.5, 0.5), rng.normal(size=(8, 4))
    x[4:] = x[:4] + 1e-9 * rng.normal(size=(4, 4))
    found = unit_ceiling(net, x)
    assert found.total < exact_rank(net, x) and 1e-10 < found.dropped < CLEAR


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (
            (0, 3),
            r"found \(0, 3\), expected \(layer, unit\) with layer from 0 to 1, unit from 0 to 2 in layer 0",
        ),
        (
            (2, 0),
            r"found \(2, 0\), expected \(layer, unit\) with layer from 0 to 1. Layers and units are counted from 0",
        ),
        ((-1, 0), r"found \(-1, 0\), expected"),
        (3, "found 3, expected .* two whole numbers, with layer from 0 to 1"),
        ((0, 1.5), r"found \(0, 1.5\), expected .* two whole numbers"),
        ((0, "a"), r"found \(0, 'a'\), expected .* two whole numbers"),
        ((0, 1, 2), r"found \(0, 1, 2\), expected .* two whole numbers"),
    ],
)
def test_what_is_set_aside_must_be_of_a_unit_that_is_there(key, said):
    with pytest.raises(ValueError, match=f"aside: {said}"):
        unit_ceiling(random_network([2, 3, 2, 1], np.random.default_rng(0)), np.eye(2), {key: np.eye(2)})


def test_what_is_set_aside_must_be_functions_on_the_examples():
    net, x = random_network([2, 3, 1], np.random.default_rng(0)), np.eye(2)
    for rows in (np.eye(3), np.zeros((3, 0))):
        with pytest.raises(ValueError, match=r"aside\[0, 1\]: found 3 rows, expected 2, one per example"):
            unit_ceiling(net, x, {(0, 1): rows})
    with pytest.raises(ValueError, match="aside: found a list, expected a mapping"):
        unit_ceiling(net, x, [x])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"aside\[0, 1\]: found 1 value.s. that are NaN"):
        unit_ceiling(net, x, {(0, 1): np.array([[np.nan], [1.0]])})
    with pytest.raises(ValueError, match="no hidden layer"):
        unit_ceiling(random_network([2, 1], np.random.default_rng(0)), x, {(0, 0): x})


def test_no_functions_are_nothing_set_aside():
    net, x = pair(1)
    assert unit_ceiling(net, x, {(1, 0): np.zeros((len(x), 0))}).total == unit_ceiling(net, x, {}).total
