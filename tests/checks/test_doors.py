"""Every kind of model that readers hand over: taken, or refused with the name of the function that takes it."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

import capcore as cc
from capcore.checks.models import KINDS, is_of_library

TASK = cc.PowerLaw(0.5)


def of_package(package, base="Model", **attributes):
    """An object of a class that looks as if it came from a package, which need not be installed."""
    parent = type(base, (), {"__module__": f"{package}.models", "__call__": lambda self, x: x, **attributes})
    return type("Mine", (parent,), {"__module__": "reader"})()


FIT = cc.fit(cc.Hierarchical(channels=1, n_layers=2), TASK)
REFUSED = {
    "the class {name}": [(cc.Hierarchical, "Make one: Hierarchical(…)"), (dict, "Make one: dict(…)")],
    "a process ({name})": [(TASK, "fit(arch, process)"), (cc.Problem.of(FIT.arch, TASK), "fit(arch, process)")],
    "a result ({name})": [(FIT, "allocate(fit.arch, fit, process)")],
    "weights without their function ({name})": [
        ([np.ones(2), np.ones((2, 2))], "Function(function, n_params=…)"),
        ({"layer": {"weight": np.ones(2)}}, "analyse_spectra"),
    ],
    "an array ({name})": [(np.ones(3), "Linear(numpy.eye(n))")],
    "the text {model!r:.60}": [("weights.pt", "analyse_spectra(path)"), (Path("a.pt"), "analyse_spectra(path)")],
}
VERBS = {
    "fit": lambda model: cc.fit(model, TASK),
    "allocate": lambda model: cc.allocate(model, np.ones(2), TASK),
    "linearised": lambda model: cc.linearised(model, inputs=np.zeros(4)),
    "receptive_field": lambda model: cc.receptive_field(model, inputs=np.zeros(4)),
    "allocate_network": lambda model: cc.allocate_network(model, None, np.zeros((2, 4)), np.zeros(2)),
    "compare": lambda model: cc.compare({"own": model}, TASK, inputs=np.zeros(4)),
}


def test_every_kind_has_a_row():
    assert list(REFUSED) == list(KINDS)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("kind", "model", "door"), [(k, m, d) for k, rows in REFUSED.items() for m, d in rows])
def test_a_refusal_names_the_door(verb, kind, model, door):
    with pytest.raises(TypeError) as refusal:
        VERBS[verb](model)
    said = str(refusal.value)
    name = model.__name__ if isinstance(model, type) else type(model).__name__
    assert kind.format(name=name, model=model) in said and f"expected {KINDS[kind][1].split('{')[0]}" in said
    assert door in said


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("model", [3, {"a": 1.0}, {1.0}, None, object()], ids=lambda model: type(model).__name__)
def test_what_is_no_model_at_all(verb, model):
    with pytest.raises((TypeError, ValueError), match=r"expected (an architecture|a torch\.nn\.Module|a model)"):
        VERBS[verb](model)


def test_a_real_estimator():
    linear = pytest.importorskip("sklearn.linear_model")
    with pytest.raises(TypeError, match="arch: found Ridge, expected an architecture"):
        cc.fit(linear.Ridge(), TASK)


def convolved(tree):
    return np.convolve(tree["short"], np.convolve(tree["pair"][0], tree["pair"][1]))


TREE = {"short": np.array([1.0, 0.5]), "pair": (np.array([1.0, 0.2]), np.array([1.0, -0.3, 0.1]))}


def test_a_function_of_a_tree_is_one_of_a_vector():
    """Layers are named by the tree, in JAX's order; without JAX nothing else is needed."""
    found = cc.allocate(convolved, TREE, TASK)
    flat = np.array([1.0, 0.2, 1.0, -0.3, 0.1, 1.0, 0.5])
    plain = cc.allocate(lambda w: np.convolve(w[5:], np.convolve(w[:2], w[2:5])), flat, TASK)
    assert found.generic_total == plain.generic_total == 5, "polynomials keep their exact rank"
    np.testing.assert_allclose(found.per_input, plain.per_input, atol=1e-12)
    assert list(found.layers) == ["pair", "short"]


def test_a_fit_returns_the_tree():
    found = cc.fit(convolved, cc.AR1(0.5), params=TREE)
    back = found.unravel()
    assert set(back) == {"pair", "short"} and isinstance(back["pair"], tuple) and back["pair"][1].shape == (3,)
    np.testing.assert_allclose(convolved(back), found.coefficients, atol=1e-14)
    assert found.loss < 1e-20
    again = [cc.allocate(convolved, params, cc.AR1(0.5)).per_input for params in (found, back)]
    np.testing.assert_allclose(again[0], again[1])
    assert FIT.unravel() is FIT.params


def test_a_fit_starts_at_the_readers_parameters():
    stays = cc.fit(convolved, TASK, params=TREE, max_iterations=0)
    np.testing.assert_array_equal(stays.params, [1.0, 0.2, 1.0, -0.3, 0.1, 1.0, 0.5])


def network(weights, x):
    jnp = pytest.importorskip("jax").numpy
    return jnp.tanh(x @ weights["below"]) @ weights["above"]


WEIGHTS = {"above": np.ones(3), "below": np.random.default_rng(0).normal(size=(5, 3))}


def test_a_jax_function_straight():
    pytest.importorskip("jax")
    x = np.zeros(5)
    model = cc.linearised(network, WEIGHTS, x)
    options = {"layers": model.layers, "derivative": "jax"}
    byhand = cc.allocate(cc.Function(model.function, model.params.size, **options), model.params, TASK)
    for found in (cc.allocate(network, WEIGHTS, TASK, inputs=x), cc.allocate(model, None, TASK)):
        np.testing.assert_allclose(found.per_input, byhand.per_input, atol=1e-12)
        assert list(found.layers) == ["above", "below"]
    fit = cc.fit(network, TASK, params=WEIGHTS, inputs=x)
    new = cc.linearised(network, fit.unravel(), x)
    problem = cc.Problem.of(fit.arch, TASK)
    assert problem.loss(np.asarray(new.function(new.params))) == pytest.approx(fit.loss, abs=1e-15)
    assert cc.fit(model, TASK).loss == pytest.approx(fit.loss, abs=1e-15)
    assert cc.allocate(network, fit, TASK, inputs=x).total == cc.allocate(fit.arch, fit, TASK).total


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: cc.linearised(network, WEIGHTS), "inputs: not given"),
        (lambda: cc.linearised(network, None, np.zeros(5)), "params: not given"),
        (lambda: cc.linearised(network, WEIGHTS, np.zeros(5), time_axis=1), "time_axis: found 1, expected an axis"),
        (lambda: cc.fit(network, TASK), "params, inputs: found neither"),
        (lambda: cc.fit(network, TASK, params=WEIGHTS, time_axis=0), "output, time_axis: found some without inputs"),
        (lambda: cc.fit(FIT.arch, TASK, params=FIT.params), "params: found some beside"),
        (lambda: cc.allocate(FIT.arch, FIT, TASK, inputs=np.zeros(4)), "inputs, output, time_axis: found some beside"),
        (lambda: cc.allocate(convolved, {**TREE, "short": [np.nan]}, TASK), "params.*found 1 value"),
        (lambda: cc.allocate(convolved, {}, TASK), "params: found no parameters"),
        (lambda: cc.allocate(convolved, {"a": "text"}, TASK), "params\\['a'\\]: found text"),
    ],
)
def test_arguments_that_do_not_go_together(call, said):
    with pytest.raises(ValueError, match=f"^{said}") as refusal:
        call()
    assert "expected" in str(refusal.value)


def test_a_linearisation_keeps_its_shape_of_parameters():
    pytest.importorskip("jax")
    model = cc.linearised(network, WEIGHTS, np.zeros(5))
    with pytest.raises(ValueError, match="params: found 2 values, expected 18"):
        cc.allocate(model, np.ones(2), TASK)
    with pytest.raises(ValueError, match="inputs, output, time_axis: found some beside"):
        cc.allocate(model, None, TASK, inputs=np.zeros(5))


def test_no_library_is_imported_for_a_function_of_ones_own():
    """Told by where classes come from: nothing is imported to find out."""
    assert is_of_library(of_package("torch", "Module"), "torch", "Module") and not is_of_library(
        of_package("keras"), "torch"
    )
    installed = importlib.util.find_spec("torch")
    with pytest.raises((ModuleNotFoundError, AttributeError, TypeError) if installed else ModuleNotFoundError):
        cc.linearised(of_package("torch", "Module"), inputs=np.zeros(3))


def test_a_torch_module_straight():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Conv1d(1, 4, 2), torch.nn.Tanh(), torch.nn.Conv1d(4, 1, 2, dilation=2)
    )  # fmt: skip
    x = np.zeros((1, 1, 4))
    before = cc.allocate(module, None, TASK, inputs=x)
    assert before.total == 4 and list(before.layers) == ["0", "2"]
    fit = cc.fit(module, TASK, inputs=x)
    assert fit.loss < 1e-20
    module.load_state_dict(fit.unravel())
    assert {value.dtype for value in fit.unravel().values()} == {torch.float64}
    model = cc.linearised(module, inputs=x)
    np.testing.assert_allclose(np.asarray(model.params), fit.params, rtol=1e-6)  # the module's numbers are single
    assert cc.allocate(module, fit, TASK, inputs=x).total == 4
    with pytest.raises(ValueError, match="params: found dict beside a module"):
        cc.linearised(module, {}, x)


def test_a_module_with_normalised_weights_can_be_copied():
    torch = pytest.importorskip("torch")
    from torch.nn.utils import weight_norm

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is the older of two, and the one that published networks use
        module = weight_norm(torch.nn.Conv1d(1, 1, 3, bias=False))
    model = cc.linearised(module, inputs=np.ones((1, 1, 3)))
    found = model.coefficients(model.params)
    assert found == pytest.approx(module.weight.detach().numpy().ravel()[::-1], rel=1e-6)
    assert cc.allocate(model, None, TASK).total == 3
