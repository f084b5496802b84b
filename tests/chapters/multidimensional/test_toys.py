"""Tasks of d components that collapse to one, and mixing within positions: the laws, and where they end."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import capcore as cc
from capcore.architectures import Hierarchical
from capcore.processes import AR1, FractionalGaussianNoise, PowerLaw
from chapters.multidimensional.experiment import spread_components
from chapters.multidimensional.toys import (
    correlated_cases,
    equicorrelation,
    identical_components,
    single_component,
    spread_over_weights,
    symmetric_power,
    whitened,
)

TOYS = {
    "identical": lambda d, c: identical_components(PowerLaw(), d, c, 4),
    "identical noise": lambda d, c: identical_components(FractionalGaussianNoise(), d, c, 4),
    "the first": lambda d, c: single_component([PowerLaw()] * d, 0, c, 4),
    "one of distinct ones": lambda d, c: single_component(spread_components("PowerLaw", d), d // 2, c, 4),
    "the last": lambda d, c: single_component([PowerLaw()] * d, d - 1, c, 4),
}


@pytest.mark.parametrize("make", TOYS.values(), ids=TOYS)
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("channels", [1, 2])
def test_the_collapse(make, d, channels):
    """Two optima, each converged to about 1e-8 of its residual."""
    toy = make(d, channels)
    assert toy.loss_gap < 1e-9
    assert toy.together.regular and toy.alone.regular
    assert_allclose(toy.together.allocation.per_input, toy.predicted, rtol=0, atol=1e-5)
    assert toy.together.allocation.total == toy.alone.allocation.total + (d - 1) * 2 * channels
    assert toy.per_component.sum() == pytest.approx(toy.together.allocation.total)


def test_an_attained_target_has_no_gap():
    assert identical_components(AR1(), 2, 1, 3).loss_gap == 0


def test_identical_components_share_evenly():
    toy = identical_components(PowerLaw(), 4, 2, 4)
    assert_allclose(toy.per_component, toy.together.allocation.total / 4, rtol=1e-6)


@pytest.mark.parametrize("channels", [1, 2])
def test_components_that_are_not_predicted_keep_the_capacity_of_a_first_layer(channels):
    """Not zero: their coefficients are held at zero, which takes as many constraints as layer 1 can move them."""
    components = spread_components("PowerLaw", 4)
    toy = single_component(components, 1, channels, 4)
    expected = np.full(4, 2.0 * channels)
    expected[1] = toy.alone.allocation.total
    assert_allclose(toy.per_component, expected, rtol=0, atol=1e-6)
    coefficients = toy.together.fit.coefficients.reshape(-1, 4)
    assert np.abs(np.delete(coefficients, 1, axis=1)).max() < 1e-9
    assert_allclose(coefficients[:, 1], toy.alone.fit.coefficients, rtol=0, atol=1e-6)


def test_the_law_for_identical_components_is_layer_1_times_the_others():
    toy = identical_components(PowerLaw(), 4, 2, 4)
    assert_allclose(toy.across, 3 * toy.alone.allocation.layers["layer 1"].independent, rtol=0, atol=1e-9)


def test_with_more_channels_than_rank_the_capacity_depends_on_idle_weights():
    regular, singular = (identical_components(PowerLaw(), 4, c, 5) for c in (2, 4))
    assert spread_over_weights(regular, Hierarchical(2, 5, input_dim=4)) < 1e-6
    assert spread_over_weights(singular, Hierarchical(4, 5, input_dim=4)) > 0.1


@pytest.mark.parametrize(
    ("which", "message"), [(3, "which: found 3, expected a component from 0 to 2"), (-1, "which: found -1")]
)
def test_refused(which, message):
    with pytest.raises(ValueError, match=message):
        single_component(spread_components("PowerLaw", 3), which, 1, 3)


COMPONENTS = spread_components("PowerLaw", 3)
ARCH = cc.Hierarchical(2, 4, input_dim=3)


@pytest.mark.parametrize("correlation", [-0.45, 0.0, 0.8])
def test_every_pair_has_the_correlation(correlation):
    block = cc.Mixed(COMPONENTS, equicorrelation(3, correlation)).autocovariance(1)[0]
    assert_allclose(block, np.eye(3) * (1 - correlation) + correlation, rtol=0, atol=1e-12)


def test_powers_of_a_symmetric_matrix(rng):
    root = rng.normal(size=(4, 4))
    matrix = root @ root.T + np.eye(4)
    assert_allclose(symmetric_power(matrix, 2), matrix @ matrix, rtol=1e-10)
    assert_allclose(symmetric_power(matrix, 0.5) @ symmetric_power(matrix, -0.5), np.eye(4), atol=1e-12)


def test_whitening_leaves_the_target():
    process = cc.Mixed(COMPONENTS, [[1, 0, 0], [2, 1, 0], [0, 1, 3]], [1.0, 2.0, -1.0])
    white = whitened(process)
    assert_allclose(white.autocovariance(1)[0], np.eye(3), rtol=0, atol=1e-12)
    assert_allclose(white.sources.weights, process.sources.weights, rtol=0, atol=1e-12)


def test_correlation_keeps_loss_and_total_and_moves_capacity_unless_whitened():
    cases = correlated_cases(ARCH, COMPONENTS, [0.0, -0.45])
    white = correlated_cases(ARCH, COMPONENTS, [-0.45], whiten=True)[-0.45]
    plain, mixed = cases[0.0], cases[-0.45]
    for other in (mixed, white):
        assert other.fit.loss == pytest.approx(plain.fit.loss, rel=1e-9)
        assert other.allocation.total == plain.allocation.total
    moved = np.abs(mixed.allocation.per_input - plain.allocation.per_input).max()
    assert moved > 0.01
    assert_allclose(white.allocation.per_input, plain.allocation.per_input, rtol=0, atol=1e-5)


@pytest.mark.parametrize("correlation", [1.0, -0.5, 1.5, float("nan"), "0.5"])
def test_refused_correlated_components(correlation):
    with pytest.raises(ValueError, match=r"found .*, expected a number strictly between -0\.5 and 1, for 3"):
        equicorrelation(3, correlation)
    assert equicorrelation(1, 0.5).tolist() == [[1.0]]
