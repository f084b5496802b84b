"""What an allocation is thought to take, the route that follows from it, and budgets: by a clock that products move."""

import numpy as np
import pytest

import capcore as cc
from capcore import networks
from capcore.networks import cost
from capcore.networks.cost import Cost, Speed, dense_cost, sketch_cost
from capcore.networks.derivatives import Derivatives

jnp = pytest.importorskip("jax").numpy
pytestmark = pytest.mark.usefixtures("compiled_once")
GRADIENT = 3.0
"""Seconds of a gradient on the clock of these tests."""


def network(w, x):
    """Four inputs, six tanh units, two outputs: 36 parameters."""
    return jnp.tanh(x @ w[:24].reshape(4, 6)) @ w[24:].reshape(6, 2)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=36) / 2, rng.normal(size=(50, 4)), rng.normal(size=(50, 2))


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass with each product with J or H alone: a gradient for each direction, and half of one more."""
    now = [0.0]
    monkeypatch.setattr(cost, "clock", lambda: now[0])
    for name, gradients in (("vjp", 1.0), ("hvp", cost.PLAIN), ("jvp", 0.5)):
        plain = getattr(Derivatives, name)

        def timed(self, w, v, *more, plain=plain, gradients=gradients):
            now[0] += GRADIENT * gradients * len(v)
            return plain(self, w, v, *more)

        monkeypatch.setattr(Derivatives, name, timed)
    return now


def test_operations_grow_as_they_should():
    """For many outputs as N·K·p², for many parameters as p³, and the full Hessian adds passes that grow with p."""
    few = dense_cost(10**5, 10, 500, full=False, stopped=False, columns=0)
    assert dense_cost(10**5, 10, 1000, full=False, stopped=False, columns=0).operations == pytest.approx(
        4 * few.operations, rel=0.1
    )
    many = dense_cost(10, 1, 10**4, full=False, stopped=False, columns=0)
    assert dense_cost(10, 1, 2 * 10**4, full=False, stopped=False, columns=0).operations == pytest.approx(
        8 * many.operations, rel=0.01
    )
    assert dense_cost(100, 10, 400, full=True, stopped=False, columns=0).gradients == 10 + 2.5 * 400
    assert dense_cost(100, 10, 400, full=False, stopped=True, columns=0).operations > few.operations / 10**4
    assert sketch_cost(400, 64, 20, full=True).gradients / sketch_cost(400, 64, 20, full=False).gradients == 2.5 / 1.5


def test_the_dense_model_counts_what_is_done(monkeypatch):
    """Within a factor of eight either way: it counts operations, not caches. Both sides run on this machine, now."""
    from time import process_time

    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(400, 20)), rng.normal(size=(20 * 20 + 20 * 5)) / 4
    apply = lambda w, x: jnp.tanh(x @ w[:400].reshape(20, 20)) @ w[400:].reshape(20, 5)  # noqa: E731
    monkeypatch.setattr(cost, "clock", process_time)
    expected = []
    seen = lambda *args, **more: expected.append(more["timed"]()) or "dense"  # noqa: E731
    monkeypatch.setattr(cost, "route", seen)
    options = {"weight_decay": 1.0, "subspaces": {}}
    cc.allocate_network(apply, w, x, rng.normal(size=(400, 5)), **options)
    found = cc.allocate_network(apply, w, x, rng.normal(size=(400, 5)), **options)
    model = dense_cost(400, 5, 500, full=False, stopped=False, columns=0).seconds(expected[-1])
    assert 1 / 8 < found.seconds / model < 8


def test_a_sketch_is_expected_to_take_about_what_it_takes(data, clock):
    """By the clock of products: what is not known beforehand is the number of steps of a solve, 60 in the model."""
    w, x, y = data
    before = clock[0]
    found = cc.allocate_network(
        network, w, x, y, weight_decay=0.1, method="sketch", subspaces={}, options=networks.Options(probes=8)
    )
    taken = clock[0] - before
    expected = sketch_cost(36, 18, 8 + 5, full=False).seconds(Speed(np.inf, GRADIENT))
    assert 1 / 5 < taken / expected < 5
    assert found.seconds == taken


@pytest.mark.parametrize(
    ("method", "fits", "dense", "sketch", "seconds", "expected"),
    [
        ("auto", True, 50.0, 5.0, None, "dense"),  # under a minute
        ("auto", True, 500.0, 50.0, None, "sketch"),
        ("auto", True, 500.0, 600.0, None, "dense"),  # the sketch would take longer
        ("auto", True, 50.0, 5.0, 20.0, "sketch"),  # a budget
        ("auto", True, 50.0, 5.0, 60.0, "dense"),
        ("auto", False, 5.0, 50.0, None, "sketch"),  # memory
        ("sketch", True, 1.0, 50.0, None, "sketch"),
        ("dense", True, 500.0, 5.0, None, "dense"),
    ],
)
def test_the_route_follows_from_time_and_memory(method, fits, dense, sketch, seconds, expected):
    timed = lambda: Speed(1e12, 1.0)  # noqa: E731
    costs = Cost(dense * 1e12, 0), Cost(sketch * 1e12, 0)
    assert cost.route(method, *costs, fits=fits, timed=timed, seconds=seconds) == expected


def test_little_work_is_not_timed():
    timed = lambda: pytest.fail("found a measurement")  # noqa: E731
    same = {"fits": True, "timed": timed, "seconds": None}
    assert cost.route("auto", Cost(1e9, 1, 1e9), Cost(1e9, 1), **same) == "dense"
    assert cost.route("sketch", Cost(1e99, 1), Cost(1e9, 1), **same) == "sketch"


def test_the_dense_route_is_refused_beforehand_and_the_other_taken(data, clock):
    w, x, y = data
    options = {"weight_decay": 0.1, "subspaces": {}, "options": networks.Options(probes=4)}
    with pytest.raises(ValueError, match=r"seconds: found 2, expected at least .* Use method='sketch'"):
        cc.allocate_network(network, w, x, y, method="dense", seconds=2, **options)
    assert cc.allocate_network(network, w, x, y, seconds=4 * GRADIENT, **options).method == "dense"
    assert cc.allocate_network(network, w, x, y, seconds=1.9 * GRADIENT, **options).method == "sketch"
    for wrong in (0, -1.0, np.inf, True, "1"):
        with pytest.raises(ValueError, match="seconds: found"):
            cc.allocate_network(network, w, x, y, seconds=wrong, **options)


def test_a_sketch_ends_with_its_budget_and_says_what_it_reached(data, clock):
    """More seconds give more probes and smaller errors; the overshoot is one product of a few columns at a time."""
    w, x, y = data
    options = {"weight_decay": 0.1, "method": "sketch", "options": networks.Options(probes=64)}
    whole = cc.allocate_network(network, w, x, y, **options)
    counts, errors = [], []
    for part in (0.2, 0.5, 0.9):
        before = clock[0]
        budget = part * whole.seconds
        found = cc.allocate_network(network, w, x, y, seconds=budget, **options)
        product = GRADIENT * cost.PLAIN * 36
        assert clock[0] - before <= budget + 10 * product
        counts.append(found.details.probes)
        errors.append(found.error)
        assert f"found a budget for {counts[-1]} of 64 probes" in " ".join(found.report().split())
        assert abs(found.total - whole.total) <= 2 * (found.error + whole.error)
    assert 2 <= counts[0] < counts[1] < counts[2] < 64
    assert errors[0] > errors[1] > errors[2]


def test_hardly_any_budget_gives_an_error_as_large_as_the_number(data, clock):
    w, x, y = data
    with pytest.warns(cc.CapacityWarning, match="seconds: found solves that stopped with a share of 1 "):
        found = cc.allocate_network(network, w, x, y, weight_decay=0.1, method="sketch", seconds=1e-3)
    assert found.error >= found.total > 0 and found.details.probes >= 2


def test_subspaces_share_the_budget(data, clock):
    w, x, y = data
    subspaces = {"inputs": networks.inputs(x), "half": np.eye(100)[:, :50]}
    found = cc.allocate_network(
        network,
        w,
        x,
        y,
        weight_decay=1.0,
        method="sketch",
        subspaces=subspaces,
        seconds=40_000.0,
        options=networks.Options(probes=32),
    )
    dense = cc.allocate_network(network, w, x, y, weight_decay=1.0, subspaces=subspaces)
    for name, values in dense.per_subspace.items():
        assert np.all(np.abs(found.per_subspace[name] - values) <= 3 * found.errors.per_subspace[name] + 1e-9)
