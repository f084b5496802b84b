"""The derivative of a training run: against training with shifted targets, by both routes, and at its end against S."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("jax")
from chapters.trained_capacity import along
from chapters.trained_capacity.networks import stack, stack_params
from chapters.trained_capacity.optimum import Response, Task, settle


@pytest.fixture(scope="module")
def task():
    x = np.random.default_rng(0).normal(size=(40, 4))
    return Task(stack("tanh"), x, (x[:, 1] + 0.3 * x[:, 0] * x[:, 2])[:, None], 0.5)


def trained(task, start, rate, n_steps):
    """Outputs of the plain loop."""
    state = start, {name: np.zeros_like(each) for name, each in start.items()}
    for _ in range(n_steps):
        state = along._step(task.apply, state, task.inputs, task.targets, task.decay, rate)
    return np.asarray(task.apply(state[0], task.inputs))


def test_it_is_what_training_with_shifted_targets_does(task):
    jax = pytest.importorskip("jax")
    start = stack_params("tanh", 2, 2, np.random.default_rng(1))
    shifts = np.random.default_rng(2).normal(size=(3, 40, 1))
    found, _ = along.responses(task, start, shifts, 0.05, [5, 20])
    with jax.enable_x64(True):
        for i, shift in enumerate(shifts):
            up, down = (
                trained(replace(task, targets=task.targets + e * shift), start, 0.05, 20) for e in (1e-5, -1e-5)
            )
            expected = shifts.reshape(3, -1) @ ((up - down) / 2e-5).ravel()
            np.testing.assert_allclose(found[1][:, i], expected, rtol=1e-6, atol=1e-7)  # central differences


def test_both_routes_agree(task):
    """Few shifts go along as tangents, many by the Hessian of each step."""
    start = stack_params("tanh", 2, 2, np.random.default_rng(3))
    many = np.random.default_rng(4).normal(size=(30, 40, 1))  # the stack has 13 parameters
    whole, errors = along.responses(task, start, many, 0.05, [3, 10])
    part, same = along.responses(task, start, many[:5], 0.05, [3, 10])
    np.testing.assert_allclose(whole[:, :5, :5], part, rtol=1e-9, atol=1e-10)
    assert errors == pytest.approx(same)


def test_it_ends_at_the_response_of_the_optimum(task):
    start = stack_params("tanh", 1, 2, np.random.default_rng(5))
    shifts = np.random.default_rng(6).normal(size=(2, 40, 1))
    (found,), _ = along.responses(task, start, shifts, 0.1, [6000])
    state = settle(task, start).params
    expected = shifts.reshape(2, -1) @ np.stack([Response.of(task, state)(each).ravel() for each in shifts], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
