"""Capacity per octave from nested bases, against the rows of ΣT listed one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import matmul_toeplitz as toeplitz_product
from scipy.linalg import qr, toeplitz

import capcore as cc
from capcore.capacity.tangent_space import TangentSpace
from capcore.checks.arguments import quiet
from capcore.large.exponentials import exponential_sequence
from capcore.large.octaves.capacity import octave_capacities
from capcore.large.octaves.predictor import ExponentialSequence
from tests.strategies import stacks


def listed(space: TangentSpace, autocovariance: np.ndarray) -> np.ndarray:
    """Capacity of every input: squared norms of the rows of an orthonormal basis of ΣT, by FFT and one QR."""
    columns = toeplitz_product(autocovariance, space.basis())
    return np.sum(qr(columns / np.linalg.norm(columns, axis=0), mode="economic")[0] ** 2, axis=1)


def by_band(per_input: np.ndarray, edges: tuple[int, ...]) -> np.ndarray:
    return np.array([per_input[i:j].sum() for i, j in pairwise(edges)])


@st.composite
def sequences(draw: st.DrawFn) -> ExponentialSequence:
    """Diagonally dominant."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    m = draw(st.integers(0, 4))
    weights, rates = rng.uniform(-1, 1, m), 10 ** rng.uniform(-2, 1, m)
    return ExponentialSequence(1 + 2 * np.sum(np.abs(weights) / -np.expm1(-rates)), weights, rates)


@given(stacks(), sequences(), st.integers(0, 99), st.booleans())
def test_bands_are_sums_over_the_inputs(
    arch: cc.Hierarchical, sequence: ExponentialSequence, seed: int, singular: bool
) -> None:
    rng = np.random.default_rng(seed)
    kernels = arch.kernels(arch.init(rng))
    if singular:
        l = int(rng.integers(arch.n_layers))
        kernels[l] = np.multiply.outer(rng.normal(size=kernels[l].shape[:2]), rng.normal(size=kernels[l].shape[2]))
    space = TangentSpace.of_kernels(kernels)
    with quiet():
        result = octave_capacities(kernels, sequence)
    columns = toeplitz(sequence.autocovariance(arch.n_inputs)) @ space.basis()
    expected = by_band(np.sum(qr(columns, mode="economic")[0] ** 2, axis=1), result.edges)
    np.testing.assert_allclose(result.per_octave, expected, atol=1e-12)
    assert (result.total, result.edges[-1]) == (space.dimension, arch.n_inputs)


@pytest.mark.parametrize("process", [cc.PowerLaw(0.5), cc.FractionalGaussianNoise(0.8)])
def test_sixteen_thousand_inputs_agree_with_transforms(process: cc.Process) -> None:
    arch = cc.Hierarchical(channels=4, n_layers=14)
    kernels = arch.kernels(arch.init(np.random.default_rng(0)))
    result = octave_capacities(kernels, exponential_sequence(process, arch.n_inputs))
    expected = by_band(listed(TangentSpace.of_kernels(kernels), process.autocovariance(arch.n_inputs)), result.edges)
    np.testing.assert_allclose(result.per_octave, expected, rtol=1e-12, atol=1e-12)


def test_scales_of_layers_do_not_matter_and_neither_does_that_of_the_process() -> None:
    arch = cc.Hierarchical(channels=3, n_layers=20)
    kernels = arch.kernels(arch.init(np.random.default_rng(1)))
    sequence = exponential_sequence(cc.PowerLaw(), 2**20)
    first = octave_capacities(kernels, sequence)
    kernels[3], kernels[9] = kernels[3] * 1e150, kernels[9] * 1e-150
    louder = ExponentialSequence(1e6, 1e6 * sequence.weights, sequence.rates)
    np.testing.assert_allclose(octave_capacities(kernels, louder).per_octave, first.per_octave, atol=1e-9)


def test_components_are_refused() -> None:
    arch = cc.Hierarchical(channels=2, n_layers=3, input_dim=2)
    kernels = arch.kernels(arch.init(np.random.default_rng(0)))
    with pytest.raises(ValueError, match="found 2 components per position, expected 1"):
        octave_capacities(kernels, exponential_sequence(cc.PowerLaw(), 8))
