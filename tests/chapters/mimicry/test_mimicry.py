"""What students are told, and differences between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.kit.stored import stored
from chapters.mimicry import study
from chapters.mimicry.students import Difference, answers, scaled_logits
from chapters.shared.complexity import random_network
from tests.strategies import seeds


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
