"""Any function as an architecture: the same answers as the classes that know their own structure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import capcore as cc
from capcore.architectures import Function, Hierarchical, Recurrent
from capcore.capacity.constraints import ConstraintSpace
from tests.strategies import coefficients_by_paths, hierarchical_models, refused, seeds


def as_function(arch, **options):
    """A hierarchical model written as a plain function: one sum over paths of taps per coefficient."""
    return Function(
        lambda w: coefficients_by_paths(arch, w), arch.n_params, input_dim=arch.input_dim, layers=arch.layers, **options
    )


@given(hierarchical_models(max_layers=3, max_channels=3, max_input_dim=2), seeds)
@settings(deadline=None, max_examples=25)
def test_a_hierarchical_model_as_a_plain_function(arch, seed):
    model, rng = as_function(arch, derivative="complex-step"), np.random.default_rng(seed)
    w = rng.normal(size=arch.n_params)
    assert (model.n_inputs, model.input_dim) == (arch.n_inputs, arch.input_dim)
    assert model.is_polynomial()
    assert model.generic_capacity() == arch.generic_capacity()
    assert model.coefficients(w) == pytest.approx(arch.coefficients(w))
    integers = rng.integers(1, 1000, arch.n_params)
    assert np.array_equal(model.jacobian_modulo(integers), arch.jacobian_modulo(integers))


@pytest.fixture(scope="module")
def pair():
    """A model of the package and the same as a plain NumPy function, at its optimum."""
    arch = Hierarchical(channels=2, n_layers=4)

    def function(w):
        rows = np.ones((1, 1))
        for part, (c, d) in zip(arch.layers.values(), [(1, 2), (2, 2), (2, 2), (2, 1)], strict=True):
            kernel = w[part].reshape(c, 2, d)
            rows = np.vstack([rows @ kernel[:, 0], rows @ kernel[:, 1]])
        return rows[:, 0]

    return arch, Function(function, arch.n_params, layers=arch.layers), cc.fit(arch, cc.PowerLaw()).params


def test_it_gives_the_same_allocation(pair):
    arch, model, w = pair
    expected, found = cc.allocate(arch, w, cc.PowerLaw()), cc.allocate(model, w, cc.PowerLaw())
    assert found.total == found.generic_total == expected.generic_total == 12
    assert found.per_input == pytest.approx(expected.per_input, abs=1e-6)
    assert list(found.layers) == list(expected.layers)
    for name, layer in expected.layers.items():
        assert found.layers[name].totals == layer.totals


def test_it_has_the_same_jacobian(pair):
    arch, model, w = pair
    assert model.jacobian(w) == pytest.approx(arch.jacobian(w))
    whole = ConstraintSpace.from_columns(np.hstack(list(model.tangents(w).values())), equilibrated=True)
    assert whole.dimension == 12


def test_fit_works_on_it(pair):
    arch, model, _ = pair
    expected = cc.fit(arch, cc.PowerLaw())
    found = cc.fit(model, cc.PowerLaw(), n_starts=4)
    assert found.converged
    assert found.loss == pytest.approx(expected.loss, rel=1e-3)


def test_a_recurrent_model_as_one_line():
    """Exact κ is 2c where double precision sees less, and allocate says so."""
    lags, c = np.arange(64), 16
    model = Function(lambda w: w[c:] ** lags[:, None] @ w[:c], 2 * c)
    assert model.generic_capacity() == Recurrent(64, c).generic_capacity() == 2 * c
    w = np.concatenate([np.ones(c), np.linspace(0, 0.95, c)])
    with pytest.warns(cc.CapacityWarning, match="exact generic capacity 32"):
        assert cc.allocate(model, w, cc.PowerLaw()).total < 2 * c


def test_an_own_jacobian():
    def function(w):
        return np.abs(w)

    model = Function(function, 3, derivative=lambda w: np.diag(np.sign(w)))
    assert model.jacobian([1, -2, 3]).tolist() == [[1, 0, 0], [0, -1, 0], [0, 0, 1]]
    assert "own derivative" in repr(model)
    assert cc.fit(model, cc.AR1(), start=np.array([1.0, 0.1, 0.1])).loss < 1e-12


@pytest.mark.parametrize("derivative", ["auto", "complex-step"])
def test_other_functions_have_their_numerical_rank(derivative):
    model = Function(lambda w: np.tanh(w[0] + w[1]) * np.arange(1.0, 6), 2, derivative=derivative)
    assert not model.is_polynomial()
    assert model.generic_capacity() == 1


def test_a_function_that_is_not_defined_everywhere_needs_an_example():
    def function(w):
        return np.sqrt(w) * np.arange(1.0, 4)

    with pytest.raises(ValueError, match=r"what the function returned: found .* NaN"), np.errstate(invalid="ignore"):
        Function(function, 3)
    model = Function(function, 3, example=[1.0, 2.0, 3.0])
    assert model.generic_capacity() == 3
    draws = np.array([model.init(np.random.default_rng(i)) for i in range(200)])
    assert draws.mean(axis=0) == pytest.approx([1, 2, 3], abs=0.1) and draws.std(axis=0).max() < 0.4
    assert np.ptp(Function(lambda w: w, 2, example=[0, 0]).init(np.random.default_rng(0))) > 0


test_bad_arguments = refused(
    lambda options: Function(lambda w: np.array(w), **{"n_params": 5, **options}),
    ({"n_params": 0}, "n_params: found 0"),
    ({"input_dim": 0}, "input_dim: found 0"),
    ({"input_dim": 2}, "function: found 5 coefficients, expected a multiple of input_dim 2"),
    ({"derivative": "jacks"}, "derivative: found 'jacks', expected one of 'auto', 'complex-step'"),
    ({"layers": {"a": slice(0, 3), "b": slice(4, 5)}}, "layers: found parameter 3 in 0 of them"),
    ({"layers": {"a": slice(0, 3), "b": slice(2, 5)}}, "layers: found parameter 2 in 2 of them"),
    ({"layers": {"a": 2}}, "layers: found 'a': 2, expected a slice"),
    ({"layers": {"a": slice(0, 5), "b": slice(5, 9)}}, "layers: found 'b': .*expected a slice of some of"),
    ({"example": [1.0, 2.0]}, "example: found 2 values, expected 5"),
    ({"example": [1, 2, np.nan, 4, 5]}, "example: found 1 value.* NaN"),
)


def test_things_that_are_no_functions_of_the_parameters():
    with pytest.raises(TypeError, match="function: found list, expected a function"):
        Function([1.0], 1)
    with pytest.raises(ValueError, match="function: found None returned, expected an array of coefficients"):
        Function(lambda w: None, 1)
    with pytest.raises(ValueError, match="what the function returned: found text, expected real numbers"):
        Function(lambda w: ["one", "two"], 1)
    with pytest.raises(ValueError, match=r"found complex values, expected real numbers"):
        Function(lambda w: 1j * w, 2, derivative="complex-step")
    with pytest.raises(ValueError, match="what the function returned: found an empty array"):
        Function(lambda w: w[:0], 2, derivative="complex-step")


def test_shapes_that_change_or_disagree():
    model = Function(lambda w: np.ones(3 if np.real(w[0]) < 100 else 4) * w[0], 1, derivative="complex-step")
    with pytest.raises(ValueError, match="found 4 coefficients, expected 3 as before"):
        model.coefficients([200.0])
    with pytest.raises(ValueError, match=r"params: found 2 values, expected 1 as in Function"):
        model.jacobian([1.0, 2.0])
    wrong = Function(lambda w: w, 3, derivative=lambda w: np.eye(2))
    with pytest.raises(ValueError, match=r"derivative: found a Jacobian of shape \(2, 2\), expected \(3, 3\)"):
        wrong.jacobian(np.ones(3))
    hole = Function(lambda w: w, 2, derivative=lambda w: np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="derivative: found 4 value"):
        hole.jacobian(np.ones(2))
    with pytest.raises(ValueError, match="task: found a problem with 4 coefficients, expected 3"):
        cc.fit(wrong, cc.Problem.of(Hierarchical(1, 2), cc.PowerLaw()))


@given(st.integers(1, 4))
@settings(deadline=None)
def test_constants_are_polynomials_without_capacity(n):
    model = Function(lambda w: [1.0] * n + [w[0] * 0], 1, derivative="complex-step")
    assert model.is_polynomial() and model.generic_capacity() == 0
