import numpy as np
import pytest

from capcore.architectures import Hierarchical, Linear
from capcore.processes import AR1, FAMILIES, PowerLaw
from chapters.linear_systems.study import optimal_error, relative_squares


def test_shares_do_not_depend_on_the_scale():
    for scale in (1e-200, 1.0, 1e200):
        assert np.allclose(relative_squares(scale * np.array([3.0, 0.0, -4.0])), [0.36, 0.0, 0.64])


def test_no_error_has_no_shares():
    with pytest.raises(ValueError, match="found only zeros"):
        relative_squares(np.zeros(3))


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "AR1"])
def test_one_free_dimension_fixes_the_shares_of_a_trained_model(family):
    """Eq. 7 with κ = 3 of n = 4: equality, to the gradient that the optimiser leaves."""
    error = optimal_error(Hierarchical(channels=1, n_layers=2), FAMILIES[family]())
    assert error.total == 3
    assert np.allclose(error.shares, error.free, atol=1e-6)
    assert np.allclose(error.ratio, 1, atol=1e-3)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "AR1"])
@pytest.mark.parametrize("options", [{"n_layers": 6}, {"n_layers": 3, "kernel_size": 3}])
def test_no_share_exceeds_what_the_constraints_leave_free(family, options):
    error = optimal_error(Hierarchical(channels=1, **options), FAMILIES[family]())
    assert error.shares.sum() == pytest.approx(1)
    assert error.mean_shares.sum() == pytest.approx(1)
    assert error.ratio.max() <= 1.001


def test_an_attained_target_leaves_no_error():
    """AR(1): A* = (φ, 0, …) is a product of one kernel per layer."""
    assert optimal_error(Hierarchical(channels=1, n_layers=3), AR1()) is None
    assert optimal_error(Linear(np.eye(3)), PowerLaw()) is None


def test_a_fixed_input_has_no_error():
    """White inputs, free weights on the first two of four: capacity 1 and error 0 there."""
    error = optimal_error(Linear(np.eye(4)[:, :2]), PowerLaw(exponent=20.0))
    assert np.allclose(error.free, [0, 0, 1, 1], atol=1e-6)
    assert error.ratio.max() <= 1.001


def test_several_components_per_position_are_refused():
    with pytest.raises(ValueError, match="input_dim = 2"):
        optimal_error(Hierarchical(channels=1, n_layers=2, input_dim=2), PowerLaw())
