"""Small networks of three kinds, trained to an optimum: dense, convolutional and recurrent."""

from functools import cache

import numpy as np
import pytest

from capcore import networks
from capcore.networks.losses import from_metric
from capcore.networks.subspaces import in_metric

jax = pytest.importorskip("jax")
jnp = jax.numpy


def network(w, x):
    """Three inputs, four tanh units, two outputs."""
    return jnp.tanh(x @ w[:12].reshape(3, 4)) @ w[12:].reshape(4, 2)


def convolution(w, x):
    """Twelve inputs, two layers of tied weights, their mean over positions, two outputs."""
    one, two = w[:15].reshape(3, 1, 5), w[15:60].reshape(3, 3, 5)
    for kernel in (one, two):
        x = jnp.tanh(jax.lax.conv_general_dilated(x.reshape(len(x), kernel.shape[1], -1), kernel, (1,), "VALID"))
    return x.mean(-1) @ w[60:66].reshape(3, 2)


def recurrent(w, x):
    """Eight inputs in turn, five tanh units whose weights are the same at each, two outputs."""
    around, into = w[:25].reshape(5, 5), w[25:30]
    state = jnp.zeros((len(x), 5))
    for step in range(8):
        state = jnp.tanh(state @ around + x[:, step, None] * into)
    return state @ w[30:40].reshape(5, 2)


KINDS = {"untied": (network, 3, 20), "convolution": (convolution, 12, 66), "recurrent": (recurrent, 8, 40)}


@cache
def trained(kind, loss):
    """The function of a kind of network, its optimum, inputs, targets and options."""
    apply, n_inputs, n_params = KINDS[kind]
    rng = np.random.default_rng(6)
    x = rng.normal(size=(30, n_inputs))
    y = rng.integers(0, 2, 30) if loss == "cross-entropy" else rng.normal(size=(30, 2))
    options = {"loss": loss, "weight_decay": 0.3}
    return apply, networks.polish(apply, rng.normal(size=n_params) / 2, x, y, **options).params, x, y, options


def capacity(found, columns):
    """tr ZᵀSZ of the subspace that columns (N·K, m) span, in units of the outputs."""
    metric = found.problem.at(found.problem.derivatives.params)[1:]
    basis = in_metric(columns.reshape(len(columns), -1), *metric)
    gradients = found._model.jacobian.T @ from_metric(basis, *metric)
    return float((gradients * found._response.solve(gradients)).sum())
