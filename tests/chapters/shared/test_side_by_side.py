"""Runs with their own data, side by side; and students trained that way."""

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from chapters.mimicry import experiment
from chapters.mimicry.experiment import against, mean_regions, random_labels, train_student
from chapters.shared.complexity.network import as_network
from chapters.shared.side_by_side import train_side_by_side

pytestmark = pytest.mark.slow  # of code that stored results hash, so that it cannot change unnoticed
OPTIONS = {"learning_rates": [0.05], "n_steps": 400, "batch_size": 16}


def line(params, x, y):
    return jnp.square(x @ params - y).mean()


def test_every_seed_learns_its_own_data():
    """Least squares without noise: each run must find its own coefficients; 1e-3 is what a falling rate leaves."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(3, 40, 2)).astype(np.float32), rng.normal(size=(3, 2)).astype(np.float32)
    y = np.einsum("sni,si->sn", x, w)
    result = train_side_by_side(lambda key: jnp.zeros(2), line, x, y, seeds=[0, 1, 2], **OPTIONS)
    np.testing.assert_allclose(result[0], w, atol=1e-3)


def test_the_rate_falls_linearly_to_zero():
    """A constant slope makes every step of Adam as long as its rate: Σ (1 − t/T) = (T + 1)/2."""
    x = np.zeros((1, 4), dtype=np.float32)
    result = train_side_by_side(lambda key: jnp.zeros(()), lambda w, x, y: w, x, x, seeds=[0], **OPTIONS)
    assert float(result[0, 0]) == pytest.approx(-0.05 * 401 / 2, rel=1e-3)


def test_a_run_does_not_depend_on_its_neighbours():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40, 2)).astype(np.float32), rng.normal(size=(2, 40)).astype(np.float32)
    start = lambda key: jax.random.normal(key, (2,))  # noqa: E731
    both = train_side_by_side(start, line, x, y, seeds=[5, 6], **OPTIONS)
    alone = train_side_by_side(start, line, x[1:], y[1:], seeds=[6], **OPTIONS)
    np.testing.assert_allclose(both[0, 1], alone[0, 0], rtol=1e-4)


def test_images_are_split_and_the_pool_has_their_labels():
    images = experiment.draw_images(0)
    assert images.pool.shape == (4800, 64) and images.y_pool.shape == (4800,)
    np.testing.assert_array_equal(images.pool[:400], images.labelled)
    np.testing.assert_array_equal(images.y_pool[:400], images.y)
    known = {tuple(image) for image in images.pool[:1200]}
    assert sum(tuple(image) in known for image in images.test) <= 1  # two of the 1,797 images may be equal


def test_scaled_logits_give_the_same_answers():
    net = as_network([(np.random.default_rng(0).normal(size=(64, 10)), np.arange(10.0))])
    x = np.random.default_rng(1).normal(size=(50, 64))
    scaled = experiment.scaled_logits(net, x)
    assert scaled.std() == pytest.approx(1) and np.abs(scaled.mean(axis=1)).max() < 1e-12
    np.testing.assert_array_equal(scaled.argmax(axis=1), experiment.answers(net, x))


def test_a_student_does_not_start_where_its_teacher_does():
    settings = {**experiment.SETTINGS, "n_steps": 1, "learning_rate": 1e-9, "seeds": [4]}
    images = [experiment.draw_images(4)]
    teachers = experiment.initial_networks("deep", settings)
    (student,) = train_student("deep, logits on the pool", teachers, images, settings)
    ours, theirs = student.weights[0].ravel(), teachers[0].weights[0].ravel()
    assert abs(np.corrcoef(ours, theirs)[0, 1]) < 5 / np.sqrt(ours.size)  # five standard errors of no correlation


def test_a_student_is_told_what_its_arm_says():
    settings = {**experiment.SETTINGS, "n_steps": 1, "seeds": [0]}
    images = [experiment.draw_images(0)]
    teachers = experiment.initial_networks("deep", settings)
    (student,) = train_student("small, logits on the pool", teachers, images, settings)
    assert student.widths == (64, 35, 10)
    result = against(teachers[0], teachers[0], images[0])
    assert result["agreement"] == 1 and result["accuracy"] == np.mean(
        experiment.answers(teachers[0], images[0].test) == images[0].y_test
    )
    assert mean_regions(teachers[0], images[0], 0, {"n_segments": 3}) > 1
    assert set(random_labels(images[0], 0)) == set(range(10))
