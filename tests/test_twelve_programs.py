"""Twelve small programs as a researcher would write them, ten lines at most, each against a truth of its own."""

import ast
import inspect

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import capcore as cc

LONGEST = 10


def test_own_covariance(rng):
    sensors = rng.normal(size=(500, 8)) @ rng.normal(size=(8, 8))
    load = sensors[:, 0] - 0.5 * sensors[:, 5] + rng.normal(size=500)
    every = np.cov(np.column_stack([sensors, load]).T)
    problem = cc.FromCovariance(every[:8, :8], cross=every[:8, 8], variance=every[8, 8])
    fit = cc.fit(cc.Hierarchical(channels=4, n_layers=3), problem)
    best = np.linalg.lstsq(sensors - sensors.mean(0), load - load.mean())[0]
    np.testing.assert_allclose(fit.coefficients, best, atol=1e-6)


def test_kernel_of_another_library():
    from sklearn.gaussian_process.kernels import Matern

    arch = cc.Hierarchical(channels=2, n_layers=4)
    kernel, same = Matern(length_scale=5.0, nu=0.5), cc.AR1(np.exp(-1 / 5))
    np.testing.assert_allclose(cc.FromKernel(kernel).predictor(16)[0], same.predictor(16)[0], atol=1e-9)
    params = arch.init(np.random.default_rng(0))
    np.testing.assert_allclose(cc.allocate(arch, params, kernel).per_input, cc.allocate(arch, params, same).per_input)


def test_own_architecture():
    def response(params):
        return np.convolve(params["below"], params["above"])

    params = {"below": np.array([1.0, 0.5, 0.2]), "above": np.array([1.0, -0.3])}
    found = cc.allocate(response, cc.fit(response, cc.PowerLaw(0.5), params=params), cc.PowerLaw(0.5))
    assert found.total == 4  # five parameters and one scale that the two filters share: every filter of four lags
    assert list(found.layers) == ["above", "below"]


def test_own_recurrence_in_jax():
    def network(w, x):  # oldest input first
        return sum(w["a"][0] * w["r"][0] ** (4 - k) * x[..., k] for k in range(5))

    found = cc.allocate(network, {"a": np.ones(1), "r": np.full(1, 0.5)}, cc.AR1(0.9), inputs=np.zeros(5))
    same = cc.Recurrent(n_inputs=5, channels=1)
    assert found.total == same.generic_capacity() == 2


def test_image():
    pixels = np.exp(-np.abs(np.subtract.outer(range(7), range(7))) / 3)
    problem = cc.FromCovariance(np.kron(pixels, pixels), target=np.ones(49) / 49)
    found = cc.allocate(lambda w: np.outer(w[:7], w[7:]).ravel(), np.ones(14), problem)
    image = found.plot(shape=(7, 7)).images[0].get_array()
    np.testing.assert_allclose(image, found.per_input.reshape(7, 7))
    np.testing.assert_allclose(image, image.T)
    assert found.total == 13  # two profiles of seven, and one scale that they share


def test_csv_with_gaps(rng, tmp_path):
    values = np.convolve(rng.normal(size=20_000), 0.8 ** np.arange(60), mode="valid")
    days = pd.date_range("1970-01-01", periods=values.size).strftime("%d.%m.%Y")
    table = pd.DataFrame({"Tag": days, "Pegel": np.where(rng.random(values.size) < 0.2, np.nan, values)})
    table.to_csv(tmp_path / "river.csv", sep=";", decimal=",", index=False)
    options = {"sep": ";", "decimal": ",", "index_col": "Tag", "parse_dates": True, "date_format": "%d.%m.%Y"}
    process = cc.estimate_process(pd.read_csv(tmp_path / "river.csv", **options)["Pegel"], 8)
    assert process.pairs[5] == pytest.approx(0.64 * values.size, rel=0.02)
    correlations = process.autocovariance(8) / process.autocovariance(1)
    np.testing.assert_allclose(correlations, 0.8 ** np.arange(8), atol=0.1)  # 4 standard errors, by Bartlett


def test_comparison():
    models = {"dilated": cc.Hierarchical(channels=2, n_layers=4), "recurrent": cc.Recurrent(n_inputs=16, channels=2)}
    found = cc.compare(models, cc.PowerLaw(0.5), starts=3)
    alone = cc.fit(models["dilated"], cc.PowerLaw(0.5))
    assert found.models["dilated"].losses.min() == pytest.approx(alone.loss, rel=1e-6)
    assert all(name in found.table() for name in models)


def test_saving(tmp_path):
    arch, process = cc.Hierarchical(channels=2, n_layers=4), cc.PowerLaw(0.5)
    fit = cc.fit(arch, process)
    np.savez(tmp_path / "fit.npz", params=fit.params)
    again = cc.allocate(arch, np.load(tmp_path / "fit.npz")["params"], process)
    assert again.to_dataframe()["capacity"].sum() == pytest.approx(again.total)
    np.testing.assert_array_equal(again.per_input, cc.allocate(arch, fit, process).per_input)


def test_a_million_inputs():
    process, arch = cc.PowerLaw(0.5), cc.Hierarchical(channels=1, n_layers=20)
    fit = cc.fit(arch, process, method="octaves")
    found = cc.allocate(arch, fit, process, method="octaves")
    assert arch.n_inputs == 2**20
    assert found.total == arch.generic_capacity() == 21  # one ratio of taps a layer, and one scale
    assert found.per_octave.sum() == pytest.approx(21)


def test_capacity_of_a_subspace():
    process, arch = cc.PowerLaw(0.5), cc.Hierarchical(channels=2, n_layers=6)
    found = cc.allocate(arch, cc.fit(arch, process), process)
    basis, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(64, 64)))
    parts = [found.capacity(column) for column in basis.T]
    assert sum(parts) == pytest.approx(found.total)
    assert 0 < found.capacity(np.ones(64)) < 1


def test_own_pde():
    weights = {-2: 0.02, -1: 0.05, 0: 0.80, 1: 0.10, 3: 0.03}
    output = np.eye(512)[256]
    deep = cc.propagate_equal(output, cc.ConvolutionTransport.of_offsets(weights), 50)[:, 0]
    step = sum(w * np.exp(-2j * np.pi * np.fft.fftfreq(512) * offset) for offset, w in weights.items())
    exact = np.fft.ifft(np.fft.fft(output) * step**50).real
    np.testing.assert_allclose(deep, exact, atol=1e-12)


def test_receptive_field_and_trained_network(rng):
    assert cc.receptive_field(kernel_size=3, dilations=np.repeat([1, 2, 4, 8], 2)).size == 1 + 2 * 2 * 15
    x, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    features = np.column_stack([np.tanh(x), np.ones(50)])
    ridge = np.linalg.solve(features.T @ features + 2 * np.eye(4), features.T)
    found = cc.allocate_network(lambda w, x: jnp.tanh(x) @ w[:3] + w[3], ridge @ y, x, y, weight_decay=2.0)
    np.testing.assert_allclose(found.per_example, np.diag(features @ ridge))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_no_program_is_longer_than_ten_lines():
    programs = {name: each for name, each in globals().items() if name.startswith("test_") and "no_program" not in name}
    assert len(programs) == 12
    for name, program in programs.items():
        (body,) = ast.parse(inspect.getsource(program)).body
        lines = inspect.getsource(program).splitlines()[body.body[0].lineno - 1 :]
        assert sum(bool(line.strip()) for line in lines) <= LONGEST, name
