"""Receptive fields: exact laws against layers on positions, published kurtosis, and random residual networks."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.propagation import ConvolutionTransport, displacement
from chapters.receptive_field import dilated, study
from chapters.receptive_field import fields as fields
from chapters.receptive_field.study import KINDS, expected_deviation, tanh_slope_square, tanh_square

DEPTHS = [2**k for k in range(3, 13)]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.floats(0.01, 0.5))
def test_the_field_is_that_of_the_layers_on_positions(powers, jump):
    layer = ConvolutionTransport.of_offsets({-1: jump, 0: 1 - 2 * jump, 1: jump})
    moved = displacement([layer.dilated(2**power) for power in powers])
    result = dilated.field(np.log(2) * np.array(powers), jump)
    assert result.deviation * 2 ** max(powers) == pytest.approx(np.sqrt(moved.covariance.item()), rel=1e-12)
    assert result.excess_kurtosis == pytest.approx(moved.excess_kurtosis.item(), abs=1e-10)


@pytest.mark.parametrize("n_layers", [12, 24, 48])
def test_doubling_dilations_have_the_published_kurtosis(n_layers):
    """0.3 N − 1.8 at λ = 2 and a = 1, up to terms of order N 4^−N."""
    result = dilated.field(dilated.stepped_dilations(n_layers), 1 / n_layers)
    assert result.excess_kurtosis == pytest.approx(0.3 * n_layers - 1.8, abs=1e-4)
    closed = np.sqrt(2 * (4**n_layers - 1) / (3 * n_layers)) / 2.0 ** (n_layers - 1)
    assert result.deviation == pytest.approx(closed, rel=1e-12)


@given(st.integers(1, 12), st.floats(1.1, 5), st.integers(1, 8))
def test_the_factor_of_larger_steps(every, ratio, n_stages):
    """At any number of layers: what is left of the lowest ones cancels."""
    n_layers = every * n_stages
    stepped, smooth = (dilated.field(dilated.stepped_dilations(n_layers, ratio, m), 0.3) for m in (every, 1))
    assert stepped.deviation / smooth.deviation == pytest.approx(dilated.step_factor(every, ratio), rel=1e-9)


def test_the_root_counts_stages():
    fields = [dilated.field(dilated.staged_dilations(n, 8), 1 / n).deviation for n in DEPTHS]
    np.testing.assert_allclose(fields, np.sqrt(2 / 8 * (1 - 4.0**-8) / (1 - 1 / 4)), rtol=1e-12)


def test_equation_20_is_the_limit_of_finer_steps():
    gaps = [dilated.smooth_gap(n, 16.0) for n in DEPTHS]
    assert np.log2(gaps[-2] / gaps[-1]) == pytest.approx(1, abs=0.01)
    assert gaps[-1] * 4096 == pytest.approx(np.log(16), rel=0.01)  # x coth x − 1 + x, to first order


@given(st.integers(1, 6), st.floats(0.01, 0.5))
def test_every_sequence_of_digits(n_layers, jump):
    expected = np.zeros(n_layers + 1)
    for digits in product((-1, 0, 1), repeat=n_layers):
        chance = np.prod([jump if digit else 1 - 2 * jump for digit in digits])
        distance = abs(sum(digit * 2**level for level, digit in enumerate(digits)))
        expected += chance * (distance < 2 ** np.arange(n_layers + 1))
    np.testing.assert_allclose(fields.within_powers(n_layers, jump), expected, atol=1e-13)


def test_half_of_the_capacity():
    """u = 1 − ln 2/(2a) of the octaves, to one octave in 4,096."""
    half = fields.half_within(fields.within_powers(4096, 1 / 4096))
    assert half / 4096 == pytest.approx(1 - np.log(2) / 2, abs=1 / 1024)


LAYERS = fields.doublings(4096)


@pytest.mark.parametrize("name", list(fields.regimes()))
@pytest.mark.parametrize("n_layers", [8, 32])
def test_cumulants_are_those_of_the_whole_law(name, n_layers):
    layers = fields.regimes()[name](n_layers)
    added = fields.size(layers)
    x, capacity = fields.law(layers, fields.width_for(added))
    mean = capacity @ x / capacity.sum()
    second, fourth = (capacity @ (x - mean) ** power / capacity.sum() for power in (2, 4))
    np.testing.assert_allclose(added, (mean, second**0.5, fourth / second**2 - 3), atol=1e-8)


@given(st.floats(0.05, 0.5), st.floats(0.1, 4.0), st.floats(0.05, 0.95))
def test_exponents_do_not_depend_on_the_weights(jump, rate, stay):
    result = {name: fields.exponents(LAYERS[:5], fields.sizes(make, LAYERS[:5])) for name, make in
             fields.regimes(jump, rate, stay).items()}  # fmt: skip
    assert result["ε ∝ 1/L"]["deviation"] == pytest.approx(0, abs=1e-9)
    for name in ("fixed ε", "repeated blocks", "causal"):
        assert result[name]["deviation"] == pytest.approx(0.5, abs=1e-9)


def network(kind, n_layers, jump, rng, c, n):
    """The same network, slowly: its weights and readout in the order in which they are drawn, as a function of x."""
    x = rng.normal(size=(1, n, c))[0]
    layers = []
    for _ in range(n_layers):
        w = rng.normal(size=(1, 3 * c, c))[0] / np.sqrt(3 * c)
        v = rng.normal(size=(1, c, c))[0] * np.sqrt(2 / c) if kind == "relu" else None
        layers.append((w, v))
    readout = rng.normal(size=(1, c))[0] / np.sqrt(c)

    def output(x):
        for w, v in layers:
            new = np.zeros_like(x)
            for y in range(n):
                z = sum(x[(y + j - 1) % n] @ w[j * c : (j + 1) * c] for j in range(3))
                branch = np.maximum(z, 0) @ v if kind == "relu" else np.tanh(z)
                size = np.sqrt(tanh_square()) if kind == "tanh" else 1.0
                keep = 1.0 if kind == "plain tanh" else np.sqrt(1 - jump)
                new[y] = keep * x[y] + np.sqrt(jump) * branch / size
            x = new
        return x[n // 2] @ readout

    return x, output


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_differences(kind):
    n, c, h = 9, 2, 1e-6
    gradients = study.squared_gradients(kind, 3, 0.4, 1, np.random.default_rng(4), c, n)[0]
    x, output = network(kind, 3, 0.4, np.random.default_rng(4), c, n)
    slopes = np.zeros((n, c))
    for place in np.ndindex(n, c):
        step = np.zeros((n, c))
        step[place] = h
        slopes[place] = (output(x + step) - output(x - step)) / (2 * h)
    np.testing.assert_allclose(gradients, (slopes**2).sum(axis=1), atol=1e-6)  # slopes are kept in single precision


@pytest.mark.parametrize("kind", KINDS)
def test_mean_squared_gradients_of_many_channels_spread_as_the_law_says(kind):
    """48 channels, 200 draws of 6 layers: the standard error of the mean width is about 1 %."""
    profiles = study.squared_gradients(kind, 6, 0.5, 200, np.random.default_rng(0), 48, 31)
    assert study.deviation(profiles.mean(axis=0)) == pytest.approx(expected_deviation(kind, 6, 0.5), rel=0.05)


def test_the_law_of_a_plain_tanh_slows_down():
    law = {n: expected_deviation("plain tanh", n, 0.5) for n in (1, 4, 8, 32, 512, 2048)}
    ratios = [law[4] / law[1], law[32] / law[8], law[2048] / law[512]]
    assert ratios[0] > ratios[1] > ratios[2] > np.sqrt(2) * 0.99
    assert expected_deviation("tanh", 400, 0.5) / expected_deviation("tanh", 100, 0.5) == pytest.approx(2)


@pytest.mark.parametrize("variance", [0.01, 1.0, 300.0])
def test_gaussian_means_by_sampling(variance):
    z = np.sqrt(variance) * np.random.default_rng(0).normal(size=400_000)
    assert tanh_square(variance) == pytest.approx(np.mean(np.tanh(z) ** 2), rel=0.01)
    assert tanh_slope_square(variance) == pytest.approx(np.mean(np.cosh(z) ** -4.0), rel=0.03)
