"""Products of the covariance with the tangent basis, by transforms and in chunks: both are Σ times the listed T."""

from __future__ import annotations

import numpy as np
import pytest

import capcore as cc
from capcore.capacity.tangent_space import TangentSpace
from capcore.large import fft as fast_product
from capcore.large import streamed
from capcore.large.fft import FastProduct, store_product
from capcore.large.leverage import RowBlocks
from capcore.large.streamed import StreamedProduct


def tangents(arch: cc.Hierarchical, seed: int = 0) -> TangentSpace:
    return TangentSpace.of_kernels(arch.kernels(arch.init(np.random.default_rng(seed))))


def listed(matrix: RowBlocks) -> np.ndarray:
    """All rows, which must come once each."""
    result = np.full((matrix.n_rows, matrix.n_columns), np.nan)
    for block in range(matrix.n_blocks):
        for rows, part in matrix.parts(block):
            assert np.isnan(result[rows]).all()
            result[rows] = part.T
    return result


@pytest.mark.parametrize("direct", [0, 64])
@pytest.mark.parametrize("cached", [16, 2**17])
def test_transforms(direct: int, cached: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever way the short convolutions are done, for odd and even lengths and one or two components."""
    monkeypatch.setattr(fast_product, "DIRECT", direct)
    monkeypatch.setattr(fast_product, "CACHED", cached)
    monkeypatch.setattr(fast_product, "TILE", 37)
    for arch, process in (
        (cc.Hierarchical(channels=3, kernel_size=[2, 3, 2, 3, 1, 2]), cc.PowerLaw()),
        (cc.Hierarchical(channels=2, kernel_size=[3, 3, 3]), cc.FractionalGaussianNoise(0.7)),
        (cc.Hierarchical(channels=2, kernel_size=[7]), cc.AR1(0.5)),
        (
            cc.Hierarchical(channels=3, kernel_size=[3, 2, 2, 2], input_dim=2),
            cc.Mixed([cc.AR1(0.5), cc.PowerLaw()], [[1.0, 0.3], [0.2, 1.0]]),
        ),
    ):
        space = tangents(arch)
        matrix = store_product(FastProduct(space, process.autocovariance(arch.n_inputs)), threads=2)
        expected = process.covariance(arch.n_inputs) @ space.basis()
        assert np.abs(listed(matrix) - expected).max() < 1e-13 * np.abs(expected).max() * 10


@pytest.mark.parametrize("checkpoints", [1.0, 1e9])
@pytest.mark.parametrize("size", [1, 4, 24, 10_000])
@pytest.mark.parametrize(
    "process",
    [
        cc.PowerLaw(),
        cc.DampedCosine(30.0, 7.0),
        cc.AutoRegressive([0.5, -0.3, 0.2], 2.0),
        cc.Mixed([cc.DampedCosine(30.0, 7.0), cc.PowerLaw()], [[1.0, 0.3], [0.2, 1.0]]),
        cc.Independent([cc.AR1(-0.8), cc.PowerLaw().with_nugget(1.0)]),
    ],
    ids=lambda process: type(process).__name__,
)
def test_streams(process: cc.Process, size: int, checkpoints: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of one position up to all of them, few or many checkpoints, real and complex poles, mixtures."""
    monkeypatch.setattr(streamed, "CHECKPOINTS", checkpoints)
    arch = cc.Hierarchical(channels=3, kernel_size=[2, 2, 3, 2, 2, 2], input_dim=process.input_dim)
    space = tangents(arch)
    expected = process.covariance(arch.n_inputs) @ space.basis()
    found = listed(StreamedProduct(space, process, size))
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


def test_components_of_another_kind_are_left_to_transforms() -> None:
    arch = cc.Hierarchical(channels=2, n_layers=4, input_dim=2)
    process = cc.FeatureProcess(cc.AR1(0.5), cc.Hermite(2))
    with pytest.raises(ValueError, match="Use method='fft'"):
        StreamedProduct(tangents(arch), process)
    space = tangents(arch)
    matrix = store_product(FastProduct(space, process.autocovariance(16)))
    assert np.abs(listed(matrix) - process.covariance(16) @ space.basis()).max() < 1e-12
