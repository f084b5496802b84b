"""Factors of the Jacobian, and products of them, against products with the Jacobian by the libraries."""

import numpy as np
import pytest

from capcore import networks
from capcore.networks.factors import squared
from capcore.networks.losses import to_metric
from capcore.networks.problem import NetworkProblem

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
jnp = jax.numpy
nn = torch.nn
N = 30
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Both(nn.Module):
    """Two layers side by side, whose outputs are multiplied, and a skip."""

    def __init__(self):
        super().__init__()
        self.left, self.right, self.last = nn.Linear(6, 20), nn.Linear(6, 20, False), nn.Linear(20, 20)

    def forward(self, x):
        hidden = self.left(x) * torch.sigmoid(self.right(x))
        return hidden + self.last(torch.relu(hidden))


class Twice(nn.Module):
    """One layer, passed twice."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(20, 20)

    def forward(self, x):
        return self.layer(torch.tanh(self.layer(nn.functional.pad(x, (0, 14)))))


class Shifted(nn.Module):
    """A parameter that belongs to no layer."""

    def __init__(self):
        super().__init__()
        self.layer, self.shift = nn.Linear(6, 20), nn.Parameter(torch.ones(20))

    def forward(self, x):
        return self.layer(x) + self.shift


class Words(nn.Module):
    """The first word of three is no parameter's; the last of eight is in no example."""

    def __init__(self):
        super().__init__()
        self.table, self.place, self.last = nn.Embedding(8, 4, padding_idx=0), nn.Embedding(3, 4), nn.Linear(4, 5)

    def forward(self, x):
        words = (2 * x[:, :3].abs()).long().clamp(max=6)
        return self.last(torch.tanh(self.table(words) + self.place(torch.arange(3))).mean(1))


def chain(*bias):
    return nn.Sequential(nn.Linear(6, 18, bias[0]), nn.Tanh(), nn.Linear(18, 16, bias[1]), nn.ReLU(), nn.Linear(16, 12))


def frozen():
    module = chain(True, True)
    module[2].bias.requires_grad_(False)
    return module


MODULES = {
    "chain": lambda: chain(True, True),
    "without a bias": lambda: chain(False, True),
    "side by side": Both,
    "one output": lambda: nn.Sequential(nn.Linear(6, 18), nn.Tanh(), nn.Linear(18, 1)),
}
OTHERS = {
    "passed twice": (Twice, 0),
    "a parameter of no layer": (Shifted, 1),
    "one that is a constant": (frozen, 2),
    "many positions": (
        lambda: nn.Sequential(nn.Unflatten(1, (2, 3)), nn.Linear(3, 20), nn.Flatten(), nn.Linear(40, 20)),
        1,
    ),
    "a convolution": (
        lambda: nn.Sequential(nn.Unflatten(1, (2, 3)), nn.Conv1d(2, 9, 2), nn.Flatten(), nn.Linear(18, 9)),
        1,
    ),
    "words": (Words, 1),
}
FUNCTIONS = {
    "dense": (lambda w, x: jnp.tanh(x @ w[:12].reshape(6, 2)) @ w[12:16].reshape(2, 2), 2),
    "the other way round": (lambda w, x: jax.vmap(lambda one: w[:12].reshape(2, 6) @ one)(x), 1),
    "of two axes": (lambda w, x: jnp.einsum("nij,ijo->no", x.reshape(-1, 2, 3), w[:18].reshape(2, 3, 3)), 1),
    "overlapping": (lambda w, x: jnp.tanh(x @ w[:12].reshape(6, 2)) @ w[8:12].reshape(2, 2), 0),
    "taken twice": (lambda w, x: jnp.tanh(x @ w[:12].reshape(6, 2)) @ w[:12].reshape(6, 2).T, 0),
    "parameters by parameters": (lambda w, x: x[:, :3] * (w[:6] @ w[6:24].reshape(6, 3)), 1),
    "with themselves": (lambda w, x: x * (w[:6] @ w[:6]), 0),
    "positions": (lambda w, x: jnp.tanh(x.reshape(-1, 2, 3) @ w[:6].reshape(3, 2)).sum(1), 0),
    "compiled": (jax.jit(lambda w, x: jax.nn.relu(x @ w[:12].reshape(6, 2))), 1),
    "nothing of the inputs": (lambda w, x: jnp.broadcast_to(w[:3], (len(x), 3)), 0),
}


def problem_of(make):
    torch.manual_seed(0)
    module, rng = make().double(), np.random.default_rng(0)
    x = rng.normal(size=(N, 6))
    y = rng.normal(size=(N, module(torch.as_tensor(x)).shape[1]))
    return NetworkProblem.of(*networks.from_torch(module), x, y, "squared", 0.1)


def factored(problem, dense):
    """So many factors are dense, and their products are those of J."""
    derivatives, w, shape = problem.derivatives, problem.derivatives.params, problem.targets.shape
    found, units = derivatives.factors(w), np.eye(problem.targets.size).reshape(-1, *shape)
    assert sum(len(factor.places) > 1 for factor in found) == dense
    jacobian = derivatives.vjp(w, units)
    np.testing.assert_allclose(derivatives.jacobian(w), jacobian, rtol=0, atol=1e-12)
    scales, some = np.random.default_rng(1).uniform(size=w.size), slice(3, 7)
    other = [factor._replace(read=factor.read[some], wrote=factor.wrote[some]) for factor in found]
    pairs = zip(found, other, strict=True)
    product = sum(one.product(mine, scales[one.places]) for one, mine in pairs).reshape(len(jacobian), -1)
    expected = jacobian * scales @ jacobian[3 * shape[1] : 7 * shape[1]].T
    np.testing.assert_allclose(product, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    roots, means = np.random.default_rng(2).uniform(0.5, 2, (2, *shape))
    scaled = to_metric(jacobian, roots, means)
    square = squared(found, roots, means, w.size)
    np.testing.assert_allclose(square, scaled.T @ scaled, rtol=0, atol=1e-12 * np.abs(square).max(initial=1))


@pytest.mark.parametrize("name", MODULES)
def test_dense_layers_of_modules_are_found(name):
    factored(problem_of(MODULES[name]), 3 - (name == "one output"))


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_dense_layer_of_a_module_is_left_to_pytorch(name):
    make, dense = OTHERS[name]
    factored(problem_of(make), dense)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_dense_layers_of_functions_are_found(name):
    apply, dense = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    w, x = rng.normal(size=24), rng.normal(size=(N, 6))
    factored(NetworkProblem.of(apply, w, x, np.zeros(apply(w, x).shape), "squared", 0.1), dense)
