"""The public names that the book, the tests and users build on: each exists, and does what its name says.

Comes with the two verbs, and is no part of this edition: ``method`` of ``allocate``, a fit in place of its parameters,
fits of any size by ``fit``, and ``per_octave``, ``edges``, ``error`` and ``method`` of what ``allocate`` returns.
"""

import inspect

import numpy as np
import pytest

import capcore as cc

PROCESSES = {
    "PowerLaw": {"exponent": 0.5},
    "FractionalGaussianNoise": {"hurst": 0.7},
    "AR1": {"phi": 0.5},
    "DampedCosine": {"decay": 20.0, "period": 8.0},
    "RationalQuadratic": {"scale": 1.0, "alpha": 0.5},
}


@pytest.fixture(scope="module")
def process():
    return cc.PowerLaw(exponent=0.5)


@pytest.fixture(scope="module")
def arch():
    return cc.Hierarchical(channels=2, n_layers=3, kernel_size=2)


@pytest.fixture(scope="module")
def fit(arch, process):
    return cc.fit(arch, process, rng=np.random.default_rng(0), method="auto")


@pytest.mark.parametrize("name", PROCESSES)
def test_processes(name):
    process = getattr(cc, name)(**PROCESSES[name])
    assert process.autocovariance(4).shape == (4,)
    assert process.covariance(4)[0].tolist() == process.autocovariance(4).tolist()  # lag 0 first
    target, variance = process.predictor(4)
    assert target.shape == (4,) and 0 < variance <= process.autocovariance(1)[0]


def test_architectures(arch):
    assert (arch.n_inputs, arch.n_params) == (8, 16) and list(arch.layers) == ["layer 1", "layer 2", "layer 3"]
    params = arch.init(np.random.default_rng(0))
    assert arch.coefficients(params).shape == (8,) and arch.jacobian(params).shape == (8, 16)
    assert arch.generic_capacity() == 8
    assert cc.Hierarchical(channels=[2, 3], kernel_size=2, dilations=[1, 2, 1], input_dim=2).n_inputs == 5
    assert inspect.signature(cc.Hierarchical).parameters["dilations"].default is None
    assert inspect.signature(cc.Hierarchical).parameters["input_dim"].default == 1
    assert cc.Recurrent(n_inputs=64, channels=4).n_params == 12


def test_fits(arch, process, fit):
    assert fit.params.shape == (16,) and fit.loss >= 0 and fit.n_iterations >= 0
    assert fit.converged is True and fit.gradient_norm < 1e-6
    for method in ("gauss-newton", "l-bfgs-b"):
        assert cc.fit(arch, process, method=method).params.shape == (16,)


def test_constraint_spaces():
    space = cc.ConstraintSpace.from_columns(np.eye(4)[:, :2])
    other = cc.ConstraintSpace.from_columns(np.eye(4)[:, 1:3])
    assert space.dimension == 2 and space.basis.shape == (4, 2) and space.singular_values.shape == (2,)
    assert space.capacity(np.eye(4)[:, 0]) == pytest.approx(1)
    assert space.per_input(group=2).tolist() == pytest.approx([2, 0])
    assert space.given(other).dimension == 1 and (space + other).dimension == 3


def test_allocations(arch, process, fit):
    alloc = cc.allocate(arch, fit.params, process)
    assert (alloc.total, alloc.generic_total) == (8, 8)
    for each in (alloc.per_input, alloc.per_eigenvector, alloc.per_frequency):
        assert each.sum() == pytest.approx(8)
    assert list(alloc.layers) == list(arch.layers)
