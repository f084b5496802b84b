"""The two verbs: every method gives the same numbers, and refuses by name what it cannot give."""

import re
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import capcore as cc
from capcore import verbs

TASK = cc.PowerLaw(0.5)
SMALL = cc.Hierarchical(channels=2, n_layers=5)
OVERLAPPING = cc.Hierarchical(channels=2, dilations=[1, 2, 1, 2])


@pytest.fixture
def weights():
    return SMALL.init(np.random.default_rng(0))


@given(
    st.integers(1, 4),
    st.integers(2, 7),
    st.integers(0, 2**31),
    st.sampled_from([TASK, cc.FractionalGaussianNoise(0.8), cc.AR1(0.9)]),
)
def test_every_method_gives_the_same_capacities_within_the_errors_it_states(channels, n_layers, seed, process):
    arch = cc.Hierarchical(channels=channels, n_layers=n_layers)
    params = arch.init(np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            dense = cc.allocate(arch, params, process, method="dense")
        except cc.CapacityWarning:  # nearly singular by chance: the spaces are then each method's own
            return
    assert dense.total == dense.generic_total
    for method in ("streamed", "octaves", "sketch"):
        found = cc.allocate(arch, params, process, method=method)
        assert (found.method, found.total) == (method, dense.total)
        within = 10 * (found.error + dense.error) * dense.total
        np.testing.assert_array_equal(found.edges, dense.edges)
        np.testing.assert_allclose(found.per_octave, dense.per_octave, atol=within)
        if method != "octaves":
            np.testing.assert_allclose(found.per_input, dense.per_input, atol=within)


@pytest.mark.parametrize("method", ["gauss-newton", "riemannian-newton", "octaves"])
def test_every_fit_of_a_tensor_train_ends_at_the_same_optimum(method):
    reference = cc.fit(SMALL, TASK, method="gauss-newton")
    found = cc.fit(SMALL, TASK, method=method)
    assert isinstance(found, cc.Fit) and found.method == method and found.converged
    assert found.loss == pytest.approx(reference.loss, rel=1e-9)
    np.testing.assert_allclose(SMALL.coefficients(found.params), reference.coefficients, atol=1e-7)
    capacities = cc.allocate(SMALL, found, TASK).per_input
    np.testing.assert_allclose(capacities, cc.allocate(SMALL, reference, TASK).per_input, atol=1e-6)


def test_the_gradient_of_a_large_fit_is_that_of_the_loss():
    found = cc.fit(SMALL, TASK, method="riemannian-newton", max_iterations=1)
    problem = cc.Problem.of(SMALL, TASK)
    pull = problem.covariance @ (found.coefficients - problem.target)
    assert found.gradient_norm == pytest.approx(2 * np.linalg.norm(SMALL.vjp(found.params, pull)), rel=1e-6, abs=1e-14)


@pytest.mark.parametrize(
    ("arch", "process", "fitted", "allocated"),
    [
        (SMALL, TASK, "gauss-newton", "dense"),
        (cc.Hierarchical(channels=1, n_layers=9), TASK, "riemannian-newton", "dense"),
        (cc.Hierarchical(channels=1, n_layers=12), TASK, "riemannian-newton", "streamed"),
        (cc.Hierarchical(channels=1, n_layers=25), TASK, "octaves", "octaves"),
        (cc.Hierarchical(channels=1, n_layers=5, input_dim=2), cc.Independent([TASK, TASK]), "gauss-newton", "dense"),
        (OVERLAPPING, TASK, "basin-hopping", "dense"),
        (cc.Recurrent(n_inputs=32, channels=2), TASK, "variable-projection", "dense"),
    ],
    ids=["small", "train", "long train", "very long train", "components", "overlapping", "recurrent"],
)
def test_auto_picks_the_method_by_size_and_kind(arch, process, fitted, allocated):
    found = cc.fit(arch, process)
    assert found.method == fitted
    assert cc.allocate(arch, found, process).method == allocated


def test_auto_stays_with_its_method_whatever_of_its_options_is_given():
    options = {"max_iterations": 50, "tolerance": 1e-8, "floor": 1e-12}
    found = cc.fit(cc.Hierarchical(channels=1, n_layers=9), TASK, **options)
    assert found.method == "riemannian-newton" and found.converged


def test_auto_sketches_large_models_that_are_no_tensor_trains(monkeypatch):
    monkeypatch.setattr(verbs, "DENSE_SIZE", 4)
    params = OVERLAPPING.init(np.random.default_rng(0))
    assert cc.allocate(OVERLAPPING, params, TASK).method == "sketch"


def test_options_of_a_dense_method_choose_it():
    arch = cc.Hierarchical(channels=1, n_layers=9)
    assert cc.fit(arch, TASK, n_starts=2, max_iterations=2).method == "gauss-newton"
    assert len(cc.fit(arch, TASK, n_starts=2, max_iterations=2).losses) == 2


def test_capacity_at_two_to_the_thirty_inputs():
    arch = cc.Hierarchical(channels=2, n_layers=30)
    found = cc.fit(arch, TASK)
    alloc = cc.allocate(arch, found, TASK)
    assert found.converged and alloc.n_inputs == 2**30 and alloc.total == alloc.generic_total == 116
    assert alloc.per_octave.sum() == pytest.approx(116, abs=1e-8)
    again = cc.allocate(arch, found.params, cc.exponential_sequence(TASK, 2**30))
    np.testing.assert_allclose(again.per_octave, alloc.per_octave, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "method", "instead"),
    [
        ("layers", "streamed", "allocate(…, method='dense')"),
        ("per_frequency", "octaves", "allocate(…, method='dense')"),
        ("per_input", "octaves", "allocate(…, method='streamed')"),
        ("singular_values", "dense", "allocate(…, method='sketch')"),
        ("per_inputs", "dense", "expected one of"),
    ],
)
def test_what_an_allocation_does_not_give_is_refused_with_the_method_that_does(name, method, instead, weights):
    found = cc.allocate(SMALL, weights, TASK, method=method)
    with pytest.raises(AttributeError) as refusal:
        getattr(found, name)
    assert str(refusal.value).startswith(f"{name}: found ") and instead in str(refusal.value)
    if "method=" in instead:
        other = cc.allocate(SMALL, weights, TASK, method=instead.split("'")[1])
        assert hasattr(other, name)


@pytest.mark.parametrize("name", sorted(verbs.LARGE_OPTIONS))
def test_what_a_fit_does_not_give_is_refused_with_the_method_that_does(name):
    found = cc.fit(SMALL, TASK, method=name)
    with pytest.raises(AttributeError, match=r"Use fit\(…, method='gauss-newton'\)"):
        found.losses  # noqa: B018
    with pytest.raises(AttributeError, match="expected one of"):
        found.lose  # noqa: B018


def test_a_function_of_ones_own_is_an_architecture():
    def product(w):
        return np.convolve(w[:2], w[2:])

    parts = {"one": slice(0, 2), "two": slice(2, 4)}
    found = cc.allocate(cc.Function(product, 4, layers=parts), [1.0, 0.5, 2.0, 0.1], TASK)
    assert found.total == found.generic_total == 3 and set(found.layers) == {"one", "two"}
    sketched = cc.allocate(product, [1.0, 0.5, 2.0, 0.1], TASK, method="sketch")
    np.testing.assert_allclose(sketched.per_input, found.per_input, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda w: cc.allocate(SMALL, w, TASK, method="dens"), "method: found 'dens'"),
        (lambda w: cc.allocate(SMALL, w, TASK, time_axis=0), "inputs, output, time_axis: found some"),
        (lambda w: cc.allocate(SMALL, w, cc.Problem.of(SMALL, TASK), method="streamed"), "task: found a Problem"),
        (lambda w: cc.allocate(SMALL, w, cc.exponential_sequence(TASK, 32), method="dense"), "task: found an Expo"),
        (lambda w: cc.allocate(OVERLAPPING, np.ones(24), TASK, method="octaves"), "arch: found dilations"),
        (lambda w: cc.allocate(OVERLAPPING, cc.fit(SMALL, TASK), TASK), "params: found a fit of Hierarchical"),
        (lambda w: cc.fit(SMALL, TASK, method="octaves", max_iterations=0), "max_iterations: found 0"),
        (lambda w: cc.fit(SMALL, TASK, method="newton"), "method: found 'newton'"),
        (lambda w: cc.fit(SMALL, TASK, method="octaves", tolerance=1.0), "option of octaves: found 'tolerance'"),
        (lambda w: cc.fit(SMALL, TASK, method="octaves", n_starts=2), "n_starts: found 2"),
        (lambda w: cc.fit(SMALL, TASK, method="octaves", start=w), "start: found"),
        (lambda w: cc.fit(SMALL, cc.Problem.of(SMALL, TASK), method="octaves"), "task: found Problem"),
        (lambda w: cc.fit(SMALL, cc.Problem.of(SMALL, TASK), method="riemannian-newton"), "task: found Problem"),
        (lambda w: cc.fit(SMALL, cc.exponential_sequence(TASK, 32), method="gauss-newton"), "task: found an Expo"),
    ],
)
def test_what_cannot_be_used_is_refused(call, said, weights):
    with pytest.raises((ValueError, TypeError)) as refusal:
        call(weights)
    assert str(refusal.value).startswith(said) and "expected" in str(refusal.value)


@pytest.mark.parametrize("method", ["dense", "octaves"])
def test_a_cell_shows_a_summary_and_a_picture(method, weights):
    alloc = cc.allocate(SMALL, weights, TASK, method=method)
    shown = alloc._repr_html_()
    assert f"{alloc.total} (generic {alloc.total})" in shown and shown.count("<rect") == len(alloc.per_octave)
    assert "converged" in cc.fit(SMALL, TASK)._repr_html_()
    axes = alloc.plot()
    assert axes.get_ylabel() == "capacity"
    assert alloc.plot(axes) is axes and cc.fit(SMALL, TASK).plot().get_yscale() == "log"
    plt.close("all")


class Awaited(cc.FromAutocovariance):
    """White noise that every thread asks for before any thread gets it: their computations overlap."""

    def __init__(self, barrier):
        super().__init__(np.eye(1, 65)[0])
        self.barrier, self.local = barrier, threading.local()

    def _sequence(self, n):
        if not hasattr(self.local, "waited"):
            self.local.waited = self.barrier.wait(timeout=30)
        return super()._sequence(n)


@pytest.mark.parametrize("method", ["dense", "streamed", "octaves", "sketch"])
def test_every_thread_gives_its_own_warnings_at_the_line_that_called(method):
    """No computation changes the filters, which belong to the process: another thread would find them changed."""
    sizes = [2, 3, 4, 5]
    process = TASK if method == "octaves" else Awaited(threading.Barrier(len(sizes)))
    archs = [cc.Hierarchical(channels=size, n_layers=6) for size in sizes]
    zeros = [np.where(np.arange(arch.n_params) < arch.kernel_sizes[0], 0.0, 1.0) for arch in archs]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        with ThreadPoolExecutor(len(sizes)) as pool:
            found = list(pool.map(lambda arch, params: cc.allocate(arch, params, process, method=method), archs, zeros))
        assert warnings.filters == before
    assert {(each.category, each.filename) for each in said} == {(cc.CapacityWarning, __file__)}
    generic = sorted(alloc.generic_total for alloc in found)
    assert sorted(int(re.search(r"generic capacity (\d+)", str(each.message))[1]) for each in said) == generic


def test_what_a_result_gives_is_offered_when_typing(weights):
    assert {"per_input", "layers", "plot", "total"} <= set(dir(cc.allocate(SMALL, weights, TASK)))
    assert {"gradient_norm", "stationarity"} <= set(dir(cc.fit(SMALL, TASK, method="riemannian-newton")))


def test_processes_that_are_no_known_exponentials_are_listed_at_any_length():
    arch = cc.Hierarchical(channels=1, n_layers=23)
    assert verbs.fit_method(arch, cc.RationalQuadratic(1.0, 0.5), "auto", {}, True) == "riemannian-newton"
    assert verbs.fit_method(arch, TASK, "auto", {}, True) == "octaves"
