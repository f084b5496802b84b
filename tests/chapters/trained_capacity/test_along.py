"""The derivative of a training run: against training with shifted targets, and at its end against S."""

from dataclasses import replace

import jax
import numpy as np
import pytest

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
    start = stack_params("tanh", 2, 2, np.random.default_rng(1))
    shifts = np.random.default_rng(2).normal(size=(3, 40, 1))
    found, _ = along.responses(task, start, shifts, 0.05, [5, 20])
    with jax.enable_x64(True):
        for i, shift in enumerate(shifts):
            targets = (task.targets + e * shift for e in (1e-5, -1e-5))
            up, down = (trained(replace(task, targets=each), start, 0.05, 20) for each in targets)
            expected = shifts.reshape(3, -1) @ ((up - down) / 2e-5).ravel()
            np.testing.assert_allclose(found[1][:, i], expected, rtol=1e-6, atol=1e-7)  # central differences


def test_it_ends_at_the_response_of_the_optimum(task):
    start = stack_params("tanh", 1, 2, np.random.default_rng(5))
    shifts = np.random.default_rng(6).normal(size=(2, 40, 1))
    (found,), _ = along.responses(task, start, shifts, 0.1, [6000])
    state = settle(task, start).params
    expected = shifts.reshape(2, -1) @ np.stack([Response(task, state)(each).ravel() for each in shifts], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
