"""Jacobians of any function: three routes that agree, and which of them is chosen."""

import warnings

import numpy as np
import pytest

from capcore.architectures import Function, derivatives
from capcore.checks import arguments
from capcore.checks import names as names_of_libraries

POINT = np.array([0.3, -1.2, 0.7])


def library_of(w):
    """The namespace an array belongs to, so that one function serves all routes."""
    name = type(w).__module__.split(".")[0]
    return arguments.library("jax").numpy if name.startswith("jax") else arguments.library(name)


def analytic(w):
    return w * library_of(w).tanh(w[0]) + library_of(w).exp(w) * w[1] ** 2


def by_hand(w):
    jacobian = np.diag(np.tanh(w[0]) + np.exp(w) * w[1] ** 2)
    jacobian[:, 0] += w / np.cosh(w[0]) ** 2
    jacobian[:, 1] += 2 * w[1] * np.exp(w)
    return jacobian


def without(monkeypatch, *names):
    """As if these libraries were not installed."""
    installed = derivatives.find_spec
    for module in (derivatives, names_of_libraries):
        monkeypatch.setattr(module, "find_spec", lambda name: None if name in names else installed(name))


@pytest.mark.parametrize("method", derivatives.METHODS)
def test_the_routes_agree_with_the_derivative_by_hand(method):
    if method in ("jax", "torch"):
        pytest.importorskip(method)
    value, jacobian = derivatives.differentiable(analytic, method)
    assert value(POINT) == pytest.approx(analytic(POINT), rel=1e-14)
    found = jacobian(POINT)
    assert isinstance(found, np.ndarray) and found.dtype == float
    assert found == pytest.approx(by_hand(POINT), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("tall", [True, False])
def test_jax_takes_the_shorter_mode_and_double_precision(tall):
    jax = pytest.importorskip("jax")
    matrix = np.random.default_rng(0).normal(size=(7, 2) if tall else (2, 7))
    value, jacobian = derivatives.differentiable(lambda w: jax.numpy.asarray(matrix) @ w, "jax")
    w = np.arange(1.0, matrix.shape[1] + 1) / 3
    assert value(w) == pytest.approx(matrix @ w, rel=1e-15)
    assert jacobian(w) == pytest.approx(matrix, rel=1e-15)


def test_jax_is_chosen_where_it_is_installed_and_can_trace():
    pytest.importorskip("jax")
    assert derivatives.choose(lambda w: w[0] * w, POINT) == "jax"
    assert derivatives.choose(lambda w: np.convolve(w, w), POINT) == "complex-step"


def test_without_jax_the_same_function_takes_complex_steps(monkeypatch):
    without(monkeypatch, "jax")
    assert derivatives.choose(lambda w: w[0] * w, POINT) == "complex-step"


@pytest.mark.parametrize(
    "function",
    [
        lambda w: np.abs(np.sin(w)),
        lambda w: np.real(np.sin(w)),
        lambda w: np.sin(w) * np.conj(w),
        lambda w: np.array([float(x) ** 2 for x in w]),
        lambda w: np.asarray(w, dtype=float) ** 2,
        lambda w: np.append(w[:2] ** 2, np.array([w[2]]).astype(float) ** 2),
    ],
    ids=["abs", "real", "conj", "float", "cast", "partly cast"],
)
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_what_is_not_analytic_is_refused(monkeypatch, function):
    without(monkeypatch, "jax")
    with pytest.raises(ValueError, match=r"function: found no derivatives by JAX.* expected.* derivative=…"):
        Function(function, 3, example=POINT)


def test_what_is_analytic_in_pieces_keeps_complex_steps(monkeypatch):
    without(monkeypatch, "jax")
    assert derivatives.choose(lambda w: np.maximum(w, 0) * w, POINT) == "complex-step"
    found = derivatives.differentiable(lambda w: np.maximum(w, 0) * w, "complex-step")[1](POINT)
    assert found == pytest.approx(np.diag([0.6, 0, 1.4]))


def test_no_filter_of_the_process_is_changed_while_a_function_is_tried(monkeypatch):
    """Filters belong to all threads: one that is set for a moment in two of them may stay for good."""
    without(monkeypatch, "jax")
    before, during = list(warnings.filters), []
    derivatives.check_complex_steps(lambda w: (during.append(list(warnings.filters)), w**2)[1], POINT)
    assert during and all(each == before for each in during)


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_a_missing_library_is_named_with_what_to_do(monkeypatch, name):
    without(monkeypatch, name)
    with pytest.raises(ModuleNotFoundError, match=f"{name}: found no such library.*pip install {name}, or .*{name}"):
        derivatives.differentiable(analytic, name)
