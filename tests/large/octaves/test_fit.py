"""Optima at any length: the dense fit's where it runs, and stationary where it does not."""

import numpy as np
import pytest
from scipy.linalg import matmul_toeplitz as toeplitz_product

import capcore as cc
from capcore.architectures.tensor_train import contract
from capcore.capacity.tangent_space import TangentSpace
from capcore.large.exponentials import exponential_sequence
from capcore.large.octaves.capacity import octave_capacities
from capcore.large.octaves.fit import fit_octaves


@pytest.mark.parametrize("process", [cc.PowerLaw(), cc.FractionalGaussianNoise(0.8)], ids=repr)
def test_it_finds_the_optimum_of_the_dense_fit(process):
    arch = cc.Hierarchical(channels=3, n_layers=6)
    found = fit_octaves(arch.channels, arch.kernel_sizes, exponential_sequence(process, 64))
    dense = cc.fit(arch, process)
    assert found.converged
    np.testing.assert_allclose(found.loss, dense.loss, rtol=1e-6)
    np.testing.assert_allclose(contract(found.kernels), dense.coefficients, atol=1e-7)


def test_loss_and_stationarity_are_those_of_the_listed_coefficients():
    process = cc.PowerLaw()
    found = fit_octaves([4] * 9, [2] * 10, exponential_sequence(process, 1024))
    error = contract(found.kernels) - process.predictor(1024)[0]
    image = toeplitz_product(process.autocovariance(1024), error)
    np.testing.assert_allclose(found.loss, error @ image, rtol=1e-8)
    space = TangentSpace.of_kernels(found.kernels)
    assert np.linalg.norm(space.project(image)) < 1e-8 * np.linalg.norm(image)
    assert found.converged
    assert found.stationarity < 1e-8


def test_octaves_far_from_both_ends_carry_the_same_capacity():
    """A scale-free process: two octaves in the middle of a receptive field of 2^30 differ by their place alone."""
    sequence = exponential_sequence(cc.PowerLaw(), 2**30)
    found = fit_octaves([2] * 29, [2] * 30, sequence)
    result = octave_capacities(found.kernels, sequence)
    assert found.converged
    assert result.total == cc.Hierarchical(channels=2, n_layers=30).generic_capacity()
    middle = result.per_octave[12:20]
    assert np.ptp(middle) < 0.05
    assert abs(middle.mean() - 4) < 0.05  # c² new dimensions a layer


def test_an_attained_target_is_reported():
    found = fit_octaves([8] * 5, [2] * 6, exponential_sequence(cc.PowerLaw(), 64))
    assert found.loss < 1e-25
    assert "target attained" in found.message
    assert found.n_iterations == 0


def test_too_few_steps_are_reported():
    found = fit_octaves([3] * 9, [2] * 10, exponential_sequence(cc.PowerLaw(), 1024), max_iterations=1)
    assert not found.converged
    assert "stopped after 1 step" in found.message


def test_lists_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="channels: found 3 numbers, expected 2"):
        fit_octaves([2, 2, 2], [2, 2, 2], exponential_sequence(cc.PowerLaw(), 8))


def test_progress_is_shown_on_request(capfd):
    cc.fit(cc.Hierarchical(channels=2, n_layers=8), cc.PowerLaw(), method="octaves", progress=True)
    assert "octaves" in capfd.readouterr().err
