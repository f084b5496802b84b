"""Layers brought to one scale: exact powers of two, only where the model is homogeneous."""

import numpy as np
import pytest

import capcore as cc
from capcore.checks.double_precision import to_even_scale, underflows

MODELS = [
    cc.Hierarchical(3, 5),
    cc.Hierarchical(2, dilations=[1, 2, 4, 1, 2, 4]),
    cc.Recurrent(20, 3),
    cc.Linear(np.random.default_rng(0).normal(size=(6, 3))),
]


@pytest.mark.parametrize("arch", MODELS, ids=repr)
def test_tangents_are_the_same_to_the_last_bit(arch):
    params = arch.init(np.random.default_rng(1))
    scaled = params.copy()
    for i, name in enumerate(arch.homogeneous):
        scaled[arch.layers[name]] *= 2.0 ** (7 - 20 * i)
    before, after = arch.tangents(params), arch.tangents(scaled)
    assert all(np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("value", [5e-324, 1e-310, 1e-160, 0.3, 7.0, 1.7e308])
def test_the_largest_entry_becomes_one_half_at_least(value):
    found = to_even_scale(np.array([-value, value / 4, 0.0]))
    assert 0.5 <= -found[0] < 1 and found[2] == 0
    assert np.log2(-found[0] / value if value > 1e-300 else 1.0) % 1 == 0


def test_zeros_stay():
    assert to_even_scale(np.zeros(3)).tolist() == [0, 0, 0]


def test_poles_of_a_recurrent_model_are_no_scale():
    arch = cc.Recurrent(8, 2)
    _, even = arch.at_even_scale(np.array([3e-9, 4e-9, 1e-3, 2e-3, 5e7, 6e7]))
    assert even[2:4].tolist() == [1e-3, 2e-3] and np.abs(even[[0, 1, 4, 5]]).max() < 1


def test_a_function_is_refused_at_extremes_only():
    for value in (1e-30, 0.0, 1e30):
        assert cc.Function(np.tanh, 1).at_even_scale([value])[1].tolist() == [value]
    with pytest.raises(ValueError, match="params: found values of about 1e-40, expected a layer's largest between"):
        cc.allocate(np.tanh, [1e-40], cc.PowerLaw())


def test_poles_beyond_the_unit_circle_that_overflow_are_refused():
    arch = cc.Recurrent(64, 1)
    with pytest.raises(ValueError, match=r"overflows, expected (finite|moderate)"), np.errstate(all="ignore"):
        cc.allocate(arch, [1.0, 1e10, 1.0], cc.PowerLaw())


def test_products_that_are_lost_are_refused_and_zeros_are_not():
    arch = cc.Hierarchical(1, 3)
    with pytest.raises(FloatingPointError, match="largest weights 1e-200, 1e-200, 1e\\+00, whose product is lost"):
        arch.coefficients([1e-200] * 4 + [1.0] * 2)
    assert not arch.coefficients([0.0] * 2 + [1e-200] * 4).any()
    assert not underflows([np.full((1, 2, 1), 1e-100), np.full((1, 2, 1), 1e100), np.full((1, 2, 1), 1e-100)])
