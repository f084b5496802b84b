"""What is no process, in the place of one: every refusal names the door through which that comes in."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import kernels

import capcore as cc
from capcore.fitting import optimum
from capcore.large.fft import covariance_product
from capcore.large.quadratic import ToeplitzProblem

ARCH = cc.Hierarchical(channels=2, n_layers=3)
PARAMS = ARCH.init(np.random.default_rng(0))
SIGMA = cc.PowerLaw().covariance(8)
MATRIX, SERIES, NAME = r"cc\.FromCovariance\(sigma", r"cc\.estimate_process\(series.*cc\.FromAut", r"cc\.make_process"
DOORS = {
    "a matrix": (SIGMA, rf"an array of shape \(8, 8\).*{MATRIX}"),
    "a list of lists": (SIGMA.tolist(), rf"list of shape \(8, 8\).*{MATRIX}"),
    "a table": (pd.DataFrame(SIGMA), rf"DataFrame of shape \(8, 8\).*{MATRIX}"),
    "a series": (SIGMA[0], rf"an array of shape \(8,\).*{SERIES}"),
    "a list": (SIGMA[0].tolist(), rf"list of shape \(8,\).*{SERIES}"),
    "a pandas series": (pd.Series(SIGMA[0]), rf"Series of shape \(8,\).*{SERIES}"),
    "a masked series": (np.ma.array(SIGMA[0]), rf"shape \(8,\).*{SERIES}"),
    "a function": (lambda lag: 0.5**lag, r"function.*cc\.FromKernel\(function\)"),
    "a function of NumPy": (np.exp, r"ufunc.*cc\.FromKernel\(function\)"),
    "a name": ("PowerLaw", f"str, .*{NAME}"),
    "a path": ("series.csv", r"str, .*pandas.read_csv"),
    "a class": (cc.PowerLaw, r"the class PowerLaw.*PowerLaw\(…\)"),
    "a class of another library": (kernels.RBF, r"the class RBF.*RBF\(…\)"),
    "a model": (ARCH, r"Hierarchical.*fit\(arch, process\)"),
    "a fit": (cc.fit(ARCH, cc.PowerLaw()), r"Fit.*allocate\(arch, params, process\)"),
    "a number": (0.5, r"float, expected a Process, such as PowerLaw\(0\.5\)"),
    "nothing": (None, r"NoneType, expected a Process, such as PowerLaw\(0\.5\)"),
    "a dictionary": ({}, "dict, expected a Process"),
    "a ragged list": ([[1.0], [1.0, 2.0]], "list, expected a Process"),
}
PLACES = {
    "fit": lambda x: cc.fit(ARCH, x),
    "allocate": lambda x: cc.allocate(ARCH, PARAMS, x),
    "allocate by sketch": lambda x: cc.allocate(ARCH, PARAMS, x, method="sketch"),
    "fit by dense methods": lambda x: optimum.fit(ARCH, x),
    "Problem.of": lambda x: cc.Problem.of(ARCH, x),
    "Independent": lambda x: cc.Independent([cc.AR1(), x]),
    "FeatureProcess": lambda x: cc.FeatureProcess(x, cc.Hermite(2)),
    "products with Σ": lambda x: covariance_product(x, 8),
    "large problems": lambda x: ToeplitzProblem.of(x, 8),
}


@pytest.mark.parametrize("what", DOORS)
def test_a_refusal_names_the_door(what):
    value, message = DOORS[what]
    for place, call in PLACES.items():
        with pytest.raises(TypeError) as refused:
            call(value)
        said = str(refused.value)
        name = r"(task|process|components\[1\])"
        assert re.match(f"{name}: found ", said) and re.search(message, said), f"{place}: {said}"


def test_the_doors_open():
    series = np.random.default_rng(0).normal(size=400)
    for made in (
        cc.FromCovariance(SIGMA, cross=cc.PowerLaw().autocovariance(9)[1:]),
        cc.estimate_process(series, 8),
        cc.FromAutocovariance(cc.PowerLaw().autocovariance(9)),
        cc.FromKernel(lambda lag: 1 / (1 + lag)),
        cc.make_process("PowerLaw"),
        kernels.RBF(),
    ):
        assert cc.allocate(ARCH, cc.fit(ARCH, made), made).total == 8


@pytest.mark.parametrize("place", PLACES)
def test_a_kernel_of_another_library_is_taken_everywhere(place):
    PLACES[place](kernels.Matern(length_scale=2.0, nu=0.5))


def test_a_problem_is_no_process():
    problem = cc.FromCovariance(SIGMA, cross=np.ones(8))
    for place in ("Independent", "FeatureProcess", "large problems"):
        with pytest.raises(TypeError, match="found Problem, expected"):
            PLACES[place](problem)
