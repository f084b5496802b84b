"""Layers that are frozen or pruned, what may tell their cost, and the answers."""

import jax.numpy as jnp
import numpy as np
import pytest

import capcore as cc
from chapters.your_trained_network import layer_answers as answers
from chapters.your_trained_network import layer_costs as experiment
from chapters.your_trained_network.layer_questions import OTHERS, QUESTIONS
from chapters.your_trained_network.real_data import Split
from tests.chapters.your_trained_network.test_decay_choice import answered

STACK = experiment.Stack(13, 4, 3, 3)


@pytest.fixture(scope="module")
def wine():
    data = Split("wine", 0)
    return data, STACK.start(np.random.default_rng(0))


def test_a_stack_by_hand(wine):
    data, w = wine
    x, at = data.x, 0
    for rows, columns in STACK.shapes[:-1]:
        matrix, bias = w[at : at + rows * columns].reshape(rows, columns), w[at + rows * columns :][:columns]
        before, x, at = x, np.tanh(x @ matrix + bias), at + (rows + 1) * columns
    top = w[at : at + 12].reshape(4, 3)
    found = STACK.apply(jnp.asarray(w), data.x)
    assert np.asarray(found) == pytest.approx(x @ top, abs=1e-5)
    pruned = STACK.apply(jnp.asarray(w), data.x, jnp.array([1.0, 1.0, 0.0]))
    assert np.asarray(pruned) == pytest.approx(before @ top, abs=1e-5)
    assert sum(part.stop - part.start for part in STACK.parts) == w.size


def test_frozen_layers_stay_as_they_are_and_the_rest_learns(wine):
    data, w = wine
    free = np.ones((2, w.size))
    free[1, STACK.parts[1]] = 0
    found = experiment.trained(STACK, data, np.tile(w, (2, 1)), free, np.ones((2, 3)), 0.01, 200, 0.01)
    single = w.astype(np.float32)
    assert np.array_equal(found[1, STACK.parts[1]], single[STACK.parts[1]])
    assert not np.any(found[0] == single) or np.mean(found[0] == single) < 0.05
    losses = experiment.losses(STACK, data, np.stack([w, *found]), np.ones((3, 3)))["training"]
    assert losses[1] < losses[2] < losses[0] / 2


def test_scores_are_those_of_an_allocation(wine):
    """Marginal and independent capacity by the package's own route."""
    data, w = wine
    found = experiment.scores(STACK, data, w, 0 * w, 0.3)
    layers = {f"{i}": part for i, part in enumerate(STACK.parts)}
    options = {"loss": data.loss, "weight_decay": 0.3, "curvature": "gauss-newton", "layers": layers, "subspaces": {}}
    allocation = cc.allocate_network(STACK.apply, w, data.x, data.y, **options)
    for i in range(3):
        assert found["marginal"][i] == pytest.approx(allocation.layers[str(i)].marginal.total, abs=1e-8)
        assert found["independent"][i] == pytest.approx(allocation.layers[str(i)].independent.total, abs=1e-8)
        assert found["magnitude"][i] == pytest.approx(np.mean(w[STACK.parts[i]] ** 2)) == found["movement"][i]
    assert set(found) == {"marginal", *OTHERS}


def network(scores, costs):
    """One network whose layers have these scores of marginal capacity; all other scores are in the opposite order."""
    costs = {"training": costs, "tests": costs}
    other = {name: [-each for each in scores] for name in OTHERS}
    pruning = {name: values[1:] for name, values in costs.items()}
    return {"baseline": 1.0, "scores": {"marginal": scores, **other}, "freezing": costs, "pruning": pruning}


def test_answers_are_yes_where_capacity_tells_and_no_where_not():
    costs = [0.1, 0.2, 0.3, 0.4, 0.5]
    good = {name: [network([1.0, 2, 3, 4, 5], costs)] * 4 for name in ("a", "b")}
    assert answered(answers.numbers(good), QUESTIONS) == ["yes"] * len(QUESTIONS)
    assert answers.numbers(good)["freezing chosen"] == pytest.approx((-20, -20))
    bad = {name: [network([5.0, 4, 3, 2, 1], costs)] * 4 for name in ("a", "b")}
    assert answered(answers.numbers(bad), QUESTIONS) == ["no"] * len(QUESTIONS)
