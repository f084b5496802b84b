"""Networks of JAX as people have them: nested trees, Flax (Linen and NNX) and Equinox, given whole."""

import warnings

import numpy as np
import pytest

import capcore as cc
from capcore.networks.modules import function_and_params
from capcore.networks.problem import NetworkProblem
from tests.strategies import refused

jax = pytest.importorskip("jax")
ravel_pytree = pytest.importorskip("jax.flatten_util").ravel_pytree
jnp = jax.numpy
pytestmark = pytest.mark.usefixtures("compiled_once")
N, DECAY = 9, 1.0
ROUNDING = 1e-9
"""Relative: the condition number is at most 1e4, times eps, the number of parameters and a margin of ten."""
X = np.random.default_rng(0).normal(size=(N, 3))


def nested():
    """A module's own leaves on both sides of those of the modules inside it."""
    rng = np.random.default_rng(1)
    blocks = [{"w": rng.normal(size=(3, 3)), "b": rng.normal(size=3)} for _ in range(2)]
    own = {
        "add": rng.normal(size=2),
        "blocks": blocks,
        "scale": {"of": {"it": rng.normal(size=2)}},
        "top": np.eye(3, 2),
    }

    def apply(tree, x):
        net = tree["params"]
        for block in net["blocks"]:
            x = jnp.tanh(x @ block["w"] + block["b"])
        return x @ net["top"] * net["scale"]["of"]["it"] + net["add"]

    names = ["params", "params.blocks.0", "params.blocks.1", "params.scale.of", "params.top"]
    return (apply, {"params": own}), (apply, {"params": own}), names


def linen():
    flax = pytest.importorskip("flax.linen")

    class Net(flax.Module):
        @flax.compact
        def __call__(self, x, train=False):
            x = flax.BatchNorm(use_running_average=not train)(flax.Dense(3)(x))
            return flax.Dense(2)(flax.Dropout(0.5, deterministic=not train)(jnp.tanh(x)))

    module, keys = Net(), [jax.random.PRNGKey(i) for i in range(2)]
    variables = module.init(keys[0], X)
    _, moved = module.apply(variables, X, train=True, mutable=["batch_stats"], rngs={"dropout": keys[1]})
    wide = jax.tree.map(lambda leaf: np.asarray(leaf, float), moved)
    alone = lambda w, x: module.apply({"params": w, **wide}, x)  # noqa: E731
    names = ["params.BatchNorm_0", "params.Dense_0", "params.Dense_1"]
    return (module, {**variables, **moved}), (alone, variables["params"]), names


def nnx():
    nnx = pytest.importorskip("flax.nnx")

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.below, self.norm = nnx.Linear(3, 3, rngs=rngs), nnx.BatchNorm(3, rngs=rngs)
            self.drop, self.top = nnx.Dropout(0.5, rngs=rngs), nnx.Linear(3, 2, rngs=rngs)

        def __call__(self, x):
            return self.top(self.drop(jnp.tanh(self.norm(self.below(x)))))

    module = Net(nnx.Rngs(0))
    module(X)  # moves the running statistics
    still = nnx.clone(module)
    still.eval()
    graph, own, rest = nnx.split(still, nnx.Param, ...)
    rest = jax.tree.map(lambda leaf: np.asarray(leaf, float) if leaf.dtype == np.float32 else leaf, rest)
    return (module, None), (lambda w, x: nnx.merge(graph, w, rest)(x), own), ["below", "norm", "top"]


def equinox():
    eqx = pytest.importorskip("equinox")
    first, second = jax.random.split(jax.random.PRNGKey(0))
    layers = [
        eqx.nn.Linear(3, 3, key=first),
        eqx.nn.LayerNorm(3),
        eqx.nn.Dropout(0.5),
        eqx.nn.MLP(3, 2, 3, 1, key=second),
    ]
    module = eqx.nn.Sequential(layers)
    own, rest = eqx.partition(eqx.nn.inference_mode(module), eqx.is_inexact_array)
    apply = lambda w, x: jax.vmap(eqx.combine(w, rest))(x)  # noqa: E731
    return (module, None), (apply, own), ["layers.0", "layers.1", "layers.3.layers.0", "layers.3.layers.1"]


@pytest.fixture(scope="module", params=[nested, linen, nnx, equinox])
def animal(request):
    """Network as it is given, and opened; targets near outputs, layers' names, and the exact Jacobian and Hessian."""
    given, (apply, own), names = request.param()
    with jax.enable_x64(True):
        w, back = ravel_pytree(jax.tree.map(lambda leaf: jnp.asarray(leaf, float), own))
        outputs = lambda w: apply(back(w), jnp.asarray(X))  # noqa: E731
        start = outputs(w)
        y = start + 0.01 * np.random.default_rng(2).normal(size=start.shape)

        def loss(w):
            return jnp.square(outputs(w) - y).sum() / 2 + DECAY / 2 * jnp.square(w).sum()

        jacobian = np.asarray(jax.jit(jax.jacfwd(outputs))(w)).reshape(-1, w.size)
        hessian = np.asarray(jax.jit(jax.jacfwd(jax.grad(loss)))(w))
    assert np.linalg.eigvalsh(hessian)[0] > 0, "the full Hessian is compared at a minimum"
    return given, function_and_params(*given), np.asarray(y), names, jacobian, hessian


def allocated(network, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CapacityWarning)  # weights are as they were drawn
        return cc.allocate_network(*network, X, y, weight_decay=DECAY, subspaces={}, **options)


def exact(animal, curvature):
    jacobian, hessian = animal[-2:]
    h = hessian if curvature == "full" else jacobian.T @ jacobian + DECAY * np.eye(len(hessian))
    return np.diag(jacobian @ np.linalg.solve(h, jacobian.T)).reshape(N, -1).sum(1)


ROUTES = [("dense", "full"), *((method, "gauss-newton") for method in ("dense", "dual"))]


@pytest.mark.parametrize(("method", "curvature"), ROUTES)
def test_capacities_are_those_of_the_library_s_own_derivatives(animal, method, curvature):
    _, network, y, names, *_ = animal
    found, expected = (
        allocated(network, y, method=method, curvature=curvature),
        exact(animal, curvature),
    )
    assert list(found.problem.layers) == names
    assert found.per_example == pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)
    assert found.total == pytest.approx(expected.sum(), rel=ROUNDING)


def test_modules_are_taken_whole(animal):
    """Without running statistics, which would be further parameters, and without dropout."""
    given, _, y, *_ = animal
    found = allocated(given, y, curvature="gauss-newton")
    assert found.total == pytest.approx(exact(animal, "gauss-newton").sum(), rel=ROUNDING)


def test_polished_parameters_and_weight_decays_have_the_same_tree(animal):
    (apply, params), _, y, *_ = animal
    derivatives = NetworkProblem.of(apply, params, X, y, "squared", 0.0).derivatives
    values = np.arange(1.0, 1.0 + derivatives.n_params)
    tree = derivatives.tree(values)
    again = NetworkProblem.of(apply, tree, X, y, "squared", tree)
    assert again.derivatives.params.tolist() == again.decay.tolist() == values.tolist()


def test_functions_of_nnx_keep_its_running_statistics_constant(animal):
    nnx = pytest.importorskip("flax.nnx")
    if not isinstance(animal[0][0], nnx.Module):
        pytest.skip("of NNX alone")
    still = nnx.clone(animal[0][0])
    still.eval()
    graph, state = nnx.split(still)
    found = allocated((lambda w, x: nnx.merge(graph, w)(x), state), animal[2], curvature="gauss-newton")
    assert found.total == pytest.approx(exact(animal, "gauss-newton").sum(), rel=ROUNDING)


test_what_is_no_network_is_refused = refused(
    lambda apply, params: cc.allocate_network(apply, params, X, X[:, 0]),
    (lambda w, x: x @ w, None, "params: not given, expected a pytree of arrays"),
)


test_what_is_no_network_is_refused_by_type = refused(
    lambda apply, params: cc.allocate_network(apply, params, X, X[:, 0]),
    ("model.eqx", np.ones(3), r"apply: found the text .model\.eqx., expected a model"),
    (lambda w, x: (x @ w, x), np.ones(3), "apply: found a tuple, expected one array"),
    (lambda w, x: x @ w["w"], {"w": np.ones(3), "n": [1, 2]}, r"params\['n'\]\[0\]: found int"),
    error=TypeError,
)


def test_dropout_and_statistics_of_the_batch_are_refused():
    flax = pytest.importorskip("flax.linen")

    class Training(flax.Module):
        @flax.compact
        def __call__(self, x):
            return flax.Dense(1)(flax.BatchNorm(use_running_average=False, use_fast_variance=False)(x))

    module = Training()
    variables = module.init(jax.random.PRNGKey(0), X)

    def apply(w, x):
        return module.apply(w, x, mutable=["batch_stats"])[0]

    with pytest.raises(ValueError, match="Put batch normalisation into evaluation mode"):
        cc.allocate_network(apply, variables, X, X[:, 0])


def test_derivatives_in_reverse_suffice():
    @jax.custom_vjp
    def square(x):
        return x**2

    square.defvjp(lambda x: (x**2, x), lambda x, g: (2 * x * g,))
    options = {"weight_decay": 1.0, "subspaces": {}}
    apply, y = lambda w, x: square(x @ w), X[:, 0]
    for method in ("dense", "dual"):
        assert 0 < cc.allocate_network(apply, np.ones(3), X, y, method=method, **options).total < 3
