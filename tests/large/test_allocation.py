"""Capacity at audio length: fast, streamed and dense agree, and exact arithmetic agrees with all of them."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import capcore as cc
from capcore.capacity.tangent_space import TangentSpace
from capcore.large.allocation import LargeAllocation, allocate_large
from capcore.large.leverage import leverage_scores
from capcore.large.streamed import StreamedProduct
from capcore.results.fit_and_allocation import octave_edges
from tests.strategies import all_of

PROCESSES = [
    cc.PowerLaw(0.5),
    cc.FractionalGaussianNoise(0.8),
    cc.AR1(0.9),
    cc.AR1(-0.7),
    cc.DampedCosine(20.0, 8.0),
    cc.RationalQuadratic(1.0),
    cc.AutoRegressive([0.5, -0.3, 0.2]),
    cc.PowerLaw(0.2).with_nugget(0.5),
]


@st.composite
def stacks(draw: st.DrawFn, input_dim: int | None = None) -> cc.Hierarchical:
    n_layers = draw(st.integers(1, 6))
    channels = draw(st.lists(st.integers(1, 4), min_size=n_layers - 1, max_size=n_layers - 1))
    sizes = draw(st.lists(st.integers(2, 3), min_size=n_layers, max_size=n_layers))
    return cc.Hierarchical(channels=channels, kernel_size=sizes, input_dim=input_dim or 1)


def streamed(arch: cc.Hierarchical, params: np.ndarray, process: cc.Process, chunk: int, threads: int) -> np.ndarray:
    """Capacities with chunks far smaller than the default, so that small models have far lags."""
    matrix = StreamedProduct(TangentSpace.of_kernels(arch.kernels(params)), process, chunk)
    return leverage_scores(matrix, threads).scores.reshape(arch.n_inputs, -1).sum(axis=1)


def quiet(arch: cc.Hierarchical, params: np.ndarray, process: cc.Process, **options: object) -> LargeAllocation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CapacityWarning)
        return allocate_large(arch, params, process, **options)  # type: ignore[arg-type]


def dense(arch: cc.Hierarchical, params: np.ndarray, process: cc.Process) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CapacityWarning)
        return cc.allocate(arch, params, process).per_input


def made(arch: cc.Hierarchical, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Parameters in general position, with a layer of rank one, or with layers of wildly different scales."""
    kernels = [kernel.copy() for kernel in arch.kernels(arch.init(rng))]
    l = int(rng.integers(arch.n_layers))
    if kind == "rank one":
        kernels[l] = np.multiply.outer(rng.normal(size=kernels[l].shape[:2]), rng.normal(size=kernels[l].shape[2]))
    elif kind == "scales" and arch.n_layers > 1:
        other = (l + 1) % arch.n_layers
        kernels[l] *= 1e150
        kernels[other] *= 1e-150
    return np.concatenate([kernel.ravel() for kernel in kernels])


@given(
    stacks(),
    st.integers(0, 999),
    st.sampled_from(["general", "rank one", "scales"]),
    st.sampled_from(PROCESSES),
    st.sampled_from([2, 6, 20]),
    st.sampled_from([1, 2]),
)
def test_fast_streamed_and_dense_agree(
    arch: cc.Hierarchical, seed: int, kind: str, process: cc.Process, chunk: int, threads: int
) -> None:
    params = made(arch, kind, np.random.default_rng(seed))
    expected = dense(arch, params, process)
    fast = quiet(arch, params, process, method="fft", threads=threads)
    assert fast.total == round(expected.sum())
    assert np.abs(fast.per_input - expected).max() < 1e-9
    assert np.abs(streamed(arch, params, process, chunk, threads) - expected).max() < 1e-9


@settings(max_examples=15)
@given(stacks(input_dim=2), st.integers(0, 999), st.booleans(), st.sampled_from([2, 6, 20]))
def test_several_components(arch: cc.Hierarchical, seed: int, mixed: bool, chunk: int) -> None:
    components = [cc.PowerLaw(0.5), cc.DampedCosine(15.0, 6.0)]
    process = cc.Mixed(components, [[1.0, 0.5], [-0.3, 2.0]]) if mixed else cc.Independent(components)
    params = arch.init(np.random.default_rng(seed))
    expected = dense(arch, params, process)
    assert np.abs(quiet(arch, params, process, method="fft").per_input - expected).max() < 1e-9
    assert np.abs(streamed(arch, params, process, chunk, 1) - expected).max() < 1e-9


@pytest.mark.parametrize("process", PROCESSES, ids=repr)
def test_the_default_chunks_of_a_longer_model(process: cc.Process) -> None:
    arch = cc.Hierarchical(channels=3, n_layers=12)
    params = arch.init(np.random.default_rng(3))
    fast, other = (allocate_large(arch, params, process, method=method) for method in ("fft", "streamed"))
    assert (fast.method, other.method) == ("fft", "streamed")
    assert np.abs(fast.per_input - other.per_input).max() < 1e-9
    assert other.lag_error < 1e-13 and max(fast.departure, other.departure) < 1e-10


def test_octaves_tile_the_inputs_and_sum_to_the_total() -> None:
    arch = cc.Hierarchical(channels=3, kernel_size=[3, 2, 3, 2, 3])
    alloc = allocate_large(arch, arch.init(np.random.default_rng(0)), cc.PowerLaw())
    edges = alloc.edges
    assert edges.tolist() == [0, 1, 2, 4, 8, 16, 32, 64, 108]
    sums = [alloc.per_input[a:b].sum() for a, b in pairwise(edges)]
    np.testing.assert_allclose(alloc.per_octave, sums, rtol=1e-13)
    assert abs(alloc.per_octave.sum() - alloc.total) < 1e-9
    assert octave_edges(1).tolist() == [0, 1] and octave_edges(2).tolist() == [0, 1, 2]


def test_a_layer_of_zeros_is_reported_and_still_allocated() -> None:
    arch = cc.Hierarchical(channels=2, n_layers=4)
    params = arch.init(np.random.default_rng(0))
    params[arch.layers["layer 2"]] = 0
    with pytest.warns(cc.CapacityWarning, match="differs from the exact generic capacity"):
        alloc = allocate_large(arch, params, cc.PowerLaw())
    assert np.abs(alloc.per_input - dense(arch, params, cc.PowerLaw())).max() < 1e-9
    params[arch.layers["layer 3"]] = 0
    with pytest.warns(cc.CapacityWarning):
        alloc = allocate_large(arch, params, cc.PowerLaw())
    assert alloc.total == 0 and not alloc.per_input.any()


def test_what_cannot_be_done_is_refused() -> None:
    arch, process = cc.Hierarchical(channels=2, n_layers=12), cc.PowerLaw()
    params = arch.init(np.random.default_rng(0))
    with pytest.raises(TypeError, match=all_of(["found Recurrent", "expected a Hierarchical model"])):
        allocate_large(cc.Recurrent(n_inputs=8, channels=2), np.ones(6), process)  # type: ignore[arg-type]
    overlapping = cc.Hierarchical(channels=2, dilations=[1, 2, 2])
    with pytest.raises(ValueError, match="overlapping dilations"):
        allocate_large(overlapping, np.ones(overlapping.n_params), process)
    with pytest.raises(TypeError, match="expected a Process"):
        allocate_large(arch, params, np.ones(8))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=all_of(["found 1 component", "expected 2"])):
        allocate_large(cc.Hierarchical(channels=2, n_layers=3, input_dim=2), params, process)
    with pytest.raises(ValueError, match="params"):
        allocate_large(arch, params[:-1], process)
    with pytest.raises(ValueError, match="params"):
        allocate_large(arch, params * np.nan, process)
    with pytest.raises(ValueError, match=all_of(["memory", "Use method='streamed'"])):
        allocate_large(arch, params, process, method="fft", memory=1e5)
    with pytest.raises(ValueError, match="method"):
        allocate_large(arch, params, process, method="stream")
    with pytest.raises(ValueError, match="threads"):
        allocate_large(arch, params, process, threads=0)
    with pytest.raises(ValueError, match="numerically singular"):
        allocate_large(arch, params, cc.RationalQuadratic(scale=50.0))


def test_a_process_without_exponentials_falls_back_to_transforms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("capcore.large.allocation.SMALL", 0.0)
    arch = cc.Hierarchical(channels=1, n_layers=12)
    params = arch.init(np.random.default_rng(0))
    rough = cc.PowerLaw(0.5).autocovariance(arch.n_inputs)
    rough[3000] += 0.01
    rough[0] += 0.5

    class Rough(cc.Process):
        def _sequence(self, n: int) -> np.ndarray:
            return rough[:n]

    with pytest.raises(ValueError, match="method='fft'"):
        allocate_large(arch, params, Rough(), method="streamed")
    assert allocate_large(arch, params, Rough()).method == "fft"
    with pytest.raises(ValueError, match="method='fft'"):
        allocate_large(arch, params, Rough(), memory=1e3)
    assert allocate_large(arch, params, cc.PowerLaw(), memory=1e3).method == "streamed"
