"""Capacity allocation at an optimum: published values, laws, and the meaning of the constraint space."""

import dataclasses
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from scipy.linalg import cholesky

from capcore.architectures import Hierarchical
from capcore.capacity.allocation import CapacityWarning, allocate
from capcore.fitting.optimum import fit
from capcore.processes import AR1, DampedCosine, FractionalGaussianNoise, PowerLaw, RationalQuadratic
from capcore.processes.problem import Problem
from tests.strategies import all_of, hierarchical_models, projector, seeds

FAMILIES = [PowerLaw(), FractionalGaussianNoise(), RationalQuadratic()]
VIEWS = ("independent", "forward", "backward", "marginal")


def arch(channels):
    return Hierarchical(channels, 6)


def optimum(channels, process=None, **options):
    """The model and its allocation at the optimum, with no warning allowed."""
    process = PowerLaw() if process is None else process
    model = arch(channels)
    result = fit(model, process, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model, result, allocate(model, result.params, process)


# --- published and process-independent values -----------------------------------------------------------------------


def test_reference_profile_of_one_channel():
    # Power law ½: recent lags first, in a dyadic pattern that is not monotone.
    _, _, alloc = optimum(1)
    expected = [0.991, 0.985, 0.824, 0.237, 0.583, 0.245, 0.119, 0.127]
    assert_allclose(alloc.per_input[:8], expected, atol=5e-4 + 1e-9)  # printed with three decimals


@pytest.mark.parametrize(("channels", "total"), [(1, 7), (2, 20), (3, 33), (4, 48), (5, 55), (8, 64)])
def test_totals_are_the_generic_ones(channels, total):
    _, _, alloc = optimum(channels)
    assert alloc.total == alloc.generic_total == total
    assert alloc.per_input.shape == (64,) and alloc.per_input.sum() == pytest.approx(total, abs=1e-10)
    assert np.all((alloc.per_input >= 0) & (alloc.per_input <= 1 + 1e-12))


LAYER_TOTALS = {
    "independent": [8, 16, 32, 32, 16, 8],
    "forward": [8, 8, 16, 16, 0, 0],
    "backward": [0, 0, 16, 16, 8, 8],
    "marginal": [0, 0, 4, 4, 0, 0],
}


@pytest.mark.parametrize("start", ["tensor-train", "random"])
@pytest.mark.parametrize("process", FAMILIES, ids=repr)
def test_layer_totals_with_four_channels(process, start):
    _, _, alloc = optimum(4, process, start=start, rng=5)
    assert list(alloc.layers) == [f"layer {l}" for l in range(1, 7)]
    for view in VIEWS:
        sums = [getattr(layer, view).sum() for layer in alloc.layers.values()]
        assert_allclose(sums, LAYER_TOTALS[view], atol=1e-9)
        assert [layer.totals[view] for layer in alloc.layers.values()] == LAYER_TOTALS[view]


# --- laws -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [1, 2])
def test_allocation_is_the_leverage_of_the_rows_of_the_constraint_matrix(channels):
    # Without the package's factorised tangents: K̃ = ΣJ from the dense Jacobian, and its pseudo-inverse.
    model, result, alloc = optimum(channels)
    constraints = PowerLaw().covariance(64) @ model.jacobian(result.params)
    hat = projector(constraints / np.linalg.norm(constraints, axis=0), rcond=1e-12)
    assert_allclose(alloc.space.basis @ alloc.space.basis.T, hat, atol=1e-7)
    assert_allclose(alloc.per_input, np.diag(hat), atol=1e-7)
    vectors = np.linalg.eigh(PowerLaw().covariance(64))[1][:, ::-1]
    assert_allclose(alloc.per_eigenvector, np.diag(vectors.T @ hat @ vectors), atol=1e-7)
    subspace = np.random.default_rng(0).normal(size=(64, 3))
    assert alloc.capacity(subspace) == pytest.approx(np.trace(hat @ projector(subspace)), abs=1e-7)


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("process", FAMILIES, ids=repr)
def test_sums_over_inputs_eigenvectors_and_chains(channels, process):
    _, _, alloc = optimum(channels, process)
    assert alloc.per_eigenvector.sum() == pytest.approx(alloc.total, abs=1e-9)
    layers = list(alloc.layers.values())
    for chained in ("forward", "backward"):
        assert_allclose(sum(getattr(layer, chained) for layer in layers), alloc.per_input, atol=1e-8)
    for layer in layers:
        assert all(getattr(layer, view).shape == (64,) and getattr(layer, view).min() >= 0 for view in VIEWS)
        assert_allclose(layer.independent, layer.space.per_input(), atol=1e-12)
        # In total, what is marginal is the least and what is independent the most; the chains lie in between.
        totals = layer.totals
        assert totals["marginal"] <= min(totals["forward"], totals["backward"])
        assert max(totals["forward"], totals["backward"]) <= totals["independent"]
    assert_allclose(layers[0].forward, layers[0].independent, atol=1e-9)
    assert_allclose(layers[-1].backward, layers[-1].independent, atol=1e-9)
    assert_allclose(layers[-1].forward, layers[-1].marginal, atol=1e-7)
    assert_allclose(layers[0].backward, layers[0].marginal, atol=1e-7)


def test_layer_views_are_the_conditional_capacities_of_their_definitions():
    model, result, alloc = optimum(2)
    constraints = PowerLaw().covariance(64) @ model.jacobian(result.params)
    parts = [constraints[:, part] for part in model.layers.values()]
    parts = [part / np.linalg.norm(part, axis=0) for part in parts]

    def capacity(selected):
        return np.diag(projector(np.hstack(selected), rcond=1e-11)) if selected else np.zeros(64)

    for l, layer in enumerate(alloc.layers.values()):
        assert_allclose(layer.independent, capacity([parts[l]]), atol=1e-6)
        assert_allclose(layer.forward, capacity(parts[: l + 1]) - capacity(parts[:l]), atol=1e-6)
        assert_allclose(layer.backward, capacity(parts[l:]) - capacity(parts[l + 1 :]), atol=1e-6)
        assert_allclose(layer.marginal, capacity(parts) - capacity(parts[:l] + parts[l + 1 :]), atol=1e-6)


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_allocation_depends_on_the_model_not_on_its_parameters(channels):
    # Different starts end at the same coefficients by different parameters; what remains is the precision of the
    # fits, a relative offset of at most 1e-7 or so.
    atol = 1e-6
    _, first, reference = optimum(channels)
    for seed in (1, 2):
        _, result, alloc = optimum(channels, start="random", rng=seed)
        assert np.abs(result.params - first.params).max() > 1e-4
        assert_allclose(alloc.per_input, reference.per_input, atol=atol)
        assert_allclose(alloc.per_eigenvector, reference.per_eigenvector, atol=atol)
        for name, layer in alloc.layers.items():
            assert_allclose(layer.marginal, reference.layers[name].marginal, atol=atol)


def test_allocation_is_exactly_invariant_under_a_change_of_basis_between_layers():
    # Kernels W⁽ˡ⁾G and G⁻¹W⁽ˡ⁺¹⁾ give the same coefficients and the same tangent space.
    model = arch(3)
    rng = np.random.default_rng(0)
    kernels = model.kernels(model.init(rng))
    changed = list(kernels)
    for l in range(5):
        g = np.linalg.qr(rng.normal(size=(3, 3)))[0] * [0.5, 1, 2]
        changed[l] = changed[l] @ g
        changed[l + 1] = np.tensordot(np.linalg.inv(g), changed[l + 1], 1)
    before, after = (allocate(model, np.concatenate([k.ravel() for k in ks]), PowerLaw()) for ks in (kernels, changed))
    assert_allclose(after.per_input, before.per_input, atol=1e-7)
    for name in model.layers:
        assert after.layers[name].totals == before.layers[name].totals


@settings(max_examples=25)
@given(hierarchical_models(max_layers=3, max_channels=3), seeds)
def test_allocation_at_any_parameters_of_any_model(arch, seed):
    # A covariance of the whole input space (n_inputs · input_dim), so that several components can be tested.
    rng = np.random.default_rng(seed)
    n = arch.n_inputs * arch.input_dim
    q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    covariance = q * rng.uniform(0.5, 2, n) @ q.T
    problem = Problem(np.zeros(n), covariance, cholesky(covariance), 1.0)
    params = arch.init(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CapacityWarning)
        alloc = allocate(arch, params, problem)
    constraints = covariance @ arch.jacobian(params)
    leverage = np.diag(projector(constraints, rcond=1e-10)).reshape(arch.n_inputs, arch.input_dim).sum(axis=1)
    assert_allclose(alloc.per_input, leverage, atol=1e-6)
    assert alloc.per_input.max() <= arch.input_dim + 1e-12
    assert alloc.per_input.sum() == pytest.approx(alloc.total, abs=1e-9)
    assert alloc.total <= alloc.generic_total
    assert alloc.input_dim == arch.input_dim and alloc.per_eigenvector.shape == (n,)
    total = sum(layer.forward for layer in alloc.layers.values())
    assert_allclose(total, alloc.per_input, atol=1e-7)


def test_eigenvalues_descend_and_belong_to_their_capacities():
    _, _, alloc = optimum(1)
    values = alloc.eigenvalues
    assert np.all(np.diff(values) <= 0) and values.sum() == pytest.approx(64)
    sigma = PowerLaw().covariance(64)
    leading = np.ones(64)
    for _ in range(200):
        leading = sigma @ leading / np.linalg.norm(sigma @ leading)
    assert alloc.capacity(leading) == pytest.approx(alloc.per_eigenvector[0], abs=1e-7)
    assert leading @ sigma @ leading == pytest.approx(values[0])


def test_rescaling_the_process_changes_nothing():
    model, result, alloc = optimum(2)
    problem = Problem.of(model, PowerLaw())
    scaled = dataclasses.replace(problem, covariance=1e-12 * problem.covariance, root=1e-6 * problem.root)
    again = allocate(model, result.params, scaled)
    assert again.total == alloc.total
    assert_allclose(again.per_input, alloc.per_input, atol=1e-7)


# --- what the constraint space means --------------------------------------------------------------------------------


def response(model, problem, params, direction, step=1e-4):
    """First-order change of the fitted coefficients when the target moves along a unit direction."""
    fitted = []
    for sign in (1, -1):
        moved = dataclasses.replace(problem, target=problem.target + sign * step * direction)
        result = fit(model, moved, start=params, rebalance=False, tolerance=1e-28)
        fitted.append(result.coefficients)
    return np.linalg.norm(fitted[0] - fitted[1]) / (2 * step)


@pytest.mark.parametrize("process", FAMILIES, ids=repr)
def test_the_constraint_space_holds_the_target_directions_the_optimum_responds_to(process):
    # 𝒦 is the row space of the map target → optimum. Central differences: what is left of a blind direction is of
    # second order in the step, 1e-8, and the fits' own precision over the step.
    model = arch(1)
    problem = Problem.of(model, process)
    result = fit(model, problem, tolerance=1e-28)
    basis = allocate(model, result.params, process).space.basis
    rng = np.random.default_rng(0)
    blind, generic = [], []
    for _ in range(3):
        direction = rng.normal(size=64)
        outside = direction - basis @ (basis.T @ direction)
        blind.append(response(model, problem, result.params, outside / np.linalg.norm(outside)))
        generic.append(response(model, problem, result.params, direction / np.linalg.norm(direction)))
    assert max(blind) <= 1e-4 and min(generic) > 0.05
    # And it responds to every direction inside.
    assert min(response(model, problem, result.params, k) for k in basis.T) > 0.5


# --- warnings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("process", [AR1(), DampedCosine()], ids=repr)
def test_a_singular_optimum_is_warned_about(process):
    # The target's own ranks are below the channels', so the optimum sits on the singular part of the manifold.
    model = arch(4)
    result = fit(model, process)
    parts = ["differs from the exact generic capacity 48", "singular or nearly so", "other optima with the same loss"]
    parts += ["start='random'", "singular_values"]
    with pytest.warns(CapacityWarning, match=all_of(parts)) as record:
        alloc = allocate(model, result.params, process)
    assert str(alloc.total) in str(record[0].message) and record[0].filename == __file__
    assert alloc.total < alloc.generic_total == 48
    assert alloc.per_input.sum() == pytest.approx(alloc.total, abs=1e-9)


def test_a_layer_of_zeros_is_warned_about():
    model = arch(2)
    params = model.init(np.random.default_rng(0))
    params[model.layers["layer 3"]] = 0
    with pytest.warns(CapacityWarning, match=r"numerical capacity 8 differs from the exact generic capacity 20"):
        alloc = allocate(model, params, PowerLaw())
    # Only the layer of zeros can still move the coefficients, by all of its eight weights; what stands below or above
    # it is multiplied by zero.
    for view in VIEWS:
        assert [layer.totals[view] for layer in alloc.layers.values()] == [0, 0, 8, 0, 0, 0]


@pytest.mark.parametrize("channels", [64, 256])
def test_wide_models_are_analysed(channels):
    _, result, alloc = optimum(channels)
    assert alloc.total == 64 and result.loss < 1e-26
    assert_allclose(alloc.per_input, 1, atol=1e-9)
    assert [layer.totals["independent"] for layer in alloc.layers.values()] == [64] * 6
