"""The two tasks: what is trained, what is asked for, and what guessing costs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chapters.scaling_conjecture.scaled_tasks import digits_task, residual_scale, transport_task

KEY = jax.random.key(0)


@pytest.mark.parametrize("task", [digits_task("relu", 3, 0.5, 6), transport_task("relu", 4, 0.5, 6, positions=12)])
def test_only_the_blocks_are_trained(task):
    params = task.initial(KEY)
    batch = task.data(KEY) if callable(task.data) else tuple(part[:8] for part in task.data)
    slope = jax.grad(task.loss)(params, batch)
    assert all(not slope[name].any() for name in ("embedding", "readout", "scale"))
    assert slope["blocks"]["W"].any()


def test_scales_that_start_at_zero_are_trained_and_start_at_the_identity():
    task = digits_task("two-layer", 3, 0.0, 6, zero_start=True)
    params = task.initial(KEY)
    start, end = task.ends(params, jnp.asarray(task.data[0][:5]))
    assert (start == end).all()
    slope = jax.grad(task.loss)(params, tuple(part[:8] for part in task.data))
    assert slope["scale"].any() and not slope["blocks"]["W"].any()


def test_marks_are_wanted_further_on():
    task = transport_task("tanh", 4, 0.5, distance=3, positions=10, batch=5)
    marks, wanted = task.data(KEY)
    assert marks.shape == (5, 10) and set(np.unique(marks)) == {-1.0, 1.0}
    for p in range(10):
        assert (wanted[:, p] == marks[:, (p - 3) % 10]).all()


def test_a_layer_sees_its_neighbours_only():
    task = transport_task("tanh", 2, 0.0, distance=2, positions=12)
    params = task.initial(KEY)
    marks = jnp.ones((1, 12))
    changed = (task.ends(params, marks.at[0, 5].set(-1.0))[1] != task.ends(params, marks)[1]).any(axis=-1)[0]
    assert np.flatnonzero(changed).tolist() == [3, 4, 5, 6, 7]


def test_guessing_has_the_trivial_loss():
    marks = transport_task("tanh", 4, 0.5).data(KEY)[1]
    assert float(jnp.mean(marks**2)) == transport_task("tanh", 4, 0.5).trivial
    assert digits_task("tanh", 4, 0.5).trivial == pytest.approx(np.log(10))


def test_the_size_of_the_output_does_not_matter():
    task = transport_task("two-layer", 4, 0.5)
    params, batch = task.initial(KEY), task.data(KEY)
    larger = {**params, "embedding": 1e3 * params["embedding"]}  # two-layer blocks are homogeneous
    assert float(task.loss(larger, batch)) == pytest.approx(float(task.loss(params, batch)), rel=1e-4)


@pytest.mark.parametrize(
    ("message", "settings"),
    [
        ("distance: found 5, expected at most the number of layers, 4", {"distance": 5}),
        ("distance: found 4, expected at most half of the 7 positions", {"positions": 7}),
        ("distance: found 0", {"distance": 0}),
    ],
)
def test_distances_that_cannot_be_covered_are_refused(message, settings):
    with pytest.raises(ValueError, match=message):
        transport_task("tanh", 4, 0.5, **settings)


def test_scales():
    assert residual_scale(512, 0.0) == 1
    assert residual_scale(16, 0.75) == 0.125
    with pytest.raises(ValueError, match="exponent"):
        residual_scale(16, np.nan)
