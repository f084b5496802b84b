"""Training by Adam in NumPy and of many runs in JAX: steps by hand, independence of runs, and optax's optimisers."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from chapters.mimicry import experiment
from chapters.mimicry.experiment import against, mean_regions, train_student
from chapters.shared.adam import Adam
from chapters.shared.adam import train as train_adam
from chapters.shared.complexity import random_network
from chapters.shared.side_by_side import train_side_by_side
from chapters.shared.training import train

pytestmark = pytest.mark.slow  # of code that stored results hash, so that it cannot change unnoticed


def quadratic(params, batch):
    return 0.5 * jnp.sum(params["w"] ** 2)


def start(key):
    return {"w": jax.random.normal(key, (3,))}


DATA = [np.zeros((5, 1), np.float32)]


def test_gradient_descent_on_a_quadratic_is_geometric():
    runs = train(start, quadratic, DATA, learning_rates=[0.1, 0.5], seeds=[0, 1], n_steps=7)
    expected = (1 - np.array([0.1, 0.5]))[:, None, None] ** (2 * np.arange(7)) * runs.losses[:, :, :1]
    np.testing.assert_allclose(runs.losses, expected, rtol=1e-5)
    assert runs.params["w"].shape == (2, 2, 3)


def test_adding_seeds_or_rates_leaves_a_run_as_it_was():
    alone = train(start, quadratic, DATA, learning_rates=[0.1], seeds=[3], n_steps=30)
    among = train(start, quadratic, DATA, learning_rates=[0.5, 0.1], seeds=[1, 3], n_steps=30)
    np.testing.assert_allclose(alone.losses[0, 0], among.losses[1, 1], rtol=1e-6)


@pytest.mark.parametrize(("name", "peer"), [("adam", optax.adam(0.1)), ("momentum", optax.sgd(0.1, 0.9))])
def test_optimisers_are_those_of_optax(name, peer):
    def loss(w, batch):
        return jnp.sum(jnp.cosh(w))

    runs = train(lambda key: jnp.ones(2), loss, DATA, learning_rates=[0.1], seeds=[0], n_steps=25, optimiser=name)
    w, memory = jnp.ones(2), peer.init(jnp.ones(2))
    for _ in range(25):
        update, memory = peer.update(jax.grad(loss)(w, None), memory, w)
        w = optax.apply_updates(w, update)
    np.testing.assert_allclose(runs.params[0, 0], w, rtol=1e-5)


def test_a_run_that_diverges_counts_as_infinitely_bad():
    runs = train(start, quadratic, DATA, learning_rates=[1e30, 0.1], seeds=[0], n_steps=20)
    assert np.isinf(runs.final[0]).all() and runs.best == 1


def test_batches_come_from_the_data_or_from_a_function():
    def loss(w, batch):
        return jnp.mean((w - batch[0]) ** 2)

    data = [np.array([2.0, 4.0], np.float32)]
    drawn = train(lambda key: 0.0, loss, data, learning_rates=[0.05], seeds=[0], n_steps=400, batch_size=256)
    assert drawn.params[0, 0] == pytest.approx(3, abs=0.1)
    made = train(
        lambda key: 0.0,
        loss,
        lambda key: (5 + jax.random.normal(key, (256,)),),
        learning_rates=[0.05],
        seeds=[0],
        n_steps=400,
    )
    assert made.params[0, 0] == pytest.approx(5, abs=0.1)


RNG = np.random.default_rng(0)


INPUTS, LABELS = RNG.normal(size=(30, 3)), RNG.integers(0, 3, 30)


def starts(n=3, **options):
    return [random_network([3, 8, 3], np.random.default_rng(seed), bias_scale=0.1, **options) for seed in range(n)]


def fresh(n=3):
    return [np.random.default_rng(100 + seed) for seed in range(n)]


def test_adam_by_hand():
    """Half the square of one number: the gradient is the number, and the recursion can be written down."""
    rate, w, m, v = 0.1, 1.0, 0.0, 0.0
    at = np.array([[1.0]])
    adam = Adam([at], np.array([rate]))
    for k in range(1, 21):
        adam.step([at.copy()])
        m, v = 0.9 * m + 0.1 * w, 0.999 * v + 0.001 * w**2
        w -= rate * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.999**k)) + 1e-8)
    assert at.item() == pytest.approx(w, rel=1e-12)


def test_a_run_does_not_depend_on_its_neighbours():
    labels = np.stack([LABELS, LABELS[::-1], np.zeros(30, int)])
    rates = [1e-3, 1e-2, 3e-3]
    options = {"n_epochs": 5, "batch_size": 7}
    (together,) = train_adam(starts(), INPUTS, labels, fresh(), learning_rate=rates, **options)
    for i in range(3):
        ((alone,),) = train_adam([starts()[i]], INPUTS, labels[i], [fresh()[i]], learning_rate=rates[i], **options)
        for a, b in zip(together[i].weights, alone.weights, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)


def test_snapshots_are_those_of_shorter_runs():
    networks = starts()
    start, two, six = train_adam(networks, INPUTS, LABELS, fresh(), n_epochs=6, snapshots=[0, 2])
    assert start[1] is networks[1]
    (shorter,) = train_adam(networks, INPUTS, LABELS, fresh(), n_epochs=2)
    for one, other, later in zip(shorter, two, six, strict=True):
        np.testing.assert_array_equal(one.weights[1], other.weights[1])
        assert np.any(later.biases[0] != other.biases[0])


OPTIONS = {"learning_rates": [0.05], "n_steps": 400, "batch_size": 16}


def line(params, x, y):
    return jnp.square(x @ params - y).mean()


def test_every_seed_learns_its_own_data():
    """Least squares without noise: each run must find its own coefficients; 1e-3 is what a falling rate leaves."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(3, 40, 2)).astype(np.float32), rng.normal(size=(3, 2)).astype(np.float32)
    y = np.einsum("sni,si->sn", x, w)
    params = train_side_by_side(lambda key: jnp.zeros(2), line, x, y, seeds=[0, 1, 2], **OPTIONS)
    np.testing.assert_allclose(params[0], w, atol=1e-3)


def test_the_rate_falls_linearly_to_zero():
    """A constant slope makes every step of Adam as long as its rate: Σ (1 − t/T) = (T + 1)/2."""
    x = np.zeros((1, 4), dtype=np.float32)
    params = train_side_by_side(lambda key: jnp.zeros(()), lambda w, x, y: w, x, x, seeds=[0], **OPTIONS)
    assert float(params[0, 0]) == pytest.approx(-0.05 * 401 / 2, rel=1e-3)


def test_a_run_does_not_depend_on_its_neighbours_side_by_side():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40, 2)).astype(np.float32), rng.normal(size=(2, 40)).astype(np.float32)
    start = lambda key: jax.random.normal(key, (2,))  # noqa: E731
    both = train_side_by_side(start, line, x, y, seeds=[5, 6], **OPTIONS)
    alone = train_side_by_side(start, line, x[1:], y[1:], seeds=[6], **OPTIONS)
    np.testing.assert_allclose(both[0, 1], alone[0, 0], rtol=1e-4)


def test_images_are_split_and_the_pool_has_their_labels():
    images = experiment.Images(0)
    assert images.pool.shape == (4800, 64) and images.y_pool.shape == (4800,)
    np.testing.assert_array_equal(images.pool[:400], images.labelled)
    np.testing.assert_array_equal(images.y_pool[:400], images.y)
    known = {tuple(image) for image in images.pool[:1200]}
    assert sum(tuple(image) in known for image in images.test) <= 1  # two of the 1,797 images may be equal


def test_a_shift_moves_pixels_by_at_most_one():
    image = np.zeros((200, 8, 8))
    image[:, 4, 3] = 1.0
    moved = experiment.shifted(image.reshape(200, 64), np.random.default_rng(0)).reshape(200, 8, 8)
    assert moved.sum() == 200 and moved[:, 3:6, 2:5].sum() == 200
    assert moved.sum(axis=0).astype(bool).sum() == 9  # all nine moves occur


def test_networks_start_where_training_starts():
    settings = {**experiment.SETTINGS, "n_steps": 1, "learning_rate": 1e-9, "seeds": [4]}
    images = experiment.Images(4)
    (trained,) = experiment.fit_networks("small", experiment.cross_entropy, [images.labelled], [images.y], settings)
    (start,) = experiment.initial_networks("small", settings)
    np.testing.assert_allclose(trained.weights[0], start.weights[0], atol=1e-6)


def test_a_student_does_not_start_where_its_teacher_does():
    settings = {**experiment.SETTINGS, "n_steps": 1, "learning_rate": 1e-9, "seeds": [4]}
    images = [experiment.Images(4)]
    teachers = experiment.initial_networks("deep", settings)
    (student,) = train_student("deep, logits on the pool", teachers, images, settings)
    ours, theirs = student.weights[0].ravel(), teachers[0].weights[0].ravel()
    assert abs(np.corrcoef(ours, theirs)[0, 1]) < 5 / np.sqrt(ours.size)  # five standard errors of no correlation


def test_a_student_is_told_what_its_arm_says():
    settings = {**experiment.SETTINGS, "n_steps": 1, "seeds": [0]}
    images = [experiment.Images(0)]
    teachers = experiment.initial_networks("deep", settings)
    (student,) = train_student("small, logits on the pool", teachers, images, settings)
    assert student.widths == (64, 35, 10)
    result = against(teachers[0], teachers[0], images[0])
    assert result["agreement"] == 1 and result["accuracy"] == np.mean(
        experiment.answers(teachers[0], images[0].test) == images[0].y_test
    )
    assert mean_regions(teachers[0], images[0], 0, {"n_segments": 3}) > 1
