"""The dense response of the experiments: by the package's own, by retraining, and for linear stacks by paper 1."""

from dataclasses import replace

import numpy as np
import pytest

import capcore as cc
from chapters.trained_capacity import optimum as dense
from chapters.trained_capacity.directions import whitened
from chapters.trained_capacity.networks import stack, stack_params
from chapters.trained_capacity.sources import PROCESSES, volume, windows
from chapters.trained_capacity.stacks import grown, leverages, optima


@pytest.fixture(scope="module")
def task():
    x, y = windows(PROCESSES["power law"], "warped", 200, 8, np.random.default_rng(0))
    return dense.Task(stack("tanh"), x, y, 0.02)


@pytest.fixture(scope="module")
def end(task):
    return dense.settle(task, stack_params("tanh", 2, 3, np.random.default_rng(1)))


def test_the_package_gives_the_same(task, end):
    """Another program: Hessian–vector products there, a whole Hessian here; both to condition × rounding."""
    assert end.gradient < 1e-9 and end.lowest > 0
    response = dense.Response(task, end.params)
    options = {"weight_decay": task.decay, "curvature": "full"}
    found = cc.allocate_network(task.apply, end.params, task.inputs, task.targets, **options)
    assert response.total == pytest.approx(found.total, rel=1e-8)
    np.testing.assert_allclose(response.leverage.sum(axis=1), found.per_example, rtol=1e-7, atol=1e-9)
    per_input = response.capacity(whitened(task.inputs))[:, 0]
    np.testing.assert_allclose(per_input, found.per_subspace["inputs"], rtol=1e-7, atol=1e-9)
    plain = dense.Response(task, end.params, gauss_newton=True)
    assert plain.total == pytest.approx(found.gauss_newton_total, rel=1e-8)


def test_retraining_answers_as_it_says(task, end):
    """To first order: the error is that of the second, about the size of the shift."""
    shift = 1e-5 * np.random.default_rng(2).normal(size=task.targets.shape)
    moved = dense.settle(replace(task, targets=task.targets + shift), end.params)
    actual = dense.outputs(task, moved.params) - dense.outputs(task, end.params)
    predicted = dense.Response(task, end.params)(shift)
    assert np.linalg.norm(actual - predicted) < 1e-2 * np.linalg.norm(predicted)


@pytest.mark.parametrize("channels", [1, 2])
def test_a_linear_stack_has_paper_1s_capacity_of_whitened_inputs(channels):
    """The package's fit of the process, its Jacobian times the root of the covariance."""
    process = PROCESSES["power law"]
    x, y = windows(process, "linear", 100, 8, np.random.default_rng(3))
    task = dense.Task(stack("linear"), x, y, 1e-8)
    found = leverages(task, dense.settle(task, stack_params("linear", channels, 3, np.random.default_rng(4))).params)
    arch = cc.Hierarchical(channels=channels, n_layers=3)
    sizes, axes = np.linalg.eigh(process.covariance(8))
    left, values, _ = np.linalg.svd((axes * np.sqrt(sizes)) @ axes.T @ arch.jacobian(cc.fit(arch, process).params))
    expected = np.sum(left[:, : np.count_nonzero(values > 1e-7 * values[0])] ** 2, axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-4)  # weight decay moves the optimum a little


@pytest.mark.parametrize("units", ["tanh", "gated"])
def test_a_grown_start_has_the_linear_weights(units):
    linear = stack_params("linear", 2, 3, np.random.default_rng(7))
    found = grown(linear, units, np.random.default_rng(8))
    like = stack_params(units, 2, 3, np.random.default_rng(9))
    assert {name: np.shape(each) for name, each in found.items()} == {name: each.shape for name, each in like.items()}
    assert np.array_equal(np.asarray(found["layer 1"])[:, :2], linear["layer 1"])


def test_optima_are_distinct_and_sorted(task):
    settings = {"channels": 2, "n_inputs": 8, "n_starts": 2}
    linear = stack_params("linear", 2, 3, np.random.default_rng(10))
    losses = [each.loss for each in optima(task, "tanh", linear, settings, 0)]
    assert losses == sorted(losses) and np.all(np.diff(losses) > 0)


def test_sources():
    x, y = windows(PROCESSES["damped cosine"], "linear", 400, 8, np.random.default_rng(11))
    np.testing.assert_allclose(x.T @ x / 400, PROCESSES["damped cosine"].covariance(8), atol=1e-10)
    np.testing.assert_allclose(x @ np.linalg.lstsq(x, y, rcond=None)[0], y, atol=1e-8)
    past, following = volume(16)
    assert past.shape == (len(following), 16) and np.array_equal(past[1:, 0], following[:-1, 0])


def test_whitened_inputs_are_orthonormal_and_span_the_inputs():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 5)) + 3
    z, centred = whitened(x), x - x.mean(axis=0)
    np.testing.assert_allclose(z.T @ z, np.eye(5), atol=1e-12)  # rounding of a decomposition of condition ~ 10
    np.testing.assert_allclose(z @ (z.T @ centred), centred, atol=1e-10)
    twice = whitened(np.hstack([x, x[:, :1], np.full((60, 1), 2.0)]))  # dependent inputs share their rank
    assert np.sum(twice**2) == pytest.approx(5)
    assert np.allclose(twice[:, 0], twice[:, 5]) and np.allclose(twice[:, 6], 0)
