"""AdamW's decay as an L2 penalty: where training by optax ends, the gradient of the sum of losses plus λθ vanishes."""

from functools import cache

import numpy as np
import pytest

import capcore as cc
from capcore.networks import decoupled_decay
from tests.strategies import refused

jax = pytest.importorskip("jax")
optax = pytest.importorskip("optax")
jnp = jax.numpy
N, K, D = 60, 3, 4


def apply(params, x):
    """Linear, with parameters in a tree of two leaves: their gradients are known, and one optimum is."""
    return x @ params["slope"] + params["shift"]


def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, D)) * np.geomspace(2, 0.5, D)
    return x, x @ rng.normal(size=(D, K)) + 1.0 + rng.normal(size=(N, K))


@cache
def trained(weight_decay, eps, batch, steps, rate, loss="mean over outputs"):
    """(parameters, second moments) of AdamW; batches of all examples in order, or drawn anew each time."""
    with jax.enable_x64(True):
        x, y = map(jnp.asarray, data())
        optimiser = optax.adamw(optax.cosine_decay_schedule(rate, steps), eps=eps, weight_decay=weight_decay)

        def mean(params, rows):
            squares = (apply(params, x[rows]) - y[rows]) ** 2
            return squares.mean() if loss == "mean over outputs" else squares.sum(axis=1).mean() / 2

        def step(carry, key):
            params, state = carry
            rows = jnp.arange(N) if batch == N else jax.random.randint(key, (batch,), 0, N)
            updates, state = optimiser.update(jax.grad(mean)(params, rows), state, params)
            return (optax.apply_updates(params, updates), state), None

        params = {"slope": jnp.ones((D, K)) / 2, "shift": jnp.zeros(K)}
        keys = jax.random.split(jax.random.PRNGKey(0), steps)
        (params, state), _ = jax.lax.scan(step, (params, optimiser.init(params)), keys)
        return jax.tree.map(np.array, (params, state[0].nu))


def left(params, decay):
    """‖∇ Σ ½‖f − y‖² + λθ‖ / ‖λθ‖."""
    x, y = data()
    errors = apply(params, x) - y
    gradient = np.concatenate([(x.T @ errors).ravel(), errors.sum(axis=0)])
    pull = np.concatenate([np.ravel(decay[name] * params[name]) for name in ("slope", "shift")])
    return np.linalg.norm(gradient + pull) / np.linalg.norm(pull)


@pytest.mark.parametrize(("loss", "factor"), [("mean over outputs", N * K / 2), ("mean over examples", N)])
def test_whole_batches_come_to_rest_where_it_says(loss, factor):
    """An ε above the gradient lets them converge. M is N·K/2 for a mean over N·K squares without ½, else N."""
    weight_decay, eps = 0.3, 0.03
    params, moments = trained(weight_decay, eps, N, 60_000, 3e-3, loss)
    decay = decoupled_decay(moments, weight_decay, factor, eps=eps)
    assert left(params, decay) < 1e-6
    assert left(params, decoupled_decay(moments, weight_decay, 2 * factor, eps=eps)) > 0.1
    x, y = data()
    found = cc.allocate_network(apply, params, x, y, weight_decay=decay, subspaces={})
    assert found.is_optimum
    for name, theta in params.items():
        expected = factor * weight_decay * eps / (1 - weight_decay * np.abs(theta))
        assert decay[name] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("batch", [5, 20])
def test_batches_come_to_rest_where_it_says(batch):
    """To the noise of v, which averages a thousand steps: some 5 %. The L2 penalty of the same factor is far off."""
    params, moments = trained(0.3, 1e-8, batch, 30_000, 1e-3)
    decay = decoupled_decay(moments, 0.3, N * K / 2)
    assert left(params, decay) < 0.15
    plain = jax.tree.map(lambda each: np.full(each.shape, 0.3 * N * K / 2), params)
    assert left(params, plain) > 0.3


def test_one_factor_for_each_parameter():
    moments = {"slope": np.full((D, K), 0.25), "shift": [0.04, 0.09]}
    found = decoupled_decay(moments, {"slope": np.full((D, K), 0.1), "shift": [0.0, 1.0]}, 10, eps=0.0)
    assert found["slope"] == pytest.approx(np.full((D, K), 0.5)) and found["shift"] == pytest.approx([0.0, 3.0])
    assert decoupled_decay(np.array([4.0]), 0.5, 3) == pytest.approx([3.0])


test_what_is_no_second_moment_is_refused = refused(
    lambda changed: decoupled_decay(
        **({"second_moments": {"a": [1.0]}, "weight_decay": 0.1, "n_examples": 10} | changed)
    ),
    ({"second_moments": {"a": [-1.0]}}, "second_moments: found -1, expected at least 0"),
    ({"second_moments": {"a": [np.nan]}}, r"second_moments\['a'\].*: found 1 value"),
    ({"second_moments": {}}, "second_moments: found no parameters"),
    ({"weight_decay": -0.1}, "weight_decay: found -0.1, expected .* at least 0"),
    ({"weight_decay": {"b": [0.1]}}, "weight_decay: found .* in one tree only"),
    ({"weight_decay": {"a": np.ones(2)}}, r"weight_decay.*: found .* in one tree only"),
    ({"n_examples": 0}, "n_examples: found 0, expected a positive number"),
    ({"eps": -1e-8}, "eps: found -1e-08, expected at least 0"),
)


def test_a_pytorch_optimiser_has_them_in_the_order_of_its_parameters():
    """The lines of the docstring, where PyTorch's AdamW has come to rest: a short memory lets it in 10,000 steps."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module, (x, y) = torch.nn.Linear(D, K).double(), map(torch.as_tensor, data())
    optimiser = torch.optim.AdamW(module.parameters(), lr=1e-2, betas=(0.9, 0.99), weight_decay=0.3, eps=0.3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 10_000)
    for _ in range(10_000):
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(module(x), y).backward()
        optimiser.step()
        schedule.step()
    apply, params = cc.networks.from_torch(module)
    moments = [each["exp_avg_sq"] for each in optimiser.state_dict()["state"].values()]
    decay = decoupled_decay(dict(zip(params, moments, strict=True)), 0.3, N * K / 2, eps=0.3)
    options = {"subspaces": {}}
    found = cc.allocate_network(apply, params, x.numpy(), y.numpy(), weight_decay=decay, **options)
    plain = cc.allocate_network(apply, params, x.numpy(), y.numpy(), weight_decay=0.3 * N * K / 2, **options)
    assert found.is_optimum and not plain.is_optimum
