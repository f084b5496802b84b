"""Residual networks and their tasks against loops over layers and positions; the stored runs against runs made now."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chapters.kit.stored import stored
from chapters.scaling_conjecture import experiment
from chapters.scaling_conjecture.experiment import SETTINGS, arms, run, search, train_arm
from chapters.scaling_conjecture.figures import loss_of
from chapters.scaling_conjecture.residual_delay import SETTINGS as DELAY
from chapters.scaling_conjecture.residual_delay import run as run_delay
from chapters.scaling_conjecture.residual_delay import steps_to_learn
from chapters.scaling_conjecture.signals import BLOCKS
from chapters.scaling_conjecture.tasks import (
    Task,
    block,
    digits_task,
    draw_blocks,
    residual_scale,
    through_blocks,
    transport_task,
)

pytestmark = pytest.mark.slow  # of code that stored results hash, so that it cannot change unnoticed
BRIEF = {**SETTINGS, "digits": {**SETTINGS["digits"], "n_steps": 4}, "seeds": [0, 1], "extensions": 0}


def leaves(values):
    return [values] if "best" in values else [leaf for each in values.values() for leaf in leaves(each)]


def test_every_arm_has_a_place_of_its_own():
    keys = [keys for keys, _, _ in arms()]
    assert len(set(keys)) == len(keys) == len(leaves(stored("residual_scale")["values"]))


def test_the_best_rate_of_every_arm_that_learns_lies_inside_its_grid():
    content = stored("residual_scale")
    for arm in leaves(content["values"]):
        assert len(arm["best"]) == len(content["settings"]["seeds"])
        if np.median(loss_of(arm)) < 0.9:
            assert not arm["at_edge"] and arm["rates"][0] < arm["rate"] < arm["rates"][-1]


def test_scales_from_zero_start_at_the_identity_and_leave_it():
    for arm in stored("residual_scale")["values"]["zero_start"].values():
        assert arm["moved"]["start"] == [0.0, 0.0, 0.0] and min(arm["moved"]["trained"]) > 0.5


@pytest.mark.slow
def test_arms_are_nested_by_their_keys():
    none = {"depths": [], "transport_depths": {}, "other_distances": {"n_layers": 8, "distances": []}}
    found = run({**BRIEF, **none, "zero_start": [2], "normalised": {"n_layers": 2, "exponents": [0.25]}})
    assert set(found) == {"normalised", "zero_start"} and len(leaves(found)) == 2
    assert found["zero_start"]["2"]["rates"] == SETTINGS["rates"]


def test_what_overflows_is_stored_as_nothing():
    task = experiment.make_task("digits", "relu", 300, -0.5)
    arm = train_arm("digits", task, {**BRIEF, "rates": [1e-3], "seeds": [0]})
    assert arm["best"] == [None] and arm["moved"]["start"] == [None] and loss_of(arm).tolist() == [np.inf]


def test_an_unknown_task_is_refused():
    with pytest.raises(ValueError, match="task: found 'digit'"):
        experiment.make_task("digit", "relu", 2, 0.5)


def test_steps_until_the_loss_is_low():
    falling = np.r_[np.ones(20), np.zeros(20)]
    assert steps_to_learn(falling, 0.1) == 29  # nine zeros in the last ten
    assert steps_to_learn(np.ones(20), 0.1) is None


@pytest.mark.slow
def test_transport_at_scale_one_over_depth_is_learnt_late_as_stored():
    now = run_delay({**DELAY, "depths": [8], "rates": [6.4e-3], "n_steps": 900})["8"][0]
    then = stored("residual_delay")["values"]["8"][DELAY["rates"].index(6.4e-3)]
    assert all(200 < step < 900 for step in (*now, *then))  # when a plateau is left depends on rounding


# Gradient descent on w²/2 from 1 has the loss (1 − rate)^(2t)/2: the best rate is 1, rates above 2 diverge.
BOWL = Task(lambda key: 1.0, lambda w, batch: 0.5 * w**2, [np.zeros(4)], lambda w, x: (x, x), 0.5)


def find(rates, **options):
    return search(BOWL, rates, [0, 1], 10, optimiser="sgd", **options)


def test_a_grid_around_the_best_rate_is_not_extended():
    found = find([0.5, 1.0, 2.0])
    assert found.rates.tolist() == [0.5, 1.0, 2.0] and found.rates[found.best] == 1 and not found.at_edge


@pytest.mark.parametrize("rates", [[0.0625, 0.125], [4.0, 8.0]])
def test_a_grid_beside_it_is_extended_until_the_best_lies_inside(rates):
    found = find(rates, extensions=6)
    assert found.rates[found.best] == 1 and not found.at_edge
    assert np.allclose(np.diff(np.log2(found.rates)), 1)


def test_extensions_end():
    found = find([2.0**-9, 2.0**-8], extensions=2)
    assert found.rates.tolist() == [2.0**k for k in (-9, -8, -7, -6)] and found.at_edge


def test_nothing_is_extended_where_every_rate_diverges():
    steep = Task(lambda key: 1.0, lambda w, batch: jnp.exp(1e3 * w), [np.zeros(4)], lambda w, x: (x, x), 1.0)
    found = search(steep, [1.0, 2.0], [0], 10, optimiser="sgd")
    assert found.rates.tolist() == [1.0, 2.0] and np.isinf(found.losses).all()


def test_parameters_are_those_of_the_best_rate():
    assert np.allclose(find([0.5, 1.0, 2.0]).params, 0)


def test_rates_must_rise():
    with pytest.raises(ValueError, match=r"rates: found .*expected rising numbers"):
        find([1.0, 0.5])


KEY = jax.random.key(3)


def by_hand(kind, weights, x, scale):
    for layer in range(len(weights["W"])):
        h = x @ np.asarray(weights["W"][layer], float)
        h = np.tanh(h) if kind == "tanh" else np.maximum(h, 0)
        x = x + scale * (h @ np.asarray(weights["V"][layer], float) if kind == "two-layer" else h)
    return x


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_scan_is_the_loop_over_layers(kind):
    weights = draw_blocks(KEY, kind, 6, 5)
    x = np.random.default_rng(0).standard_normal((7, 5))
    found = through_blocks(weights, jnp.asarray(x), 0.4, kind)
    np.testing.assert_allclose(found, by_hand(kind, weights, x, 0.4), rtol=1e-4, atol=1e-5)


def test_taps_are_a_convolution_on_a_ring():
    weights = {name: w[0] for name, w in draw_blocks(KEY, "relu", 1, 4, taps=3).items()}
    x = np.random.default_rng(0).standard_normal((9, 4))
    found = block("relu", weights, jnp.asarray(x), taps=3)
    for p in range(9):
        seen = np.concatenate([x[(p - 1) % 9], x[p], x[(p + 1) % 9]])
        np.testing.assert_allclose(found[p], np.maximum(seen @ np.asarray(weights["W"]), 0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_ring_has_no_first_position(kind):
    weights = draw_blocks(KEY, kind, 4, 3, taps=3)
    x = jax.random.normal(jax.random.key(1), (8, 3))
    turned = through_blocks(weights, jnp.roll(x, 3, axis=0), 0.5, kind, taps=3)
    np.testing.assert_allclose(turned, jnp.roll(through_blocks(weights, x, 0.5, kind, taps=3), 3, axis=0), atol=1e-5)


@pytest.mark.parametrize("kind", ["relu", "two-layer"])
def test_homogeneous_blocks_normalised_differ_by_one_factor(kind):
    weights = draw_blocks(KEY, kind, 20, 8)
    x = jax.random.normal(jax.random.key(1), (5, 8))
    plain, divided = (through_blocks(weights, x, 0.7, kind, normalised=flag) for flag in (False, True))
    np.testing.assert_allclose(divided * 1.49**10, plain, rtol=1e-3)


def test_shared_weights_are_the_same_in_every_layer():
    weights = draw_blocks(KEY, "two-layer", 5, 4, shared=True)
    assert all((w == w[0]).all() and w.shape == (5, 4, 4) for w in weights.values())
    drawn = draw_blocks(KEY, "two-layer", 5, 4)["W"]
    assert not (drawn[0] == drawn[1]).any()


@pytest.mark.parametrize(("kind", "gain"), [("tanh", 1), ("relu", 2), ("two-layer", 2)])
def test_variances_count_all_that_is_summed_over(kind, gain):
    weights = draw_blocks(KEY, kind, 40, 16, taps=3)
    assert float(weights["W"].var()) == pytest.approx(gain / 48, rel=0.05)  # 30,720 draws: 0.8 per cent each sigma
    if kind == "two-layer":
        assert float(weights["V"].var()) == pytest.approx(1 / 16, rel=0.06)


def test_a_scale_for_each_layer():
    weights = draw_blocks(KEY, "tanh", 3, 4)
    x = jnp.ones(4)
    alone = x + 0.5 * block("tanh", {name: w[1] for name, w in weights.items()}, x)
    np.testing.assert_allclose(through_blocks(weights, x, jnp.array([0.0, 0.5, 0.0]), "tanh"), alone, rtol=1e-6)


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("kind: found 'rely'.*Did you mean 'relu'", ("rely", 2, 2)),
        ("n_layers: found 0", ("relu", 0, 2)),
        ("width: found 0", ("relu", 2, 0)),
        ("taps: found 2, expected an odd number", ("relu", 2, 2, 2)),
    ],
)
def test_unusable_blocks_are_refused(message, arguments):
    with pytest.raises(ValueError, match=message):
        draw_blocks(KEY, *arguments)


TASK_KEY = jax.random.key(0)


@pytest.mark.parametrize("task", [digits_task("relu", 3, 0.5, 6), transport_task("relu", 4, 0.5, 6, positions=12)])
def test_only_the_blocks_are_trained(task):
    params = task.initial(TASK_KEY)
    batch = task.data(TASK_KEY) if callable(task.data) else tuple(part[:8] for part in task.data)
    slope = jax.grad(task.loss)(params, batch)
    assert all(not slope[name].any() for name in ("embedding", "readout", "scale"))
    assert slope["blocks"]["W"].any()


def test_scales_that_start_at_zero_are_trained_and_start_at_the_identity():
    task = digits_task("two-layer", 3, 0.0, 6, zero_start=True)
    params = task.initial(TASK_KEY)
    start, end = task.ends(params, jnp.asarray(task.data[0][:5]))
    assert (start == end).all()
    slope = jax.grad(task.loss)(params, tuple(part[:8] for part in task.data))
    assert slope["scale"].any() and not slope["blocks"]["W"].any()


def test_marks_are_wanted_further_on():
    task = transport_task("tanh", 4, 0.5, distance=3, positions=10, batch=5)
    marks, wanted = task.data(TASK_KEY)
    assert marks.shape == (5, 10) and set(np.unique(marks)) == {-1.0, 1.0}
    for p in range(10):
        assert (wanted[:, p] == marks[:, (p - 3) % 10]).all()


def test_a_layer_sees_its_neighbours_only():
    task = transport_task("tanh", 2, 0.0, distance=2, positions=12)
    params = task.initial(TASK_KEY)
    marks = jnp.ones((1, 12))
    changed = (task.ends(params, marks.at[0, 5].set(-1.0))[1] != task.ends(params, marks)[1]).any(axis=-1)[0]
    assert np.flatnonzero(changed).tolist() == [3, 4, 5, 6, 7]


def test_guessing_has_the_trivial_loss():
    marks = transport_task("tanh", 4, 0.5).data(TASK_KEY)[1]
    assert float(jnp.mean(marks**2)) == transport_task("tanh", 4, 0.5).trivial
    assert digits_task("tanh", 4, 0.5).trivial == pytest.approx(np.log(10))


def test_the_size_of_the_output_does_not_matter():
    task = transport_task("two-layer", 4, 0.5)
    params, batch = task.initial(TASK_KEY), task.data(TASK_KEY)
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
