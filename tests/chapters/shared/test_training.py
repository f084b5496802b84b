"""Training against closed forms and against optax run by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

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


def test_seeds_start_alike_at_all_learning_rates_and_differ_from_each_other():
    runs = train(start, quadratic, DATA, learning_rates=[0.1, 0.5], seeds=[3, 4], n_steps=2)
    assert (runs.losses[0, :, 0] == runs.losses[1, :, 0]).all()
    assert runs.losses[0, 0, 0] != runs.losses[0, 1, 0]


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
    np.testing.assert_array_equal(runs.best_params["w"], runs.params["w"][1])


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


@pytest.mark.parametrize(
    ("message", "changed"),
    [
        ("learning_rates: found .*expected positive", {"learning_rates": [0.1, -1.0]}),
        ("learning_rates: found an empty", {"learning_rates": []}),
        ("seeds: found none", {"seeds": []}),
        ("n_steps: found 0", {"n_steps": 0}),
        ("optimiser: found 'adamw'", {"optimiser": "adamw"}),
        ("data: found arrays of lengths", {"data": [np.zeros(2), np.zeros(3)]}),
    ],
)
def test_refused(message, changed):
    options = {"data": DATA, "learning_rates": [0.1], "seeds": [0], "n_steps": 1, **changed}
    with pytest.raises(ValueError, match=message):
        train(start, quadratic, options.pop("data"), **options)
