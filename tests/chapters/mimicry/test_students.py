"""Students of a teacher: how wide, what they are told, and that training does what its recursion says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.mimicry.students import answers, matched_width, scaled_logits, train_students
from chapters.shared.complexity import Network, random_network
from chapters.shared.complexity.gradients import loss_gradients
from tests.strategies import seeds


@given(st.integers(1, 80), st.integers(1, 12), st.integers(0, 5000))
def test_one_unit_more_would_be_too_many(d, k, spare):
    n_params = d + 2 * k + 1 + spare
    width = matched_width(d, k, n_params)
    counts = [random_network([d, m, k], np.random.default_rng(0)).n_params for m in (width, width + 1)]
    assert counts[0] <= n_params < counts[1]


def test_the_widths_of_the_chapter():
    assert [matched_width(64, 10, n) for n in (10_666, 10_666 // 4)] == [142, 35]


@given(seeds, st.integers(2, 5))
def test_targets_give_the_same_answers_and_probabilities(seed, k):
    rng = np.random.default_rng(seed)
    net, x = random_network([3, 6, k], rng, bias_scale=1), rng.normal(size=(50, 3))
    found, logits = scaled_logits(net, x), net(x)
    np.testing.assert_array_equal(found.argmax(axis=1), answers(net, x))
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-12)
    assert found.var() == pytest.approx(1)
    scale = (logits - logits.mean(axis=1, keepdims=True)).std()
    differences = logits - logits[:, :1]  # of logits decide a softmax
    np.testing.assert_allclose(scale * (found - found[:, :1]), differences, atol=1e-9)


def test_one_step_is_as_long_as_the_rate_and_the_last_nearly_zero():
    """Adam's first step is the sign of the gradient; after n steps of falling rate none is longer than the rest."""
    rng = np.random.default_rng(0)
    start, x, y = random_network([3, 5, 2], rng), rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    (once,) = train_students([start], x, y, [rng], n_steps=1, learning_rate=0.01)
    _, gradients, _ = loss_gradients(start.weights, start.biases, start.phi, x, y, "squared")
    for before, after, gradient in zip(start.weights, once.weights, gradients, strict=True):
        clear = np.abs(gradient) > 1e-4  # ε is 1e-8
        np.testing.assert_allclose((after - before)[clear], -0.01 * np.sign(gradient)[clear], rtol=1e-3)


def test_falling_rate_by_hand():
    """One weight, f = w x at x = 1, target 0: the gradient is w, and the recursion can be written down."""
    w, m, v, n = 1.0, 0.0, 0.0, 20
    start = Network([[[1.0]]], [[0.0]])
    (found,) = train_students([start], [[1.0]], [[0.0]], [np.random.default_rng(0)], n_steps=n, learning_rate=0.1)
    b = 0.0
    for k in range(1, n + 1):  # weight and bias have the same gradient, w + b
        m, v = 0.9 * m + 0.1 * (w + b), 0.999 * v + 0.001 * (w + b) ** 2
        step = 0.1 * (1 - (k - 1) / n) * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.999**k)) + 1e-8)
        w, b = w - step, b - step
    assert found.weights[0].item() == pytest.approx(w, rel=1e-12)
    assert found.biases[0].item() == pytest.approx(b, rel=1e-12)


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


def test_a_student_that_starts_as_its_teacher_agrees_with_it():
    """Targets are its own logits, so that there is nothing to learn. Adam makes steps of rounding, but no long ones."""
    rng = np.random.default_rng(2)
    teacher, x = random_network([3, 6, 4, 3], rng, bias_scale=0.5), rng.normal(size=(80, 3))
    logits = teacher(x)
    scale = (logits - logits.mean(axis=1, keepdims=True)).std()
    w, b = (part - part.mean(axis=-1, keepdims=True) for part in (teacher.weights[-1], teacher.biases[-1]))
    centred = Network((*teacher.weights[:-1], w / scale), (*teacher.biases[:-1], b / scale))
    targets, fresh = scaled_logits(teacher, x), rng.normal(size=(2000, 3))
    np.testing.assert_allclose(centred(x), targets, atol=1e-14)

    def agreement(start, n_steps):
        (found,) = train_students([start], x, targets, [np.random.default_rng(0)], n_steps=n_steps, batch_size=16)
        return np.mean(answers(found, fresh) == answers(teacher, fresh))

    assert agreement(centred, 1) == 1 and agreement(centred, 50) >= 0.995
    assert agreement(random_network([3, 6, 4, 3], rng), 50) < 0.9


def test_permuted_outputs_are_permuted_students():
    rng, order = np.random.default_rng(3), [2, 0, 1]
    start, x, y = random_network([2, 6, 3], rng), rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    permuted = Network((start.weights[0], start.weights[1][:, order]), (start.biases[0], start.biases[1][order]))
    logits = rng.normal(size=(40, 3))
    for one, other in ((y, np.argsort(order)[y]), (logits, logits[:, order])):
        (found,) = train_students([start], x, one, [np.random.default_rng(0)], n_steps=30, batch_size=8)
        (same,) = train_students([permuted], x, other, [np.random.default_rng(0)], n_steps=30, batch_size=8)
        np.testing.assert_allclose(found(x)[:, order], same(x), atol=1e-9)
        assert np.abs(found(x) - start(x)).max() > 0.01


@pytest.mark.parametrize(
    ("message", "options"),
    [
        (r"networks: found none", {"starts": []}),
        (r"rngs: found 2 for 1 networks", {"rngs": 2 * [np.random.default_rng(0)]}),
        (r"inputs: found shape \(5, 2\), expected \(n, 3\)", {"inputs": np.ones((5, 2))}),
        (r"inputs: found 1 value\(s\) that are NaN", {"inputs": [[0.0, np.nan, 1.0]]}),
        (r"targets: found shape \(4,\)", {"targets": [0, 1, 0, 1]}),
        (r"targets: found labels outside 0 … 1", {"targets": [0, 1, 2, 0, 1]}),
        (r"targets: found shape \(5, 3\)", {"targets": np.ones((5, 3))}),
        (r"n_steps: found 0", {"n_steps": 0}),
        (r"batch_size: found 0", {"batch_size": 0}),
        (r"learning_rate: found -1", {"learning_rate": -1}),
    ],
)
def test_bad_input_is_refused(message, options):
    settings = {
        "starts": [random_network([3, 4, 2], np.random.default_rng(0))],
        "inputs": np.ones((5, 3)),
        "targets": [0, 1, 0, 1, 1],
        "rngs": [np.random.default_rng(0)],
    }
    with pytest.raises(ValueError, match=message):
        train_students(**{**settings, **options})


def test_a_teacher_that_says_nothing_and_a_width_below_one_are_refused():
    with pytest.raises(ValueError, match="the same logit for all outputs at all points"):
        scaled_logits(Network([[[1.0, 1.0]]], [[0.1, 0.1]]), [[1.0], [2.0]])
    with pytest.raises(ValueError, match="n_params: found 6, expected at least 7"):
        matched_width(2, 2, 6)
