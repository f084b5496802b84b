"""Objects of libraries that the lock has not, against what the libraries compute. The extended checks install them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import capcore as cc
from capcore.processes.kernels import as_task

ARCH = cc.Hierarchical(channels=2, n_layers=3)
POINTS = np.arange(8.0)


class Arma:
    """What is asked of an ``ArmaProcess`` of statsmodels: y_t = ½ y_{t−1} + η_t."""

    isstationary = True

    def acovf(self, nobs=None):
        return 0.5 ** np.arange(nobs) / 0.75


class Both:
    """What is asked of a kernel of tinygp, but not by the name of a kernel that is there."""

    def evaluate(self, a, b):
        return np.exp(-abs(a - b))

    evaluate_diag = evaluate


def test_an_object_is_known_by_what_it_offers():
    assert as_task(Arma()).autocovariance(3) == pytest.approx([4 / 3, 2 / 3, 1 / 3])
    assert cc.fit(ARCH, Arma()).loss < 1e-20
    assert "at 0x" not in repr(as_task(Arma()))
    with pytest.raises(TypeError, match="the class Arma"):
        cc.fit(ARCH, Arma)
    with pytest.raises(TypeError, match="kernel: found Both, expected a function of the lag"):
        cc.fit(ARCH, Both())


def test_models_of_statsmodels():
    arma = pytest.importorskip("statsmodels.tsa.arima_process").ArmaProcess
    model = arma([1, -0.5], [1, 0.4])
    expected = np.array([1 + 0.9**2 / 0.75, 0.9 + 0.5 * 0.9**2 / 0.75])  # ψ = 1, 0.9, 0.45, …
    assert_allclose(as_task(model).autocovariance(2), expected, rtol=1e-12)
    assert_allclose(as_task(model).autocovariance(9), model.acovf(9))
    assert as_task(arma([1], [1])).autocovariance(4).tolist() == [1, 0, 0, 0]
    assert cc.fit(ARCH, model).loss < 1e-20
    with pytest.raises(ValueError, match="expected a stationary process"):
        cc.fit(ARCH, arma([1, -1.5], [1]))


def test_kernels_of_tinygp():
    kernels = pytest.importorskip("tinygp").kernels
    for kernel in (kernels.Matern32(scale=2.0) + 1.5 * kernels.Exp(3.0), kernels.quasisep.Matern32(scale=2.0)):
        found = as_task(kernel).covariance(8)
        assert_allclose(found, kernel(POINTS, POINTS), rtol=1e-5)  # theirs is in single precision
        assert cc.fit(ARCH, kernel).loss < 1e-20
    assert_allclose(cc.FromKernel(kernels.Exp(3.0), 0.5).autocovariance(3), np.exp(-np.arange(3) / 6), rtol=1e-14)
    with pytest.raises(ValueError, match=r"depends on the place.*cc\.FromCovariance"):
        cc.fit(ARCH, kernels.DotProduct())


def test_kernels_of_gpytorch():
    gpytorch = pytest.importorskip("gpytorch")
    import torch

    smooth = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=1.5))
    for kernel in (smooth, smooth + gpytorch.kernels.RQKernel(), gpytorch.kernels.PeriodicKernel() * smooth):
        expected = kernel(torch.as_tensor(POINTS)[:, None].float()).to_dense().detach().numpy()
        assert_allclose(as_task(kernel).covariance(8), expected, rtol=1e-4, atol=1e-6)  # single precision
        assert cc.fit(ARCH, kernel).loss < 1e-20
        assert next(kernel.parameters()).dtype == torch.float32
    with pytest.raises(ValueError, match=r"depends on the place.*cc\.FromCovariance"):
        cc.fit(ARCH, gpytorch.kernels.LinearKernel())
