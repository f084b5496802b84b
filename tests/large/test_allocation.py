"""Capacity at audio length: streamed and dense agree, chunks are those of Σ times the listed T, refusals are clear."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import capcore as cc
from capcore.capacity.tangent_space import TangentSpace
from capcore.checks.arguments import quiet
from capcore.large.allocation import allocate_large
from capcore.large.exponentials import NoExponentialsError
from capcore.large.leverage import leverage_scores
from capcore.large.streamed import StreamedProduct
from capcore.results.fit_and_allocation import octave_edges
from tests.strategies import refused, stacks

PROCESSES = [
    cc.PowerLaw(0.5),
    cc.FractionalGaussianNoise(0.8),
    cc.AR1(0.9),
    cc.AR1(-0.7),
    cc.DampedCosine(20.0, 8.0),
    cc.RationalQuadratic(1.0),
    cc.PowerLaw(0.2).with_nugget(0.5),
]
ARCH = cc.Hierarchical(channels=2, n_layers=12)
PARAMS = ARCH.init(np.random.default_rng(0))


class Rough(cc.Process):
    """A kink far out, that no sum of exponentials has."""

    def _sequence(self, n: int) -> np.ndarray:
        lags = cc.PowerLaw(0.5).autocovariance(n)
        lags[3000:3001] += 0.01
        lags[0] += 0.5
        return lags


def made(arch: cc.Hierarchical, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Parameters in general position, with a layer of rank one, or with layers of wildly different scales."""
    kernels = [kernel.copy() for kernel in arch.kernels(arch.init(rng))]
    l = int(rng.integers(arch.n_layers))
    if kind == "rank one":
        kernels[l] = np.multiply.outer(rng.normal(size=kernels[l].shape[:2]), rng.normal(size=kernels[l].shape[2]))
    elif kind == "scales" and arch.n_layers > 1:
        kernels[l] *= 1e150
        kernels[(l + 1) % arch.n_layers] *= 1e-150
    return np.concatenate([kernel.ravel() for kernel in kernels])


@given(
    stacks(),
    st.integers(0, 999),
    st.sampled_from(["general", "rank one", "scales"]),
    st.sampled_from(PROCESSES),
    st.sampled_from([2, 6, 20]),
    st.sampled_from([1, 2]),
)
def test_streamed_and_dense_agree(
    arch: cc.Hierarchical, seed: int, kind: str, process: cc.Process, chunk: int, threads: int
) -> None:
    """With chunks far smaller than the default, so that small models have far lags."""
    params = made(arch, kind, np.random.default_rng(seed))
    with quiet():
        expected = cc.allocate(arch, params, process, method="dense")
        found = allocate_large(arch, params, process)
    with patch("capcore.large.streamed.CHUNK", chunk):
        matrix = StreamedProduct(TangentSpace.of_kernels(arch.kernels(params)), process)
    scores = leverage_scores(matrix, threads).scores
    assert found.total == expected.total
    for per_input in (found.per_input, scores):
        np.testing.assert_allclose(per_input, expected.per_input, rtol=0, atol=1e-9)


@pytest.mark.parametrize("process", PROCESSES, ids=repr)
def test_the_default_chunks_of_a_longer_model(process: cc.Process) -> None:
    found = allocate_large(ARCH, PARAMS, process)
    expected = cc.allocate(ARCH, PARAMS, process, method="sketch")
    np.testing.assert_allclose(found.per_input, expected.per_input, rtol=0, atol=1e-9)
    assert found.lag_error < 1e-13 and found.departure < 1e-10


@pytest.mark.parametrize("size", [1, 4, 24, 10_000])
@pytest.mark.parametrize("process", [PROCESSES[i] for i in (0, 3, 4, 6)], ids=repr)
def test_streams(process: cc.Process, size: int) -> None:
    """Chunks of one position up to all of them, real and complex poles."""
    arch = cc.Hierarchical(channels=3, kernel_size=[2, 2, 3, 2, 2, 2])
    space = TangentSpace.of_kernels(arch.kernels(arch.init(np.random.default_rng(0))))
    with patch("capcore.large.streamed.CHUNK", size):
        matrix = StreamedProduct(space, process)
    found = np.full((matrix.n_rows, matrix.n_columns), np.nan)
    for block in range(matrix.n_blocks):
        for rows, part in matrix.parts(block):
            assert np.isnan(found[rows]).all()  # all rows come, once each
            found[rows] = part.T
    expected = process.covariance(arch.n_inputs) @ space.basis()
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


def test_octaves_tile_the_inputs_and_sum_to_the_total() -> None:
    arch = cc.Hierarchical(channels=3, kernel_size=[3, 2, 3, 2, 3])
    alloc = allocate_large(arch, arch.init(np.random.default_rng(0)), cc.PowerLaw())
    edges = octave_edges(arch.n_inputs)
    assert edges.tolist() == [0, 1, 2, 4, 8, 16, 32, 64, 108]
    np.testing.assert_allclose(alloc.per_octave, np.add.reduceat(alloc.per_input, edges[:-1]), rtol=1e-13)
    assert abs(alloc.per_octave.sum() - alloc.total) < 1e-9


def test_a_process_without_exponentials_is_sketched() -> None:
    with pytest.raises(NoExponentialsError, match="method='sketch'"):
        cc.allocate(ARCH, PARAMS, Rough(), method="streamed")
    assert cc.allocate(ARCH, PARAMS, Rough()).method == "sketch"


test_what_cannot_be_done_is_refused = refused(
    lambda arch, process: allocate_large(arch, PARAMS, process),
    (cc.Hierarchical(2, dilations=[1, 2, 2]), cc.PowerLaw(), ["found dilations"]),
    (cc.Hierarchical(2, 3, input_dim=2), cc.PowerLaw(), ["input_dim=2", "and 1"]),
    (ARCH, cc.Independent([cc.AR1(), cc.AR1()]), ["found 2 component(s)", "expected 1"]),
    (ARCH, cc.RationalQuadratic(scale=50.0), ["numerically singular"]),
)
test_what_is_of_another_kind_is_refused = refused(
    lambda arch, process: allocate_large(arch, PARAMS, process),
    (cc.Recurrent(8, 2), cc.PowerLaw(), ["found Recurrent"]),
    (ARCH, np.ones(8), ["expected a Process"]),
    error=TypeError,
)
