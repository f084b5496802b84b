"""Mimicry: what is easy is copied, names of classes do not matter, and the arms are those that they say."""

import numpy as np
import pytest

from chapters.mimicry.students import ALONE, FEW, HARD, LOGITS, Arm, Mimicry, mimic
from chapters.shared.complexity import Network, random_network

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 2))
LINEAR = Network([[[2.0, -2.0], [1.0, -1.0]]], [[0.3, -0.3]])
TEACHER = random_network([2, 6, 6, 3], np.random.default_rng(4))
FAST = {"n_trials": 2, "n_steps": 60, "batch_size": 32, "learning_rate": 0.02}


def asked(teacher=TEACHER, seed=0, **options):
    y = np.arange(600) % 3
    settings = {"pool": X[:300], "test": (X[300:], y[300:]), "labelled": (X[:50], y[:50]), **FAST, **options}
    return mimic(teacher, rng=np.random.default_rng(seed), **settings)


def test_a_linear_teacher_is_copied_by_enough_points():
    few, many = (
        asked(LINEAR, pool=X[:n], test=X[300:], labelled=None, hidden=16, n_steps=800).arms[LOGITS].agreement.min()
        for n in (3, 300)
    )
    assert many >= 0.99 > few
    assert not np.isnan([few, many]).any()


def test_every_arm_is_there_and_changes_one_thing():
    found = asked()
    assert list(found.arms) == [LOGITS, HARD, ALONE, FEW]
    assert [arm.n_examples for arm in found.arms.values()] == [300, 300, 50, 50]
    assert {arm.networks[0].widths for arm in found.arms.values()} == {(2, found.hidden, 3)}
    assert found.hidden == 13 and found.arms[LOGITS].networks[0].n_params <= TEACHER.n_params == 81
    assert list(asked(labelled=None).arms) == [LOGITS, HARD]


def test_students_of_a_trial_start_alike():
    """With a learning rate that moves nothing, the arms of a trial are one network; trials are not."""
    arms = asked(learning_rate=1e-300).arms
    for name in (HARD, ALONE, FEW):
        for one, other in zip(arms[LOGITS].networks, arms[name].networks, strict=True):
            np.testing.assert_array_equal(one.weights[0], other.weights[0])
    assert np.any(arms[HARD].networks[0].weights[0] != arms[HARD].networks[1].weights[0])


def test_the_shares_are_counted_on_the_test_points():
    found = asked()
    said, right = TEACHER(X[300:]).argmax(axis=1), np.arange(300, 600) % 3
    for arm in found.arms.values():
        for j, network in enumerate(arm.networks):
            answers = network(X[300:]).argmax(axis=1)
            assert arm.agreement[j] == np.mean(answers == said)
            assert arm.accuracy[j] == np.mean(answers == right)
    assert found.teacher_accuracy == np.mean(said == right)


def test_permuted_classes_are_permuted_answers():
    """Another order of the outputs changes answers by no more than their starts explain, once it is undone."""
    order = [2, 0, 1]
    layers = [*TEACHER.weights[:-1], TEACHER.weights[-1][:, order]], [*TEACHER.biases[:-1], TEACHER.biases[-1][order]]
    options = {"hidden": 30, "n_steps": 600, "labelled": None, "test": X[300:]}
    nets = [asked(each, **options).arms[HARD].networks[0] for each in (TEACHER, layers)]
    one, other = (net(X[300:]).argmax(axis=1) for net in nets)
    assert np.mean(one == np.array(order)[other]) > 0.9 > np.mean(one == other)


def test_the_same_seed_gives_the_same_and_another_does_not():
    one, same, other = asked(seed=1), asked(seed=1), asked(seed=2)
    for name in one.arms:
        np.testing.assert_array_equal(one.arms[name].networks[1].weights[0], same.arms[name].networks[1].weights[0])
    assert np.any(one.arms[HARD].networks[0].weights[0] != other.arms[HARD].networks[0].weights[0])
    alone = asked(seed=1, labelled=None)  # an arm does not depend on which others are asked for
    np.testing.assert_array_equal(one.arms[HARD].agreement, alone.arms[HARD].agreement)


def test_a_classifier_of_scikit_learn_and_its_names():
    neural = pytest.importorskip("sklearn.neural_network")
    digits = np.arange(600) % 3
    names = np.array(["ant", "bee", "cat"])[TEACHER(X).argmax(axis=1)]
    teacher = neural.MLPClassifier((8, 8), activation="tanh", tol=1.0, random_state=0).fit(X[:200], names[:200])
    found = asked(teacher, test=(X[300:], names[300:]), labelled=(X[:200], names[:200]), activation="tanh")
    assert found.teacher_accuracy == pytest.approx(teacher.score(X[300:], names[300:]))
    assert found.arms[LOGITS].networks[0].activation == "tanh"
    with pytest.raises(ValueError, match=r"test: found label 0, expected one of the teacher's 3, from 'ant' to 'cat'"):
        asked(teacher, test=(X[300:], digits[300:]), labelled=None)


def test_without_test_labels_there_is_agreement_alone():
    found = asked(test=X[300:])
    assert found.teacher_accuracy is None and found.arms[LOGITS].accuracy.size == 0
    assert list(found.differences("agreement")) == [
        "logits − hard labels",
        "pool − labelled alone",
        "student − untaught",
    ]
    with pytest.raises(ValueError, match="measure: found 'accuracy' without labels"):
        found.differences()
    assert found.table()["teacher"]["test accuracy"] == "–"


def report(**arms):
    """A report with these accuracies, and one less a tenth as agreement."""
    made = {name: Arm((TEACHER,) * len(v), 5, np.array(v) - 0.1, np.array(v)) for name, v in arms.items()}
    return Mimicry(TEACHER, 0.8, 7, made)


def test_differences_are_paired_by_trial():
    found = report(**{LOGITS: [0.7, 0.9], HARD: [0.6, 0.8], ALONE: [0.9, 0.9]}).differences()
    assert list(found) == ["student − teacher", "logits − hard labels", "student − untaught", "teacher − untaught"]
    hard = found["logits − hard labels"]
    assert (hard.mean, hard.low, hard.high) == pytest.approx((0.1, 0.1, 0.1))  # 0.1 in both trials
    assert hard.sign == 1 and found["student − teacher"].sign == 0
    assert found["student − teacher"].high == pytest.approx(0.1 * 12.706, rel=1e-4)  # t with one degree of freedom
    assert found["teacher − untaught"].mean == pytest.approx(-0.1)


def test_the_report_as_a_table():
    found = report(**{LOGITS: [0.7, 0.9]})
    assert list(found.table()) == ["teacher", LOGITS]
    assert found.table(0)[LOGITS] == {
        "parameters": "81",
        "examples": "5",
        "test accuracy": "80 %",
        "teacher's answer": "70 %",
    }
    with pytest.raises(ValueError, match="n_trials: found 1, expected at least 2"):
        report(**{LOGITS: [0.7]}).differences()


@pytest.mark.parametrize(
    ("message", "options"),
    [
        (r"network: found str, expected a list", {"teacher": "deep"}),
        (r"weights\[1\]: found shape \(3, 2\)", {"teacher": [(X[:2, :], X[0]), (X[:3], X[0])]}),
        (r"weights\[0\]: found 1 value\(s\) that are NaN", {"teacher": [([[np.nan, 1.0]], np.zeros(2))]}),
        (r"teacher: found one output, expected at least two", {"teacher": [(np.ones((2, 1)), np.zeros(1))]}),
        (r"teacher: found the same logit", {"teacher": [(np.ones((2, 3)), np.zeros(3))], "hidden": 3}),
        (r"n_params: found 6, expected at least 7", {"teacher": LINEAR, "test": X, "labelled": None}),
        (r"pool: found an empty array", {"pool": np.empty((0, 2))}),
        (r"pool: found shape \(5, 3\), expected \(n, 2\)", {"pool": np.ones((5, 3))}),
        (r"pool: found 1 value\(s\) that are NaN", {"pool": [[np.nan, 1.0]]}),
        (r"test: found shape \(5, 3\)", {"test": np.ones((5, 3))}),
        (r"test: found labels of shape \(4,\) for 5 points", {"test": (X[:5], [0, 1, 2, 0])}),
        (r"test: found label 3, expected one of the teacher's 3, from 0 to 2", {"test": (X[:2], [0, 3])}),
        (r"labelled: found label nan", {"labelled": (X[:2], [0, np.nan])}),
        (r"labelled: found ndarray, expected a tuple", {"labelled": X}),
        (r"hidden: found 0", {"hidden": 0}),
        (r"n_trials: found 0", {"n_trials": 0}),
        (r"n_steps: found 1.5", {"n_steps": 1.5}),
        (r"activation: found 'gelu'", {"activation": "gelu"}),
    ],
)
def test_bad_input_is_refused(message, options):
    with pytest.raises(ValueError, match=message):
        asked(**options)
