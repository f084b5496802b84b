"""What the dense route is thought to take, the route that follows, and budgets: by a clock that products move."""

from time import process_time

import numpy as np
import pytest

import capcore as cc
from capcore import networks
from capcore.networks import cost
from capcore.networks.cost import dense_operations, dense_seconds
from capcore.networks.derivatives import Derivatives

jnp = pytest.importorskip("jax").numpy
pytestmark = pytest.mark.usefixtures("compiled_once")
GRADIENT = 3.0
"""Seconds of a gradient on the clock of these tests."""
PRODUCTS = {"vjp": 1.0, "ggn": 1.5, "jvp": 0.5}
"""Gradients that each product takes for each direction."""


def network(w, x):
    """Four inputs, six tanh units, two outputs: 36 parameters."""
    return jnp.tanh(x @ w[:24].reshape(4, 6)) @ w[24:].reshape(6, 2)


@pytest.fixture(scope="module")
def allocate():
    """An allocation of the network, with any options."""
    rng = np.random.default_rng(0)
    w, x, y = rng.normal(size=36) / 2, rng.normal(size=(50, 4)), rng.normal(size=(50, 2))

    def call(weight_decay=0.1, probes=16, subspaces=None, **more):
        own = networks.Options(probes=probes)
        return cc.allocate_network(
            network, w, x, y, weight_decay=weight_decay, subspaces=subspaces, options=own, **more
        )

    return call


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass with each product with J or H alone."""
    now = [0.0]
    monkeypatch.setattr(cost, "clock", lambda: now[0])
    for name, gradients in PRODUCTS.items():
        plain = getattr(Derivatives, name)

        def timed(self, w, v, *more, plain=plain, gradients=gradients):
            now[0] += GRADIENT * gradients * len(v)
            return plain(self, w, v, *more)

        monkeypatch.setattr(Derivatives, name, timed)
    return now


@pytest.mark.parametrize(
    ("larger", "growth"), [((10**5, 10, 1000), 4), ((2 * 10**5, 10, 500), 2), ((10, 1, 2 * 10**4), 8)]
)
def test_operations_grow_as_they_should(larger, growth):
    """For many outputs as N·K·p², for many parameters as p³."""
    n, k, p = larger
    few = dense_operations(10**5 if n > 10 else 10, k, 500 if n > 10 else 10**4, full=False, stopped=False)
    assert dense_operations(n, k, p, full=False, stopped=False) == pytest.approx(growth * few, rel=0.1)


def test_the_full_hessian_adds_passes_that_grow_with_p(monkeypatch):
    """On a clock that gradients alone move."""
    now = [0.0]
    monkeypatch.setattr(cost, "clock", lambda: now[0])
    gradient = lambda: now.__setitem__(0, now[0] + 1.0)  # noqa: E731
    assert dense_seconds(100, 10, 400, gradient, full=True) == 10 + 2.5 * 400


def test_the_dense_model_counts_what_is_done(monkeypatch):
    """Within a factor of eight either way: it counts operations, not caches. Both sides run on this machine, now."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(400, 20)), rng.normal(size=(20 * 20 + 20 * 5)) / 4
    apply = lambda w, x: jnp.tanh(x @ w[:400].reshape(20, 20)) @ w[400:].reshape(20, 5)  # noqa: E731
    monkeypatch.setattr(cost, "clock", process_time)
    options, y = {"weight_decay": 1.0, "subspaces": {}}, rng.normal(size=(400, 5))
    cc.allocate_network(apply, w, x, y, **options)
    allocation = cc.allocate_network(apply, w, x, y, **options)
    problem = allocation.problem
    gradient = lambda: problem.value_and_gradient(problem.derivatives.params)  # noqa: E731
    model = dense_seconds(400, 5, 500, gradient)
    assert 1 / 8 < allocation.seconds / model < 8


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "dense"),
        ({"seconds": 4 * GRADIENT}, "dense"),
        ({"seconds": 1.9 * GRADIENT}, "sketch"),
        ({"method": "sketch"}, "sketch"),
    ],
)
def test_the_route_follows_from_the_budget(allocate, clock, options, expected):
    assert allocate(probes=4, subspaces={}, **options).method == expected


def test_the_route_follows_from_memory(allocate, monkeypatch):
    monkeypatch.setenv("CAPCORE_MEMORY", "1e5")
    assert allocate(probes=4, subspaces={}).method == "sketch"


def test_the_dense_route_is_refused_beforehand(allocate, clock):
    for only_dense in ({"method": "dense"}, {"curvature": "full"}, {"stopping_time": 1.0}):
        with pytest.raises(ValueError, match=r"seconds: found 2, expected at least .* Use method='sketch'"):
            allocate(seconds=2, **only_dense)


@pytest.mark.parametrize("wrong", [0, -1.0, np.inf, True, "1"])
def test_what_is_no_budget_is_refused(allocate, wrong):
    with pytest.raises(ValueError, match="seconds: found"):
        allocate(seconds=wrong)


def test_a_sketch_ends_with_its_budget_and_says_what_it_reached(allocate, clock):
    """More seconds give more probes and smaller errors; the overshoot is one product of a few columns at a time."""
    options = {"method": "sketch", "probes": 64}
    whole = allocate(**options)
    assert whole.seconds == clock[0]
    counts, errors = [], []
    for part in (0.2, 0.5, 0.9):
        before = clock[0]
        budget = part * whole.seconds
        allocation = allocate(seconds=budget, **options)
        assert clock[0] - before <= budget + 10 * GRADIENT * PRODUCTS["ggn"] * 36
        counts.append(allocation.details.probes)
        errors.append(allocation.error)
        assert f"found a budget for {counts[-1]} of 64 probes" in " ".join(allocation.report().split())
        assert abs(allocation.total - whole.total) <= 2 * (allocation.error + whole.error)
    assert 2 <= counts[0] < counts[1] < counts[2] < 64
    assert errors[0] > errors[1] > errors[2]


def test_hardly_any_budget_gives_an_error_as_large_as_the_number(allocate, clock):
    with pytest.warns(cc.CapacityWarning, match="seconds: found solves that stopped with a share of 1 "):
        allocation = allocate(method="sketch", seconds=1e-3)
    assert allocation.error >= allocation.total > 0 and allocation.details.probes >= 2


def test_subspaces_share_the_budget(allocate, clock):
    x = np.random.default_rng(1).normal(size=(50, 4))
    options = {"weight_decay": 1.0, "subspaces": {"inputs": networks.inputs(x), "half": np.eye(100)[:, :50]}}
    sketch = allocate(probes=32, method="sketch", seconds=40_000.0, **options)
    for name, values in allocate(**options).per_subspace.items():
        assert np.all(np.abs(sketch.per_subspace[name] - values) <= 3 * sketch.errors.per_subspace[name] + 1e-9)
