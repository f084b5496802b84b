"""What cannot be measured is refused, or told, with what to do."""

import numpy as np
import pytest

import capcore as cc
from capcore import networks
from tests.strategies import refused

jnp = pytest.importorskip("jax").numpy
X = np.random.default_rng(0).normal(size=(12, 2))
Y = X @ [1.0, -2.0]
W = np.array([1.0, -2.0])


def linear(w, x):
    return x @ w


def of(apply=linear, params=W, inputs=X, targets=Y, **options):
    return cc.allocate_network(apply, params, inputs, targets, **options)


def noisy(w, x):
    return x @ w + np.random.default_rng().normal()


test_a_wrong_argument_is_named = refused(
    lambda arguments: of(**arguments),
    ({"loss": "square"}, "Did you mean 'squared'"),
    ({"targets": Y[:5]}, "targets: found shape"),
    ({"params": {}}, "no parameters"),
    ({"apply": noisy}, "Turn dropout off"),
    ({"apply": lambda w, x: x @ w - (x @ w).mean()}, "evaluation mode"),
    ({"apply": lambda w, x: (x @ w)[:3]}, "apply: found outputs of shape"),
    ({"apply": lambda w, x: jnp.log(-jnp.abs(x @ w))}, "NaN"),
    ({"loss": "cross-entropy"}, "Use loss='binary cross-entropy'"),
    ({"weight_decay": -1.0}, "found -1, .* of at least 0"),
    ({"weight_decay": np.ones(3)}, r"found values of shape \(3,\), expected a number, 2 values"),
    ({"inputs": X * 1e80}, "inputs: found .*, expected at most 1e.70. Use other units"),
    ({"layers": {"one": slice(0, 2), "two": slice(1, 2)}}, "found parameter 1 in 2 of them"),
    ({"layers": {"one": slice(0, 1)}}, "found parameter 1 in 0 of them"),
    ({"layers": {"one": slice(0, 3)}}, "expected a slice of some of 2 parameters"),
    ({"layers": {"one": slice(0, 2), "two": slice(2, 2)}}, "found .two.: .* slice of some of 2 parameters"),
    ({"layers": {"one": slice(0.0, 2.0)}}, "found .one.: .*expected a slice of some of 2 parameters"),
    ({"layers": {}}, "found parameter 0 in 0 of them"),
    ({"tolerance": -1.0}, "tolerance: found -1.0, expected a share"),
    ({"seconds": 0}, "seconds: found 0"),
    ({"inputs": X[:2], "targets": Y[:2]}, "S = I says nothing"),
    ({"inputs": X[:2], "targets": Y[:2], "method": "dual"}, "S = I says nothing"),
    ({"stopping_time": -1.0}, "stopping_time"),
    ({"stopping_time": 1.0, "method": "dual"}, "stopping_time: found 'dual', expected .*'dense'"),
    ({"curvature": "full", "method": "dual"}, "curvature='full', .*: found 'dual', expected .*'dense'"),
    ({"subspaces": {"mine": X[:5]}}, "columns: found 5 rows"),
    ({"subspaces": {"mine": networks.inputs(X[:5])}}, "on 5 examples"),
)


BRANCHES = {"above": np.ones((2, 1)), "below": np.ones((2, 2))}


test_a_tree_of_weight_decays_is_like_that_of_the_parameters = refused(
    lambda decay: of(lambda w, x: jnp.tanh(x @ w["below"]) @ w["above"], BRANCHES, weight_decay=decay),
    ({"above": np.ones((2, 1))}, r"found \['below'\] in one tree only, expected the names"),
    (BRANCHES | {"bellow": 1.0}, r"found \['bellow'\] in one tree only"),
    ({"above": np.ones((2, 1)), "bellow": 1.0}, r"found \['bellow'\], \['below'\] in one tree"),
    (list(BRANCHES.values()), r"\['above'\], \['below'\], \[0\], \[1\]"),
    (BRANCHES | {"below": np.ones((1, 2))}, r"weight_decay\['below'\]: found shape \(1, 2\), expected \(2, 2\)"),
    (BRANCHES | {"below": 1.0}, r"\['below'\]: found shape \(\), expected \(2, 2\), as in params"),
    (BRANCHES | {"below": np.ma.masked_less(np.eye(2), 1)}, r"\['below'\]: found masked values, expected none"),
    (BRANCHES | {"below": None}, r"\['below'\]"),
)


def logits(w, x):
    return jnp.stack([x @ w, -(x @ w)], axis=1)


def test_targets_of_cross_entropy_are_probabilities():
    wrong = np.tile([1.5, -0.5], (12, 1))
    with pytest.raises(ValueError, match="that sum to 1"):
        of(apply=logits, targets=wrong, loss="cross-entropy")
    with pytest.raises(ValueError, match="that sum to 1"):
        networks.polish(logits, W, X, wrong, loss="cross-entropy")


@pytest.mark.parametrize("method", ["dense", "dual"])
def test_shifts_that_are_no_targets_have_no_response(method):
    """Rows move all logits alike, which the weight decay alone holds; remainders of single precision do not count."""
    rng = np.random.default_rng(1)
    apply = lambda w, x: x @ w.reshape(2, 3)  # noqa: E731
    labels, options = rng.integers(0, 3, 12), {"loss": "cross-entropy", "weight_decay": 1e-3}
    params = networks.polish(apply, np.zeros(6), X, labels, **options).params
    found = of(apply=apply, params=params, targets=labels, method=method, **options)
    shift = rng.normal(size=(12, 3))
    with pytest.raises(ValueError, match=r"shift: found a row of sum .*, expected 0\. Subtract its mean"):
        found.response(shift)
    with pytest.raises(ValueError, match=r"shift: found shape \(3, 12\)"):
        found.response(shift.T)
    shift -= shift.mean(axis=1, keepdims=True)
    single = shift.astype(np.float32)
    single -= single.mean(axis=1, keepdims=True)
    expected = found.response(shift)
    assert found.response(shift.ravel()) == pytest.approx(expected)
    assert np.linalg.norm(found.response(single) - expected) < 1e-5 * np.linalg.norm(expected)


def test_whole_numbers_are_no_parameters_and_strings_no_functions():
    with pytest.raises(TypeError, match="floating-point"):
        of(params=np.array([1, -2]))
    with pytest.raises(TypeError, match="apply"):
        of(apply="linear")


def test_what_does_not_fit_is_refused_before_it_is_allocated(monkeypatch):
    monkeypatch.setenv("CAPCORE_MEMORY", "1000")
    for method in ("auto", "dense", "dual"):
        with pytest.raises(cc.TooLargeError, match=r"12 outputs .*2 parameters, .*4 outputs or as many"):
            of(method=method, subspaces={})


def test_parameters_that_are_no_optimum_are_told_with_what_still_counts():
    with pytest.warns(cc.CapacityWarning, match=r"(?s)gradient norm.*gauss-newton.*polish"):
        found = of(params=W + 1, curvature="full")
    assert not found.is_optimum and found.gradient_norm > 1 and found.total == pytest.approx(2)


def test_a_saddle_counts_its_negative_curvature():
    with pytest.warns(cc.CapacityWarning, match="1 negative curvatures"):
        found = of(apply=lambda w, x: w[0] * w[1] * x[:, 0], params=np.zeros(2), targets=X[:, 0], curvature="full")
    assert found.n_negative == 1 and not found.is_optimum


def test_a_direction_that_nothing_holds_is_told():
    """Here a tolerance that counts the second input's curvature, a hundredth of the first's, as none."""
    with pytest.warns(cc.CapacityWarning, match="not defined there"):
        found = of(tolerance=0.99, inputs=X * [1.0, 0.1], targets=(X * [1.0, 0.1]) @ W)
    assert found.n_singular == 1


def test_rotations_are_singular_directions_and_no_cause_for_a_warning(recwarn):
    """w₀w₁x has a line of optima: the outputs do not move along it."""
    found = of(apply=lambda w, x: w[0] * w[1] * x[:, 0], params=np.ones(2), targets=X[:, 0])
    assert found.n_singular == 1 and found.total == pytest.approx(1) and found.is_optimum
    assert not [each for each in recwarn if issubclass(each.category, cc.CapacityWarning)]


def test_polish_leaves_a_saddle_and_ends_at_a_minimum():
    found = networks.polish(lambda w, x: w[0] * w[1] * x[:, 0], np.zeros(2), X, X[:, 0], weight_decay=0.1)
    assert found.converged and found.smallest_eigenvalue > 0 and found.gradient_norm < 1e-8


@pytest.mark.parametrize("max_steps", [0, 1, 2])
def test_polish_takes_no_more_newton_steps_than_it_may(max_steps):
    """From the saddle it needs more than two, and says that it has not arrived."""
    apply, options = lambda w, x: w[0] * w[1] * x[:, 0], {"weight_decay": 0.1, "lbfgs_steps": 1}
    found = networks.polish(apply, np.zeros(2), X, X[:, 0], max_steps=max_steps, **options)
    assert found.n_steps == max_steps and not found.converged
