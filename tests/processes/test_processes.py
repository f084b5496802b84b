"""Processes: the families against other formulas, the predictor against exact solves, and what is refused."""

from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eigvalsh, toeplitz

import capcore as cc
import capcore.processes as p
from tests.strategies import every_process, exact_predictor, refused, seeds

# --- the families ---------------------------------------------------------------------------------------------------


@every_process
def test_covariance_is_positive_definite_toeplitz(process):
    n = 256
    c, sigma = process.autocovariance(n), process.covariance(n)
    assert c.shape == (n,) and sigma.shape == (n, n)
    assert np.array_equal(sigma, sigma.T)
    assert all(np.array_equal(np.diag(sigma, k), np.full(n - k, c[k])) for k in range(n))
    assert eigvalsh(sigma)[0] > 0
    assert c[0] >= np.abs(c).max()


@every_process
def test_fewer_lags_are_a_prefix_of_more(process):
    longer = process.autocovariance(40)
    for n in (1, 2, 3, 17, 39):
        assert np.array_equal(process.autocovariance(n), longer[:n])


@pytest.mark.parametrize("family", p.FAMILIES.values())
def test_families_have_unit_variance(family):
    assert family().autocovariance(1).tolist() == [1.0]


BY_HAND = [
    (p.PowerLaw(1.0), [1, 1 / 2, 1 / 3, 1 / 4]),
    (p.PowerLaw(0.5), [1, 1 / np.sqrt(2), 1 / np.sqrt(3), 0.5]),
    (p.FractionalGaussianNoise(0.75), [1, np.sqrt(2) - 1, (3**1.5 - 2 * 2**1.5 + 1) / 2]),
    (p.FractionalGaussianNoise(0.25), [1, 1 / np.sqrt(2) - 1, (np.sqrt(3) - 2 * np.sqrt(2) + 1) / 2]),
    (p.FractionalGaussianNoise(0.5), [1, 0, 0, 0]),
    (p.AR1(-0.5), [1, -0.5, 0.25, -0.125]),
    (p.AR1(0.0), [1, 0, 0]),
    (p.DampedCosine(decay=2.0, period=8.0), [1, np.exp(-0.5) / np.sqrt(2), 0, -np.exp(-1.5) / np.sqrt(2)]),
    (p.RationalQuadratic(1.0, 1.0), [1, 2 / 3, 1 / 3, 2 / 11]),
    (p.RationalQuadratic(scale=2.0, alpha=0.5), [1, np.sqrt(4 / 5), np.sqrt(4 / 8), np.sqrt(4 / 13)]),
    (p.WithNugget(p.AR1(0.5), 0.25), [1.25, 0.5, 0.25]),
    (p.AutoRegressive([0.5], 3.0), [4, 2, 1, 0.5]),
    (p.AutoRegressive([0.0, 0.5], 3.0), [4, 0, 2, 0, 1]),
]


@pytest.mark.parametrize(("process", "expected"), BY_HAND, ids=repr)
def test_values_by_hand(process, expected):
    assert_allclose(process.autocovariance(len(expected)), expected, rtol=1e-14, atol=1e-16)


def test_every_family_has_values_by_hand():
    assert {type(process).__name__ for process, _ in BY_HAND} >= set(p.REGISTRY)


@pytest.mark.parametrize("hurst", [0.01, 0.3, 0.5 + 1e-9, 0.75, 0.95])
def test_fractional_noise_keeps_its_digits_where_the_second_difference_cancels(hurst):
    lags = [1, 2, 3, 5, 15, 16, 17, 100, 1000, 10_000, 1_000_000]
    c = p.FractionalGaussianNoise(hurst).autocovariance(lags[-1] + 1)
    with localcontext() as context:
        context.prec = 60
        power = 2 * Decimal(hurst)
        differences = [(Decimal(t + 1) ** power - 2 * Decimal(t) ** power + Decimal(t - 1) ** power) / 2 for t in lags]
        expected = [float(value) for value in differences]
    # A few roundings of eps each; the plain formula has a relative error of about 1 at lag 1e6.
    assert_allclose(c[lags], expected, rtol=1e-14)


def test_rational_quadratic_tends_to_the_squared_exponential():
    lags = np.arange(6)
    for alpha, atol in [(1e6, 1e-5), (1e12, 1e-11), (1e300, 1e-15)]:  # the difference is O(1/alpha)
        assert_allclose(p.RationalQuadratic(2.0, alpha).autocovariance(6), np.exp(-(lags**2) / 8), rtol=0, atol=atol)


def test_extreme_parameters_give_white_noise_not_nan():
    for process in [p.RationalQuadratic(scale=1e-200), p.PowerLaw(1e5), p.DampedCosine(decay=1e-3), p.AR1(1e-300)]:
        with np.errstate(all="raise", under="ignore"):
            assert_allclose(process.autocovariance(3), [1, 0, 0], atol=1e-290)


# --- nuggets and sequences ------------------------------------------------------------------------------------------


@every_process
def test_nugget_adds_to_the_diagonal_only(process):
    noisy = process.with_nugget(0.25)
    assert_allclose(noisy.covariance(9), process.covariance(9) + 0.25 * np.eye(9), rtol=1e-15)
    assert np.array_equal(process.with_nugget(0).autocovariance(9), process.autocovariance(9))
    # The noise of the target, and more: the inputs are noisy too (but for white noise, where nothing changes).
    assert noisy.predictor(9)[1] > process.predictor(9)[1] + 0.25 - 1e-12


@pytest.mark.parametrize("scale", [10.0, 12.0, 15.0, 20.0, 30.0, 100.0])
def test_a_singular_covariance_is_refused_as_singular_and_cured_by_a_nugget(scale):
    # Positive definite in exact arithmetic, so it must not be called anything else, though the recursion ends with an
    # error variance that is clearly negative at scales of 10 to 25.
    smooth = p.RationalQuadratic(scale=scale)
    for use in (smooth.predictor, smooth.covariance):
        with pytest.raises(ValueError, match=r"numerically singular.*expected.*double precision.*with_nugget"):
            use(64)
    target, variance = smooth.with_nugget(1e-6).predictor(64)
    exact_target, exact_variance = exact_predictor(smooth.with_nugget(1e-6), 64)
    assert_allclose(target, exact_target, rtol=0, atol=1e-7)
    assert variance == pytest.approx(exact_variance, rel=1e-7)


@pytest.mark.parametrize("scale", [1.0, 3.0, 5.0, 7.0])
def test_what_is_accepted_has_correct_digits(scale):
    # Condition numbers from 1e2 to 1e13: whatever is not refused is right to eps times its condition number.
    process = p.RationalQuadratic(scale=scale)
    target, variance = process.predictor(64)
    exact_target, exact_variance = exact_predictor(process, 64)
    tolerance = 1e-15 * np.linalg.cond(process.covariance(65))
    assert_allclose(target, exact_target, rtol=0, atol=tolerance)
    assert_allclose(variance, exact_variance, rtol=tolerance)


@pytest.mark.parametrize("n", [16, 64, 256])
@pytest.mark.parametrize(("ratio", "refused"), [(1 / 3, False), (3, True)])
def test_the_condition_number_is_refused_from_its_limit_on(n, ratio, refused):
    """AR(1) with φ → 1: λ_max → n, λ_min → (1 − φ²)/(4 cos²(π/2n)), the path graph's largest; the limit is 1/(n·eps).

    Both are off by some n(1 − φ), and the computed λ_min by some n·eps, a few per cent here: far less than a factor 3.
    """
    eps = np.finfo(float).eps
    gap = 4 * np.cos(np.pi / (2 * n)) ** 2 * n * (n * eps) / ratio  # 1 − φ² for a condition number of ratio/(n·eps)
    process = p.AR1(np.sqrt(1 - gap))
    if refused:
        with pytest.raises(ValueError, match=r"numerically singular.*condition number"):
            process.predictor(n)
    else:
        assert process.predictor(n)[1] == pytest.approx(gap, rel=n**2 * eps / gap)


@pytest.mark.parametrize("scale", [8.0, 9.0])
def test_a_singular_covariance_that_the_recursion_survives_is_refused(scale):
    # Every prediction-error variance is well above rounding here, and yet Σ has no correct digit in its inverse.
    with pytest.raises(ValueError, match=r"numerically singular.*condition number.*with_nugget"):
        p.RationalQuadratic(scale=scale).predictor(64)


@given(seeds, st.integers(2, 8))
def test_a_sequence_is_accepted_if_and_only_if_it_is_positive_definite(seed, n):
    rng = np.random.default_rng(seed)
    c = np.concatenate([[1.0], rng.uniform(-0.7, 0.7, n - 1)])
    smallest = eigvalsh(toeplitz(c))[0]
    assume(abs(smallest) > 1e-9)
    if smallest > 0:
        assert np.array_equal(p.FromAutocovariance(c).autocovariance(n), c)
    else:
        with pytest.raises(
            ValueError, match=r"not positive definite.*reflection coefficient.*strictly between -1 and 1"
        ):
            p.FromAutocovariance(c)


def test_a_given_sequence_cannot_change_behind_the_process():
    values = np.array([1.0, 0.5, 0.25])
    process = p.FromAutocovariance(values)
    values[1] = 9.0
    process.autocovariance(3)[1] = 9.0
    assert process.autocovariance(3).tolist() == [1.0, 0.5, 0.25]
    with pytest.raises(ValueError, match="read-only"):
        process.values[0] = 2.0


# --- refusals -------------------------------------------------------------------------------------------------------


class Broken(p.Process):
    def _sequence(self, n):
        return np.full(n, np.nan)


test_refusals_say_what_was_found_and_what_to_do = refused(
    lambda make: make(),
    (lambda: p.PowerLaw(0), ["exponent", "found 0", "positive"]),
    (lambda: p.FractionalGaussianNoise(1), ["hurst", "found 1", "between 0 and 1"]),
    (lambda: p.AR1(1.0), ["phi", "found 1.0", "between -1 and 1", "stationar"]),
    (lambda: p.DampedCosine(period=-1), ["period", "found -1", "positive number"]),
    (lambda: p.AR1().with_nugget(-1e-3), ["nugget", "found -0.001", "at least 0"]),
    (lambda: p.AR1().autocovariance(0), ["n: found 0", "at least 1"]),
    (lambda: p.AR1().covariance(2.5), ["n: found 2.5", "whole number"]),
    (lambda: Broken().autocovariance(3), ["autocovariance", "3 value(s)", "NaN", "finite"]),
    (lambda: p.FromAutocovariance([1, 0.9, 0.1]), ["not positive definite", "-3.7", "lag 2", "Check the values"]),
    (lambda: p.FromAutocovariance([1, -2]), ["not positive definite", "-2", "lag 1"]),
    (lambda: p.FromAutocovariance([1, 1]), ["numerically singular", "lag 1", "with_nugget"]),
    (lambda: p.AR1(1 - 1e-13).predictor(64), ["numerically singular", "condition number", "65 lags", "with_nugget"]),
    (lambda: p.FromAutocovariance([0, 0]), ["c_0 = 0", "positive variance"]),
    (lambda: p.FromAutocovariance(np.eye(2)), ["autocovariance", "(2, 2)", "1 dimension"]),
    (lambda: p.FromAutocovariance([1, 0.5]).covariance(3), ["found 2 lags", "at least 3", "longer sequence"]),
    (lambda: p.AutoRegressive([1.0]), ["unstable", "coefficient 1 at order 1", "stationary"]),
    (lambda: p.AutoRegressive([0.1, -1.5, 0.1]), ["unstable", "order 2"]),
    (lambda: p.AutoRegressive([0.5], 0), ["variance", "found 0", "positive"]),
    (lambda: p.make_process("powerlaw"), ["process", "'powerlaw'", "'AR1'", "Did you mean 'PowerLaw'?"]),
    (lambda: p.make_process("AR1", hurst=0.5), ["parameter of AR1", "'hurst'", "'phi'"]),
)


def test_shortest_sequences_are_enough():
    assert p.FromAutocovariance([2.0]).covariance(1).tolist() == [[2.0]]
    target, variance = p.FromAutocovariance([2.0, 1.0]).predictor(1)
    assert target.tolist() == [0.5] and variance == 1.5


def test_processes_by_name():
    assert p.make_process("PowerLaw", exponent=0.25) == p.PowerLaw(0.25)
    assert p.make_process("DampedCosine") == p.DampedCosine()
    assert set(p.FAMILIES) == {"PowerLaw", "FractionalGaussianNoise", "AR1", "DampedCosine", "RationalQuadratic"}


@dataclass(frozen=True)
class MovingAverage(p.Process):
    """y_t = η_t + weight η_{t−1}: a family that the package does not have."""

    weight: float = 0.5

    def _sequence(self, n):
        return np.r_[1 + self.weight**2, self.weight, np.zeros(n)][:n]


def test_a_new_family_is_one_class_and_one_line(monkeypatch):
    monkeypatch.setitem(p.REGISTRY, "MovingAverage", MovingAverage)
    process = p.make_process("MovingAverage", weight=0.4)
    assert process == MovingAverage(0.4) and "MovingAverage" not in p.FAMILIES
    with pytest.raises(ValueError, match="expected one of 'weight'"):
        p.make_process("MovingAverage", phi=0.4)
    arch = cc.Hierarchical(channels=2, n_layers=3)
    found = cc.fit(arch, process)
    assert found.converged and found.loss < 1e-20  # κ = n: every target can be had
    allocation = cc.allocate(arch, found.params, process)
    assert allocation.total == allocation.generic_total == 8
    assert_allclose(allocation.per_input, 1)
