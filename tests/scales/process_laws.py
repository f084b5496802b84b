"""Laws of processes: what a change of units does to covariances, predictors and the fits to them."""

import numpy as np

import capcore as cc
from capcore import processes
from capcore.fitting import variable_projection as vp
from capcore.processes import multivariate, time_series, toeplitz
from tests.scales.laws import LAGS, RECURRENT, ROUNDING, TASK


def covariances(make):
    """A process whose covariance is s times that at s = 1."""

    def law(s):
        found, expected = make(s), make(1.0)
        yield found.autocovariance(9), s * expected.autocovariance(9), ROUNDING
        yield found.covariance(8), s * expected.covariance(8), ROUNDING
        yield found.predictor(8)[0], expected.predictor(8)[0], ROUNDING
        yield found.predictor(8)[1], s * expected.predictor(8)[1], ROUNDING

    return law


def recursion(s):
    first, second = (toeplitz.levinson_durbin(LAGS * x) for x in (1.0, s))
    yield second.predictor, first.predictor, ROUNDING
    yield second.variances, s * first.variances, ROUNDING
    found = toeplitz.condition_bound(LAGS * s, first.predictor, first.variances[-1] * s)
    yield found, toeplitz.condition_bound(LAGS, first.predictor, first.variances[-1]), ROUNDING
    found = toeplitz.autocovariance_from_predictor(first.predictor, first.variances[-1] * s, 9)
    yield found, LAGS * s, ROUNDING
    yield processes.check_positive_definite(LAGS * s)[0], first.predictor, ROUNDING


def own_covariance(s):
    """The inputs in other units: their variance is s times as large, what is predicted stays."""
    sigma, cross = TASK.covariance(4), TASK.autocovariance(5)[1:]
    found, expected = (cc.FromCovariance(sigma * x * x, cross=cross * x, variance=9.0) for x in (s, 1.0))
    yield found.target, expected.target / s, ROUNDING
    yield found.variance, expected.variance, ROUNDING


def weighted(s):
    """The target is s times as large; the inputs stay."""
    found, expected = (cc.Independent([cc.AR1(0.5), cc.AR1(0.8)], [x, 2 * x]) for x in (s, 1.0))
    yield found.predictor(4)[0], s * expected.predictor(4)[0], ROUNDING
    yield found.predictor(4)[1], s * s * expected.predictor(4)[1], ROUNDING


def mixed(s):
    """Inputs and target are s times as large: the coefficients stay."""
    found, expected = (multivariate.Mixed([cc.AR1(0.5), cc.AR1(0.8)], np.eye(2) * x) for x in (s, 1.0))
    yield found.predictor(4)[0], expected.predictor(4)[0], ROUNDING
    yield found.predictor(4)[1], s * s * expected.predictor(4)[1], ROUNDING
    yield found.covariance(4), s * s * expected.covariance(4), ROUNDING


def pencil(s):
    """The poles of a target do not depend on its scale."""
    target = 0.5 ** np.arange(8) + 2 * 0.25 ** np.arange(8)
    yield vp.hankel_rank(target * s), 2, 0
    yield vp.hankel_svd(target * s)[1][:2], s * vp.hankel_svd(target)[1][:2], ROUNDING
    yield vp.real_poles(vp.pencil_poles(target * s, 2), 2), [0.5, 0.25], 1e-9


def poles(search):
    """The process in other units: the optimum stays."""

    def law(s):
        target, root = TASK.predictor(12)[0], np.linalg.cholesky(TASK.covariance(12)).T
        found, expected = search(target, root * np.sqrt(s)), search(target, root)
        yield RECURRENT.coefficients(found.params), RECURRENT.coefficients(expected.params), 1e-5  # a flat minimum
        yield found.history[-1] / s, expected.history[-1], 1e-6

    return law


def features(s):
    bare = cc.Hermite(2)
    phi = cc.features.Recombined(bare, s * np.eye(2))
    yield phi(0.5), s * bare(0.5), ROUNDING
    yield phi.second_moment(), s * s * bare.second_moment(), ROUNDING


def feature_process(s):
    process, bare = cc.FromAutocovariance(LAGS * s), cc.Hermite(2)
    yield cc.FeatureProcess(process, bare).predictor(4)[0], cc.FeatureProcess(TASK, bare).predictor(4)[0], ROUNDING


def series(s):
    values = np.random.default_rng(0).normal(size=400)
    expected = cc.estimate_process(values, 4).autocovariance(5)
    yield cc.estimate_process(values * s, 4).autocovariance(5), expected * s * s, ROUNDING
    drawn, again = (time_series.sieve_bootstrap(values * x, 4, 1, seed=1)[0] for x in (1.0, s))
    yield again.autocovariance(5), drawn.autocovariance(5) * s * s, 1e-8
