"""The stored experiment on mimicry, read."""

import numpy as np
import pytest

pytest.importorskip("jax")

from chapters.kit.stored import stored
from chapters.mimicry import experiment, study
from chapters.mimicry.experiment import STUDENTS
from chapters.mimicry.students import Difference


@pytest.fixture(scope="module")
def content():
    return stored("mimicry")


def test_every_arm_is_there(content):
    assert content["settings"] == experiment.SETTINGS
    assert set(study.measured(content, "accuracy")) == {study.TEACHER, *STUDENTS}
    assert study.measured(content, "agreement")[study.TEACHER].tolist() == 6 * [1.0]


def test_differences_are_paired(content):
    values = study.measured(content, "accuracy")
    found = study.difference(content, study.STUDENT, study.TEACHER)
    assert found.mean == pytest.approx(values[study.STUDENT].mean() - values[study.TEACHER].mean())
    alone = Difference.of(values[study.STUDENT])
    assert found.high - found.low < alone.high - alone.low  # pairing takes out what splits share
    assert study.comparisons(content)["student − teacher"] == found
    assert study.region_ratio(content, "initial", "initial") == Difference(1, 0)
    assert study.random_teacher_loss(content).high < 0


def test_an_interval_in_words():
    assert str(Difference.of(np.array([-0.01, -0.01]))) == "−1.0 (−1.0 to −1.0)"
