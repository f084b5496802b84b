"""What would not fit is refused at once, in one sentence that names the function which does it."""

import time
import tracemalloc

import numpy as np
import pytest

import capcore as cc
from capcore.architectures.generic import exact_rank
from capcore.checks import memory as memory
from capcore.fitting import optimum

LONGEST = cc.Hierarchical(4, 30)
AUDIO = cc.Hierarchical(channels=4, n_layers=16)
OVERLAPPING = cc.Hierarchical(channels=2, dilations=[2**l for l in range(14)] * 2)
TASK = cc.PowerLaw()


@pytest.fixture(autouse=True)
def four_gigabytes(monkeypatch):
    monkeypatch.setenv("CAPCORE_MEMORY", "4e9")


def params_of(arch):
    return np.zeros(arch.n_params)


REFUSED = {
    "fit, 16 layers": (
        lambda: optimum.fit(AUDIO, TASK),
        "65,536 inputs.*22[0-9] GB.*at most 4 GB.*riemannian-newton.*fit here",
    ),
    "fit, 20 layers": (lambda: optimum.fit(cc.Hierarchical(4, 20), TASK), "57.[0-9] TB.*riemannian-newton"),
    "fit, 30 layers": (lambda: optimum.fit(cc.Hierarchical(4, 30), TASK), "method='octaves'"),
    "fit, overlapping": (lambda: optimum.fit(OVERLAPPING, TASK), "Use fewer inputs"),
    "fit, recurrent": (lambda: optimum.fit(cc.Recurrent(10**6, 2), TASK), "1,000,000 inputs.*Use fewer inputs"),
    "allocate": (lambda: cc.allocate(AUDIO, params_of(AUDIO), TASK, method="dense"), "13[0-9] GB.*method='streamed'"),
    "allocate, 30 layers": (
        lambda: cc.allocate(cc.Hierarchical(4, 30), [0.0], TASK, method="dense"),
        "method='octaves'",
    ),
    "allocate, overlapping": (lambda: cc.allocate(OVERLAPPING, [0.0], TASK, method="dense"), "method='sketch'"),
    "problem": (lambda: optimum.Problem.of(AUDIO, TASK), "n: found 65,536, a covariance of as many rows.*103 GB"),
    "covariance": (lambda: TASK.covariance(2**16), "n: found 65,536.*capcore.allocate"),
    "autocovariance": (lambda: TASK.autocovariance(2**40), "n: found 1,099,511,627,776 lags.*35.2 TB"),
    "predictor": (lambda: TASK.predictor(2**40), "lags"),
    "components": (lambda: cc.Independent([TASK] * 4).covariance(2**14), "4 times as many rows"),
    "features": (lambda: cc.FeatureProcess(TASK, cc.Hermite(4)).covariance(2**14), "4 times as many rows"),
    "channels": (lambda: cc.Hierarchical(10**6, 6), r"channels: found 1,000,000 of 6 layers, 8.00e\+12 parameters"),
    "channels, past any machine": (lambda: cc.Hierarchical(10**200, 6), "channels"),
    "jacobian": (lambda: cc.Hierarchical(32, 16).jacobian([0.0]), "65,536 coefficients.*method='auto'"),
    "exact rank": (
        lambda: exact_rank(cc.Hierarchical(4, dilations=[2**l for l in range(18)])),
        "a closed form needs no Jacobian",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_before_anything_is_allocated(name):
    compute, message = REFUSED[name]
    tracemalloc.start()
    begin = time.perf_counter()
    try:
        with pytest.raises(memory.TooLargeError, match=message) as caught:
            compute()
        seconds, peak = time.perf_counter() - begin, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert seconds < 5
    assert peak < 1e7
    assert "found" in str(caught.value) and "expected at most 4 GB here" in str(caught.value)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, MemoryError)
    assert caught.value._render_traceback_() == [f"TooLargeError: {caught.value}"]


@pytest.mark.parametrize(
    ("estimate", "compute"),
    [
        (memory.fit_bytes, lambda arch: optimum.fit(arch, TASK, max_iterations=2)),
        (memory.fit_bytes, lambda arch: optimum.fit(arch, TASK, max_iterations=2, method="l-bfgs-b", start="random")),
        (memory.allocation_bytes, lambda arch: cc.allocate(arch, arch.init(np.random.default_rng(0)), TASK)),
    ],
    ids=["fit", "fit by L-BFGS-B", "allocate"],
)
@pytest.mark.parametrize(
    "arch",
    [cc.Hierarchical(4, 9), cc.Hierarchical(64, 9), cc.Hierarchical(4, dilations=[1, 2, 4, 8, 16, 32, 64, 128] * 2)],
    ids=["narrow", "wide", "overlapping"],
)
def test_estimates_are_those_of_the_memory_that_is_taken(estimate, compute, arch):
    """Not less than half of what is taken, so that half of the machine is enough, and not more than eight times it."""
    tracemalloc.start()
    try:
        compute(arch)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak / 2 < estimate(arch) < 8 * peak


def test_the_limit_is_the_containers_where_it_is_less_than_the_machines(monkeypatch, tmp_path):
    monkeypatch.delenv("CAPCORE_MEMORY")
    limit = tmp_path / "memory.max"
    limit.write_text("1000000\n")
    monkeypatch.setattr(memory, "CONTAINER_LIMITS", (limit, tmp_path / "missing"))
    assert memory.usable() == 500_000
    limit.with_name("unlimited").write_text("max\n")
    monkeypatch.setattr(memory, "CONTAINER_LIMITS", (limit.with_name("unlimited"),))
    assert 1e8 < memory.usable() < float("inf")


@pytest.mark.parametrize("value", [-1, 0])
def test_a_machine_that_does_not_say_its_memory_has_no_limit(monkeypatch, tmp_path, value):
    """POSIX allows −1."""
    monkeypatch.delenv("CAPCORE_MEMORY")
    monkeypatch.setattr(memory, "CONTAINER_LIMITS", [tmp_path / "missing"])
    monkeypatch.setattr(memory, "_physical", memory._physical.__wrapped__)
    monkeypatch.setattr("os.sysconf", lambda name: value if name == "SC_PHYS_PAGES" else 4096)
    assert memory.usable() == float("inf") and memory.fits(1e30)


@pytest.mark.parametrize("value", ["many", "-1", "0", "nan"])
def test_a_limit_that_is_no_size_is_refused(monkeypatch, value):
    monkeypatch.setenv("CAPCORE_MEMORY", value)
    with pytest.raises(ValueError, match=f"CAPCORE_MEMORY: found '{value}', expected a positive number of bytes"):
        memory.usable()


def test_what_is_no_size_is_left_to_other_checks():
    assert memory.arrays("many", 3) == memory.arrays(True) == 0
    with pytest.raises(ValueError, match=r"n: found 2\.5, expected a whole number"):
        TASK.autocovariance(2.5)


def test_more_layers_than_inputs_can_be_counted_are_refused():
    with pytest.raises(ValueError, match="n_layers: found 1,000,000, expected at most 4,096"):
        cc.Hierarchical(1, 10**6)
