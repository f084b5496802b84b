"""Processes of a covariance function of one's own, and of scikit-learn's kernels."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels

import capcore as cc
from capcore.processes.kernels import as_task
from tests.strategies import refused

ARCH = cc.Hierarchical(channels=2, n_layers=3)


def stepped(lag):
    """A function of one number: an array has no truth."""
    return 1.0 if lag == 0 else 0.25 if lag < 1.5 else 0.0


@pytest.mark.parametrize(
    ("kernel", "spacing", "expected"),
    [
        (lambda lag: np.exp(-lag), 1.0, np.exp([0, -1, -2])),
        (lambda lag: math.exp(-lag), 0.5, np.exp([0, -0.5, -1])),
        (stepped, 1.0, [1, 0.25, 0]),
        (lambda lag: np.array([math.exp(-lag)]).item(), 2.0, np.exp([0, -2, -4])),
        (np.vectorize(stepped), 1.0, [1, 0.25, 0]),
    ],
    ids=["of arrays", "of numbers", "with an if", "another spacing", "vectorised"],
)
def test_it_is_the_function_at_the_lags(kernel, spacing, expected):
    process = cc.FromKernel(kernel, spacing)
    assert_allclose(process.autocovariance(3), expected, rtol=1e-14)
    assert_allclose(process.autocovariance(40)[:3], expected, rtol=1e-14)


def test_a_function_that_changes_its_argument_changes_nothing():
    def careless(lags):
        lags += 1
        return 1 / lags

    assert_allclose(cc.FromKernel(careless).autocovariance(3), [1, 1 / 2, 1 / 3])


def test_it_is_the_family_with_the_same_autocovariance():
    made, family = cc.FromKernel(lambda lag: (1 + lag) ** -0.5), cc.PowerLaw(0.5)
    assert_allclose(made.predictor(32)[0], family.predictor(32)[0])
    assert cc.fit(ARCH, made).loss < 1e-20
    arch = cc.Hierarchical(channels=2, n_layers=9)  # beyond the dense methods
    assert cc.fit(arch, made).loss == pytest.approx(cc.fit(arch, family).loss, rel=1e-6)


KERNELS = [
    kernels.RBF(0.8),
    kernels.Matern(length_scale=3.0, nu=1.5),
    kernels.RationalQuadratic() * kernels.ConstantKernel(2.0),
    kernels.Matern(nu=0.5) + kernels.WhiteKernel(0.1),
    kernels.WhiteKernel(2.0),
    kernels.ExpSineSquared(periodicity=7.3) * kernels.RBF(5.0) + kernels.WhiteKernel(0.01),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_kernel_of_scikit_learn_has_its_own_matrix(kernel):
    """White noise included, which those kernels have on the diagonal of k(X) alone."""
    assert_allclose(as_task(kernel).covariance(9), kernel(np.arange(9.0)[:, None]), rtol=1e-13, atol=1e-15)
    assert_allclose(cc.FromKernel(kernel, 0.5).covariance(9), kernel(np.arange(9.0)[:, None] / 2), rtol=1e-13)


def test_a_kernel_stands_for_a_process_in_both_verbs():
    kernel = kernels.Matern(length_scale=2.0, nu=0.5)
    process = cc.AR1(math.exp(-0.5))
    found, expected = cc.fit(ARCH, kernel), cc.fit(ARCH, process)
    assert_allclose(found.coefficients, expected.coefficients, atol=1e-8)
    allocated = cc.allocate(ARCH, found, kernel)
    assert_allclose(allocated.per_input, cc.allocate(ARCH, found, process).per_input, atol=1e-8)


test_what_is_no_kernel = refused(
    cc.FromKernel,
    (kernels.DotProduct(), r"depends on the place.*cc\.FromCovariance\(sigma"),
    (kernels.RBF() + kernels.DotProduct(), "depends on the place"),
    (kernels.RBF([1.0, 2.0]), "found ValueError.*expected a number for each.*one argument, the lag"),
    (lambda a, b: np.exp(-abs(a - b)), "TypeError.*expected a number for each: give a function of one"),
    (lambda lag: np.full((4, 4), lag[0]), "found .*expected"),
    (lambda lag: np.nan, "NaN"),
    (lambda lag: "one", "kernel: found text"),
    (lambda lag: 1j * lag, "complex"),
)


test_what_is_no_kernel_by_type = refused(
    cc.FromKernel,
    (kernels.RBF, "found the class RBF, expected a function of the lag"),
    (np.eye(3), "found ndarray, expected a function of the lag"),
    (cc.PowerLaw(), "found PowerLaw, expected a function of the lag"),
    error=TypeError,
)


def test_a_kernel_that_is_no_covariance_is_refused_where_it_is_used():
    process = cc.FromKernel(lambda lag: np.where(lag < 3, 1 - 0.1 * lag, 0.9))
    with pytest.raises(ValueError, match="not positive definite"):
        cc.fit(ARCH, process)
    with pytest.raises(ValueError, match="spacing: found 0, expected a positive number"):
        cc.FromKernel(np.exp, 0)
