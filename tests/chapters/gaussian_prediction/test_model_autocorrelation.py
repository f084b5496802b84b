import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.optimum import fit
from capcore.processes import AR1, FAMILIES, PowerLaw
from chapters.gaussian_prediction.response import autocorrelation_error, model_autocorrelation, visible_errors


def test_it_solves_the_recursion_of_the_model(rng):
    coefficients = rng.normal(size=5) / 10
    c = model_autocorrelation(coefficients, 12)
    assert c[0] == 1
    for k in range(1, 12):
        assert np.isclose(c[k], sum(coefficients[j] * c[abs(k - j - 1)] for j in range(5)))


@pytest.mark.parametrize("family", ["PowerLaw", "FractionalGaussianNoise", "DampedCosine"])
def test_the_source_of_the_error_is_the_covariance_times_the_coefficient_error(family):
    process, arch = FAMILIES[family](), Hierarchical(1, n_layers=5)
    coefficients = fit(arch, process).coefficients
    found = autocorrelation_error(coefficients, process)
    by_hand = [
        found.error[k] - sum(coefficients[j] * found.error[abs(k - j - 1)] for j in range(32)) for k in range(1, 33)
    ]
    assert found.error[0] == 0
    assert np.allclose(found.residual, by_hand, atol=1e-14)
    assert found.relative_residual > 1e-3  # so E does not solve the homogeneous system
    assert found.relative_residual_with_source < 1e-10


def test_the_homogeneous_system_has_only_the_zero_solution(rng):
    """With E₀ = 0 the recursion E_k = Σ Â_j E_|k−j| at lags 1 … n forces E = 0 for a stable model."""
    a = rng.normal(size=6) / 10
    system = np.eye(7)
    for k in range(1, 7):
        for j in range(6):
            system[k, abs(k - j - 1)] -= a[j]
    assert np.linalg.matrix_rank(system) == 7


def test_unstable_and_perfect_models_are_left_out():
    models = [([0.9], AR1(0.9)), ([1.2], AR1(0.9)), ([0.8], AR1(0.9))]
    assert [round(error.size, 6) for error in visible_errors(models)] == [0.1]
    with pytest.raises(ValueError, match="unstable"):
        autocorrelation_error([1.2], PowerLaw())
