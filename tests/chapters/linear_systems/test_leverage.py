import numpy as np
import pytest
from scipy.linalg import sqrtm

from capcore.architectures import Hierarchical, Linear
from capcore.optimum import fit
from capcore.processes import FAMILIES, FractionalGaussianNoise, PowerLaw
from chapters.linear_systems.systems import leverages


def hat_diagonal(matrix):
    """Diagonal of X(XᵀX)⁻¹Xᵀ, the textbook leverage scores."""
    return np.diag(matrix @ np.linalg.solve(matrix.T @ matrix, matrix.T))


@pytest.mark.parametrize("family", FAMILIES)
def test_each_is_the_diagonal_of_a_hat_matrix(family):
    process, arch = FAMILIES[family](), Linear(np.tril(np.ones((9, 9)))[:, ::3])
    covariance, jacobian = process.covariance(9), arch.basis
    found = list(leverages(arch, np.ones(3), process).values())
    for values, weight in zip(found, (np.eye(9), sqrtm(covariance), covariance), strict=True):
        assert np.allclose(values, hat_diagonal(weight @ jacobian), atol=1e-8)


def test_the_three_share_their_total_and_differ_at_an_optimum():
    process, arch = PowerLaw(), Hierarchical(channels=1, kernel_size=[5, 2])
    values = np.array(list(leverages(arch, fit(arch, process).params, process).values()))
    assert np.allclose(values.sum(axis=1), arch.generic_capacity())
    distances = [np.abs(values[i] - values[j]).sum() / 2 for i in range(3) for j in range(i)]
    assert min(distances) > 0.05


def test_white_noise_makes_them_equal():
    arch = Hierarchical(channels=2, n_layers=3)
    values = list(leverages(arch, arch.init(np.random.default_rng(0)), FractionalGaussianNoise(0.5)).values())
    assert np.allclose(values, values[0])


def test_units_of_one_input_change_the_capacity():
    """Inputs in other units: y' = Dy, Σ' = DΣD, J' = D⁻¹J. The predictions stay, but ΣJ becomes DΣJ, whose column
    space is another one."""
    covariance, jacobian = PowerLaw().covariance(4), np.eye(4)[:, :2]
    units = np.diag([1.0, 1.0, 10.0, 1.0])
    before, after = hat_diagonal(covariance @ jacobian), hat_diagonal(units @ covariance @ jacobian)
    assert before.sum() == pytest.approx(after.sum())
    assert np.abs(before - after).max() > 0.1
