"""Estimates, what they choose, and the answers: on arrays for which they are known."""

import numpy as np
import pytest

import capcore as cc
from chapters.shared.intervals import Interval
from chapters.your_trained_network import decay_answers as answers
from chapters.your_trained_network import decay_choice as experiment
from chapters.your_trained_network.decay_questions import POINTS, QUESTIONS
from chapters.your_trained_network.estimates import HARMLESS, decay_curve, estimates, of_allocation


@pytest.fixture
def ridge(rng):
    """x, y, decay and the optimum of ridge regression, as networks of one output."""
    x, decay = rng.normal(size=(40, 5)), np.full(5, 2.0)
    y = x @ rng.normal(size=(5, 1)) + rng.normal(size=(40, 1))
    return x, y, decay, np.linalg.solve(x.T @ x + np.diag(decay), x.T @ y)[:, 0]


def test_estimates_of_ridge_regression(ridge):
    """Each against its definition in numbers of all examples."""
    x, y, decay, w = ridge
    found = estimates(x[:, None], (x @ w)[:, None], y, decay, w, "squared")
    hat = x @ np.linalg.solve(x.T @ x + np.diag(decay), x.T)
    e, h = x @ w - y[:, 0], np.diag(hat)
    assert found["total"] == pytest.approx(h.sum()) and found["train"] == pytest.approx(np.mean(e**2) / 2)
    assert found["alo"] == pytest.approx(np.mean((e / (1 - h)) ** 2) / 2)
    assert found["penalised"] == pytest.approx(found["train"] + e @ e / (40 - h.sum()) * h.sum() / 40)
    assert found["tic"] == pytest.approx(found["train"] + np.mean(e**2 * h))


def test_estimates_of_two_outputs_are_of_an_example_and_not_of_a_number(ridge, rng):
    """Two ridge regressions side by side: what is a sum over outputs adds up, and means are over the 40 examples."""
    x, y, decay, w = ridge
    other = y + rng.normal(size=y.shape)
    v = np.linalg.solve(x.T @ x + np.diag(decay), x.T @ other)[:, 0]
    both, weights = np.zeros((40, 2, 10)), np.concatenate([w, v])
    both[:, 0, :5], both[:, 1, 5:] = x, x
    one, two = (estimates(x[:, None], (x @ u)[:, None], each, decay, u, "squared") for u, each in ((w, y), (v, other)))
    found = estimates(both, both @ weights, np.hstack([y, other]), np.tile(decay, 2), weights, "squared")
    for name in ("total", "train", "tic"):
        assert found[name] == pytest.approx(one[name] + two[name])
    noise = 2 * 40 * found["train"] / (80 - found["total"])
    assert found["penalised"] == pytest.approx(found["train"] + noise * found["total"] / 40)


def test_the_optimism_is_the_mean_of_test_less_training_loss():
    """Over all networks, as a share of the baseline; of leave-one-out its own."""
    rng = np.random.default_rng(0)
    kinds = {"networks": (3, 7), "stop": (5,)}
    found = {
        kind: {name: rng.random(shape) for name in ("tests", "train", "alo", "total")} for kind, shape in kinds.items()
    }
    values = found["networks"]
    expected = {name: np.mean(values[name] - values["train"]) / 0.7 for name in ("tests", "alo")}
    assert experiment.judged(found, 0.7)["optimism"] == pytest.approx(expected, rel=1e-3)


def test_what_is_not_finite_is_never_chosen():
    one = np.ones((1, 1, 1))
    found = estimates(one, one[0], 0 * one[0], np.full(1, 1e-30), np.ones(1), "squared")
    assert found["alo"] == HARMLESS and np.isfinite(list(found.values())).all()


@pytest.mark.parametrize("start", ["optimum", "elsewhere"])
def test_the_curve_of_a_linear_model_is_what_is_estimated_at_each_decay(ridge, start):
    """From the optimum of one decay, or from any weights; the intercept, without decay, stays without."""
    x, y, decay, w = ridge
    decay, w = decay * [0, 1, 1, 1, 1], w if start == "optimum" else w + 1
    factors = np.array([0.1, 1.0, 10.0])
    curve = decay_curve(x[:, None], (x @ w)[:, None], y, decay, w, "squared", factors)
    for i, factor in enumerate(factors):
        theta = np.linalg.solve(x.T @ x + factor * np.diag(decay), x.T @ y)
        hat = x @ np.linalg.solve(x.T @ x + factor * np.diag(decay), x.T)
        errors = y - x @ theta
        assert curve["total"][i] == pytest.approx(np.trace(hat))
        assert curve["training"][i] == pytest.approx(np.square(errors).mean() / 2)
        left_out = errors[:, 0] / (1 - np.diag(hat))
        assert curve["left out"][i] == pytest.approx(np.square(left_out).mean() / 2)


def test_the_curve_of_an_allocation_is_by_its_decay(ridge):
    x, y, _, w = ridge
    allocation = cc.allocate_network(lambda w, x: x @ w, w, x, y[:, 0], weight_decay=2.0)
    curve = of_allocation(allocation)
    assert curve.index[[0, 4, 8]].tolist() == pytest.approx([0.02, 2.0, 200.0])
    assert curve["total"].iloc[4] == pytest.approx(allocation.total)
    assert curve["left out"].iloc[4] == pytest.approx(allocation.leave_one_out().mean_loss)


def cell(data, optimiser="Adam", **regrets):
    """A cell of two splits in which estimates have these regrets everywhere, and 'cv' has 0.01."""
    row = dict.fromkeys(("cv", "alo"), 0.01)
    row |= {"holdout": 0.02, "tic": 0.03, "penalised": 0.04, "random": 0.1}
    row |= regrets
    optimism = {"tests": 0.2, "alo": 0.2}
    tasks = {key: [row, row] for key in experiment.TASKS}
    names = {"data": data, "network": "x", "optimiser": optimiser}
    return {**names, **tasks, "optimism": [optimism] * 2}


def answered(numbers, questions):
    """The answers, in the order of the questions."""
    return [question.answer(*numbers[name]) for name, question in questions.items()]


def test_answers_are_yes_where_everything_is_as_hoped_and_no_where_not():
    names = ("diabetes", "sea ice", "wine")
    good = [cell(name, each) for name in names for each in ("Adam", "AdamW")]
    assert answered(answers.numbers(good), QUESTIONS) == ["yes"] * len(QUESTIONS)
    bad = [cell(name, each, alo=0.1) for name in names for each in ("Adam", "AdamW")]
    for each in bad:
        each["optimism"] = [{"tests": 0.2, "alo": 0.4}] * 2
    assert answered(answers.numbers(bad), QUESTIONS) == ["no"] * len(QUESTIONS)
    assert answers.numbers(bad)["decay"] == pytest.approx((9, 9))
    assert answers.numbers(bad)["size"] == pytest.approx((2, 2))


def test_an_interval_that_holds_the_bound_decides_nothing():
    """Losses of 0, 0 and 1.8 points: on average 0.6, but Student's interval reaches beyond 0 and 0.5."""
    losses = {"diabetes": 0.01, "sea ice": 0.01, "wine": 0.028}
    some = [cell(name, each, alo=loss) for name, loss in losses.items() for each in ("Adam", "AdamW")]
    low, high = answers.numbers(some)["decay"]
    assert low < 0 < 0.5 < high and answered(answers.numbers(some), QUESTIONS)[0] == "undecided"


def test_the_chance_of_yes_is_that_of_data_sets_drawn_from_a_normal_law(rng):
    some = [cell(name, alo=0.01 + loss) for name, loss in zip("abcd", (-0.006, -0.002, 0.002, 0.006), strict=True)]
    drawn = rng.normal(scale=np.std([-0.6, -0.2, 0.2, 0.6], ddof=1), size=(4000, 4))
    yes = np.mean([Interval.of(each).high <= POINTS for each in drawn])
    assert 0.1 < answers.chance_of_yes(some, "decay") < 0.9
    assert answers.chance_of_yes(some, "decay") == pytest.approx(yes, abs=0.03)  # four standard errors


def test_intervals_are_wider_than_those_of_splits_alone(rng):
    """Data sets differ: a mean over four of them is known to a half of their scatter, however many splits there are."""
    values = rng.normal(size=(4, 1)) + 0.01 * rng.normal(size=(4, 500))
    mean, low, high = answers.interval(values)
    assert low < mean < high and high - low > values.mean(axis=1).std()


def test_regrets_of_a_choice_by_lot_are_the_mean(rng):
    tests = rng.random((3, 7))
    found = experiment.regrets({"best": tests, "worst": -tests}, tests, 1, 1.0)
    assert found["best"] == 0 and found["worst"] == pytest.approx((tests.max(1) - tests.min(1)).mean(), abs=1e-5)
    assert found["random"] == pytest.approx((tests.mean(1) - tests.min(1)).mean(), abs=1e-5)
