import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.capacity.allocation import allocate
from capcore.fitting.optimum import fit
from capcore.processes import FAMILIES, PowerLaw
from chapters.linear_systems.study import ExponentialSmoothing

alphas = st.floats(-1.5, 2.5)


@given(st.integers(1, 6), alphas)
def test_jacobian_matches_central_differences(n, alpha):
    arch, step = ExponentialSmoothing(n), 1e-6
    difference = (arch.coefficients([alpha + step]) - arch.coefficients([alpha - step])) / (2 * step)
    scale = 1 + np.abs(arch.jacobian([alpha])).max()
    assert np.allclose(arch.jacobian([alpha])[:, 0], difference, atol=1e-7 * scale)


@given(st.integers(1, 6), alphas)
def test_products_agree_with_the_jacobian(n, alpha):
    arch = ExponentialSmoothing(n)
    vector = np.arange(1.0, n + 1)
    jacobian = arch.jacobian([alpha])
    coefficients, pullback = arch.linearise([alpha])
    assert np.array_equal(coefficients, arch.curve(alpha)[0])
    assert np.allclose(pullback(vector), jacobian.T @ vector)
    assert np.allclose(arch.vjp([alpha], vector), jacobian.T @ vector)
    assert np.allclose(arch.tangent_kernel([alpha]), jacobian @ jacobian.T)


@given(st.floats(0.0, 1.0))
def test_weights_of_a_smoothing_factor_in_use_are_those_of_the_recursion(alpha):
    """s_t = αy_t + (1−α)s_{t−1} from s = 0, on unit impulses at each lag."""
    n, arch = 5, ExponentialSmoothing(5)
    weights = []
    for lag in range(n):
        state = 0.0
        for t in range(n):
            state = alpha * (t == n - 1 - lag) + (1 - alpha) * state
        weights.append(state)
    assert np.allclose(arch.coefficients([alpha]), weights)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_one_parameter_gives_one_dimension(n):
    arch = ExponentialSmoothing(n)
    optimum = fit(arch, PowerLaw(), start=np.array([0.5]))
    alloc = allocate(arch, optimum.params, PowerLaw())
    assert alloc.total == alloc.generic_total == 1
    assert alloc.per_input.sum() == pytest.approx(1)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_fit_is_the_lowest_point_of_the_curve(family):
    arch, process = ExponentialSmoothing(2), FAMILIES[family]()
    optimum = fit(arch, process, start=np.array([0.5]), n_starts=3)
    target, covariance = process.predictor(2)[0], process.covariance(2)
    errors = arch.curve(np.linspace(-3, 4, 70_001)) - target
    losses = np.einsum("mi,mi->m", errors @ covariance, errors)
    assert optimum.converged
    assert optimum.loss <= losses.min() + 1e-12


@pytest.mark.parametrize("family", FAMILIES)
def test_crossings_lie_on_the_hyperplane_and_include_the_optimum(family):
    arch, process = ExponentialSmoothing(2), FAMILIES[family]()
    optimum = fit(arch, process, start=np.array([0.5]), n_starts=3)
    target = process.predictor(2)[0]
    k = allocate(arch, optimum.params, process).space.basis[:, 0]
    found = arch.solve(k, k @ target)
    assert np.allclose((arch.curve(found) - target) @ k, 0, atol=1e-9)
    assert np.abs(found - optimum.params[0]).min() < 1e-5
    grid = (arch.curve(np.linspace(-50, 50, 1_000_003)) - target) @ k
    assert np.count_nonzero(np.diff(np.sign(grid))) == found.size


def test_roots_that_touch_are_one_and_none_is_none():
    arch = ExponentialSmoothing(2)  # A_1 = α − α² is at most ¼
    assert arch.solve([0.0, 1.0], 0.25).tolist() == pytest.approx([0.5])
    assert arch.solve([0.0, 1.0], 0.3).size == 0
    assert arch.solve([1.0, 0.0], 0.3).tolist() == pytest.approx([0.3])


def test_a_start_lies_in_the_range_of_use(rng):
    assert all(0 <= ExponentialSmoothing().init(rng)[0] <= 1 for _ in range(50))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ExponentialSmoothing(0), "n_inputs: found 0"),
        (lambda: ExponentialSmoothing().coefficients([0.1, 0.2]), "params: found 2 values, expected 1"),
        (lambda: ExponentialSmoothing().coefficients([np.nan]), "params: found 1 value"),
        (lambda: ExponentialSmoothing().solve([0.0, 0.0], 1.0), "direction: found"),
        (lambda: ExponentialSmoothing().solve([1.0], 1.0), "direction: found"),
    ],
)
def test_what_cannot_be_used_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
