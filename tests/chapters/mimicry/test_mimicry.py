"""Students and their teachers: steps by hand, arms and controls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.kit.stored import stored
from chapters.mimicry import study
from chapters.mimicry.students import (
    ALONE,
    FEW,
    HARD,
    LOGITS,
    Difference,
    answers,
    matched_width,
    mimic,
    scaled_logits,
    train_students,
)
from chapters.shared.complexity import Network, random_network
from tests.strategies import seeds


@given(st.integers(1, 80), st.integers(1, 12), st.integers(0, 5000))
def test_one_unit_more_would_be_too_many(d, k, spare):
    n_params = d + 2 * k + 1 + spare
    width = matched_width(d, k, n_params)
    counts = [random_network([d, m, k], np.random.default_rng(0)).n_params for m in (width, width + 1)]
    assert counts[0] <= n_params < counts[1]


@given(seeds, st.integers(2, 5))
def test_targets_give_the_same_answers_and_probabilities(seed, k):
    rng = np.random.default_rng(seed)
    net, x = random_network([3, 6, k], rng, bias_scale=1), rng.normal(size=(50, 3))
    result, logits = scaled_logits(net, x), net(x)
    np.testing.assert_array_equal(result.argmax(axis=1), answers(net, x))
    np.testing.assert_allclose(result.sum(axis=1), 0, atol=1e-12)
    assert result.var() == pytest.approx(1)
    scale = (logits - logits.mean(axis=1, keepdims=True)).std()
    differences = logits - logits[:, :1]  # of logits decide a softmax
    np.testing.assert_allclose(scale * (result - result[:, :1]), differences, atol=1e-9)


def test_falling_rate_by_hand():
    """One weight, f = w x at x = 1, target 0: the gradient is w, and the recursion can be written down."""
    w, m, v, n = 1.0, 0.0, 0.0, 20
    start = Network([[[1.0]]], [[0.0]])
    (student,) = train_students(
        [start], np.ones((1, 1)), np.zeros((1, 1)), [np.random.default_rng(0)], n_steps=n, learning_rate=0.1
    )
    b = 0.0
    for k in range(1, n + 1):  # weight and bias have the same gradient, w + b
        m, v = 0.9 * m + 0.1 * (w + b), 0.999 * v + 0.001 * (w + b) ** 2
        step = 0.1 * (1 - (k - 1) / n) * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.999**k)) + 1e-8)
        w, b = w - step, b - step
    assert student.weights[0].item() == pytest.approx(w, rel=1e-12)
    assert student.biases[0].item() == pytest.approx(b, rel=1e-12)


def test_a_run_does_not_depend_on_its_neighbours():
    rng = np.random.default_rng(1)
    starts = [random_network([3, 5, 2], rng) for _ in range(3)]
    x, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    fresh = lambda: [np.random.default_rng(seed) for seed in range(3)]  # noqa: E731
    together = train_students(starts, x, y, fresh(), n_steps=20, batch_size=8)
    for i in range(3):
        (alone,) = train_students([starts[i]], x, y, [fresh()[i]], n_steps=20, batch_size=8)
        np.testing.assert_allclose(together[i].weights[0], alone.weights[0], atol=1e-12)
    assert all(np.any(start.weights[0] != end.weights[0]) for start, end in zip(starts, together, strict=True))


RNG = np.random.default_rng(0)


X = RNG.normal(size=(600, 2))


LINEAR = [([[2.0, -2.0], [1.0, -1.0]], [0.3, -0.3])]


TEACHER = random_network([2, 6, 6, 3], np.random.default_rng(4))
PAIRS = [*zip(TEACHER.weights, TEACHER.biases, strict=True)]


FAST = {"n_trials": 2, "n_steps": 60, "batch_size": 32, "learning_rate": 0.02}


def asked(teacher=PAIRS, seed=0, **options):
    y = np.arange(600) % (3 if teacher is PAIRS else 2)
    settings = {"pool": X[:300], "test": (X[300:], y[300:]), "labelled": (X[:50], y[:50]), **FAST, **options}
    return mimic(teacher, rng=np.random.default_rng(seed), **settings)


def test_a_linear_teacher_is_copied_by_enough_points():
    few, many = (asked(LINEAR, pool=X[:n], hidden=16, n_steps=800)[LOGITS].agreement.min() for n in (3, 300))
    assert many >= 0.99 > few
    assert not np.isnan([few, many]).any()


def test_every_arm_is_there_and_changes_one_thing():
    teacher, *arms = asked().values()
    assert teacher.networks[0].n_params == TEACHER.n_params == 81
    assert [arm.examples for arm in arms] == ["300", "300", "50", "50"]
    assert {arm.networks[0].widths for arm in arms} == {(2, 13, 3)} and arms[0].networks[0].n_params <= 81


def test_students_of_a_trial_start_alike():
    """With a learning rate that moves nothing, the arms of a trial are one network; trials are not."""
    arms = asked(learning_rate=1e-300)
    for name in (HARD, ALONE, FEW):
        for one, other in zip(arms[LOGITS].networks, arms[name].networks, strict=True):
            np.testing.assert_array_equal(one.weights[0], other.weights[0])
    assert np.any(arms[HARD].networks[0].weights[0] != arms[HARD].networks[1].weights[0])


def test_the_shares_are_counted_on_the_test_points():
    arms = asked()
    said, right = TEACHER(X[300:]).argmax(axis=1), np.arange(300, 600) % 3
    for arm in arms.values():
        for j, network in enumerate(arm.networks):
            answers = network(X[300:]).argmax(axis=1)
            assert arm.agreement[j] == np.mean(answers == said)
            assert arm.accuracy[j] == np.mean(answers == right)


@pytest.fixture(scope="module")
def content():
    return stored("mimicry")


def test_differences_are_paired(content):
    values = study.measured(content, "accuracy")
    result = study.difference(content, study.STUDENT, study.TEACHER)
    assert result.mean == pytest.approx(values[study.STUDENT].mean() - values[study.TEACHER].mean())
    alone = Difference.of(values[study.STUDENT])
    assert result.high - result.low < alone.high - alone.low  # pairing takes out what splits share
    assert study.comparisons(content)["student − teacher"] == result
    assert study.region_ratio(content, "initial", "initial") == Difference(1, 0)
    assert study.random_teacher_loss(content).high < 0
