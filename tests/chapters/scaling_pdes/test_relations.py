"""Exponents come from counts, and are those at which deep networks have a limit."""

import numpy as np
import pytest

from capcore.propagation import ConvolutionTransport, Layer, displacement, propagate
from chapters.scaling_pdes.relations import counts, degree, scaling_relations


def test_the_counts_have_closed_forms():
    for ndim in (1, 2, 3):
        for r in (1, 3, 5):
            for c in (1, 2, 3):
                moment = sum(j * j for j in range(-(r // 2), r // 2 + 1))
                expected = [7 * (c * r**ndim - 1), 7 * c * r ** (ndim - 1) * moment]
                np.testing.assert_allclose(counts(7, c, r, ndim=ndim), expected, rtol=1e-12)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_the_table(ndim):
    by_equation = scaling_relations(ndim)
    table = [relation for relations in by_equation.values() for relation in relations]
    assert [(relation.equation, relation.derived) for relation in table] == [
        (5, {"L": -1, "r": -1}),
        (9, {"L": -1}),
        (14, {"L": -1, "r": -1}),
        (14, {"L": -1}),
        (18, {"L": -1, "r": -1}),
        (18, {"L": -1}),
        (27, {"L": -1, "C": -1, "r": -1}),
        (29, {"L": -1, "r": -ndim}),
        (31, {"N": -1}),
    ]
    assert by_equation[29][0].spread == {"L": -1, "r": -ndim - 2}
    for relation in table:
        assert all(relation.derived[name] == exponent for name, exponent in relation.printed.items())
    omitted = {
        (x.equation, name) for x in table for name, power in x.derived.items() if power and name not in x.printed
    }
    assert omitted == {(equation, "r") for equation in (5, 14, 18, 27)}


@pytest.mark.parametrize("exponent", [-0.25, -0.5, -0.75])
def test_spread_and_leak_are_finite_at_the_derived_exponent_only(exponent):
    """Spread and leak of actual stacks whose weights fall as L^exponent."""
    spread, leak = [], []
    for n in (256, 1024, 4096):
        weight = 0.5 * n**exponent
        step = ConvolutionTransport.of_weights(np.array([weight, np.sqrt(1 - 2 * weight**2), weight])[None, :, None])
        spread.append(displacement([step] * n).covariance.item())
        still = ConvolutionTransport.of_offsets({0: 1.0})
        left = propagate([1.0], [Layer.leaky(still, side=weight**2)] * n).masses["input"]
        leak.append(-np.log(left))
    for values in (spread, leak):
        growth = np.log2(values[2] / values[1]) / 2
        assert growth == pytest.approx(1 + 2 * exponent, abs=0.02)


def test_what_is_no_polynomial_of_low_degree_has_no_degree():
    assert [degree(np.arange(1, 9) ** power) for power in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(StopIteration):
        degree(2 ** np.arange(8))
