"""Models of sets: both packages compute the same; and the experiment on them."""

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from chapters.capacity_vs_expressivity import experiment
from chapters.capacity_vs_expressivity.sets import MODELS, accuracy, train_models
from chapters.shared.complexity import parameter_jacobian

pytestmark = pytest.mark.slow  # of code that stored results hash, so that it cannot change unnoticed
OPTIONS = {"learning_rates": [0.05], "n_steps": 400, "batch_size": 16}


@pytest.mark.parametrize("name", ["invariant + places", "narrow"])
def test_both_packages_compute_the_same_network(name):
    """Logits in single precision by JAX, in double by NumPy; and derivatives by all parameters by both."""
    model, items = MODELS[name], np.random.default_rng(0).normal(size=(6, 4, 3))
    params = model.initial(jax.random.key(0))
    params = jax.tree.map(lambda leaf: leaf + 0.1, params)  # biases too
    stacked = jax.tree.map(lambda leaf: leaf[None], params)
    ours, x = model.trained(stacked, 0), model.prepared(items)
    np.testing.assert_allclose(ours(x)[:, 0], model.logits(params, x), atol=2e-5)
    assert ours.n_params == model.n_params
    by_jax = jax.jacrev(lambda p: model.logits(p, jnp.asarray(x)))(params)
    parts = [*(by_jax["items"] if model.item_widths else []), *by_jax["rest"]]
    flat = np.concatenate([np.asarray(leaf).reshape(6, -1) for pair in parts for leaf in pair], axis=1)
    np.testing.assert_allclose(parameter_jacobian(ours, x), flat, atol=1e-4)


def test_a_small_model_learns_a_linear_target():
    items, labels = experiment.target_data("simple order", 400, [0], 0)
    ((model,),) = train_models("linear", items, labels, seeds=[0], **OPTIONS)
    assert accuracy("linear", model, items[0], labels[0]) > 0.95


@pytest.mark.slow
def test_the_experiment_has_its_form():
    found = experiment.run(experiment.SETTINGS | experiment.QUICK)
    assert found["random labels"]["linear"]["256"]["rank"] == [13]
    assert set(found["targets"]["linear"]["order"]) == {"train", "test", "rank", "odd_share", "alpha_hat"}


def test_parts_of_the_data_differ():
    (train, _), (test, _) = (experiment.target_data("order", 8, [0], part) for part in (0, 1))
    assert not np.intersect1d(train, test).size
