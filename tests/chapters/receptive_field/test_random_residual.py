"""Random residual networks: gradients by differences, their mean against squared weights, bad input."""

import numpy as np
import pytest

from chapters.receptive_field import study
from chapters.receptive_field.study import KINDS, expected_deviation, tanh_slope_square, tanh_square


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
    found = study.squared_gradients(kind, 3, 0.4, 1, np.random.default_rng(4), c, n)[0]
    x, output = network(kind, 3, 0.4, np.random.default_rng(4), c, n)
    slopes = np.zeros((n, c))
    for place in np.ndindex(n, c):
        step = np.zeros((n, c))
        step[place] = h
        slopes[place] = (output(x + step) - output(x - step)) / (2 * h)
    np.testing.assert_allclose(found, (slopes**2).sum(axis=1), atol=1e-6)  # slopes are kept in single precision


@pytest.mark.parametrize("kind", KINDS)
def test_mean_squared_gradients_of_many_channels_spread_as_the_law_says(kind):
    """48 channels, 200 draws of 6 layers: the standard error of the mean width is about 1 %."""
    profiles = study.squared_gradients(kind, 6, 0.5, 200, np.random.default_rng(0), 48, 31)
    assert study.deviation(profiles.mean(axis=0)) == pytest.approx(expected_deviation(kind, 6, 0.5), rel=0.05)


def test_the_mean_of_squares_keeps_its_sum_for_relu():
    """5,000 draws: a standard error of 0.8 %."""
    sums = study.squared_gradients("relu", 4, 0.5, 5000, np.random.default_rng(0), 16, 11).sum(axis=1)
    assert sums.mean() == pytest.approx(1, abs=4 * sums.std() / np.sqrt(5000))


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


def test_deviations_have_a_row_for_every_draw():
    rng = np.random.default_rng(0)
    found = study.deviations("tanh", [1, 2, 4], [0.5, 0.25, 0.125], 9, rng, 2)
    assert found.shape == (9, 3) and (found > 0).all()


def test_exponents_of_a_square_root():
    found = study.exponent_interval([1, 4, 16], np.array([[1.0, 2, 4], [1.0, 2, 4.5]]))
    assert found.mean > 0.5 and found.half_width > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: study.squared_gradients("rely", 1, 0.5, 1, rng), "kind: found 'rely'.*Did you mean 'relu'"),
        (lambda rng: study.squared_gradients("relu", 1, 1.0, 1, rng), "jump: found 1, expected more than 0 and less"),
        (lambda rng: study.squared_gradients("relu", 0, 0.5, 1, rng), "n_layers: found 0"),
        (lambda rng: study.squared_gradients("relu", 1, 0.5, 1, rng, 0), "channels: found 0"),
        (lambda rng: study.squared_gradients("relu", 1, 0.5, 1, rng, 1, 2), "positions: found 2"),
        (lambda rng: study.deviations("relu", [1], 0.5, 1, rng), "draws: found 1"),
        (lambda rng: expected_deviation("relu", 0, 0.5), "n_layers: found 0"),
    ],
)
def test_bad_networks_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0))
