"""Quadratic forms by digits of the lag, against the matrices themselves."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import toeplitz

import capcore as cc
from capcore.architectures.tensor_train import contract
from capcore.capacity.tangent_space import TangentSpace
from capcore.large.exponentials import exponential_sequence
from capcore.large.octaves.blocks import image_norm
from capcore.large.octaves.forms import energy, tangent_forms
from capcore.large.octaves.predictor import ExponentialSequence
from tests.strategies import stacks


@given(stacks(), st.integers(0, 5), st.integers(0, 99))
def test_forms_of_any_exponentials(arch: cc.Hierarchical, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sequence = ExponentialSequence(rng.normal(), rng.normal(size=m), 10 ** rng.uniform(-3, 1, m))
    kernels = arch.kernels(arch.init(rng))
    space = TangentSpace.of_kernels(kernels)
    gram, right = tangent_forms(space, sequence)
    c, basis, a = sequence.autocovariance(arch.n_inputs + 1), space.basis(), contract(kernels)
    image = toeplitz(c[:-1]) @ a
    scale = np.abs(c).sum()
    np.testing.assert_allclose(gram, basis.T @ toeplitz(c[:-1]) @ basis, atol=1e-13 * scale)
    np.testing.assert_allclose(right, basis.T @ c[1:], atol=1e-13 * scale)
    np.testing.assert_allclose(energy(kernels, sequence), max(0, a @ image), atol=1e-13 * scale * (a @ a))
    np.testing.assert_allclose(image_norm(kernels, sequence), np.linalg.norm(image), atol=1e-12 * scale)


def test_the_form_of_a_billion_inputs_lies_within_the_spectrum() -> None:
    """Its least value is that at frequency ½, Σ (−1)^τ c_|τ| = 2 η(½) − 1, its largest below Σ c_|τ| < 4 √n."""
    arch = cc.Hierarchical(channels=3, n_layers=30)
    space = TangentSpace.of_kernels(arch.kernels(arch.init(np.random.default_rng(0))))
    values = np.linalg.eigvalsh(tangent_forms(space, exponential_sequence(cc.PowerLaw(), 2**30))[0])
    eta = (1 - 2**0.5) * -1.4603545088095868  # ζ(½)
    assert 2 * eta - 1 < values[0] < values[-1] < 4 * 2**15
