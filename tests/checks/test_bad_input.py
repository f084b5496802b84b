"""What a reader may get wrong, from the outside: each is refused with what was found and what was expected."""

import numpy as np
import pytest

import capcore as cc
from tests.strategies import all_of

ARCH = cc.Hierarchical(channels=2, n_layers=3)
PARAMS = ARCH.init(np.random.default_rng(0))
PROCESS = cc.PowerLaw()
HOLE = np.where(np.eye(8) > 0, np.nan, 0.0)


def allocation():
    return cc.allocate(ARCH, PARAMS, PROCESS)


def problem(covariance):
    return cc.Problem(np.ones(8), covariance, np.eye(8), 1.0)


CASES = {
    "channels of zero": (lambda: cc.Hierarchical(0, 3), "channels: found 0", "at least 1"),
    "one channel of zero": (lambda: cc.Hierarchical([2, 0], 3), "channels[1]: found 0", "at least 1"),
    "recurrent channels of zero": (lambda: cc.Recurrent(4, 0), "channels: found 0", "at least 1"),
    "dilations of zero": (
        lambda: cc.Hierarchical([1, 1], 3, dilations=[1, 0, 2]),
        "dilations[1]: found 0",
        "at least 1",
    ),
    "kernels of zero": (lambda: cc.Hierarchical(1, 3, 0), "kernel_size: found 0", "at least 1"),
    "lists that disagree": (
        lambda: cc.Hierarchical([1, 1], 4),
        "n_layers: found n_layers = 4, the length of channels plus one = 3",
        "expected one number",
    ),
    "parameters that disagree": (lambda: cc.allocate(ARCH, PARAMS[1:], PROCESS), "found 15 values", "expected 16"),
    "a start that disagrees": (lambda: cc.fit(ARCH, PROCESS, start=np.ones(3)), "found 3 values", "expected 16"),
    "components that disagree": (
        lambda: cc.allocate(ARCH, PARAMS, cc.Independent([PROCESS, PROCESS])),
        "found 2 component(s)",
        "expected 1",
    ),
    "a problem that disagrees": (
        lambda: cc.allocate(ARCH, PARAMS, cc.Problem.of(cc.Hierarchical(2, 2), PROCESS)),
        "found a problem with 4",
        "expected 8",
    ),
    "a covariance that disagrees": (
        lambda: cc.allocate(ARCH, PARAMS, problem(np.eye(7))),
        "covariance: found a matrix of shape (7, 7)",
        "expected (8, 8)",
    ),
    "a covariance with NaN": (
        lambda: cc.allocate(ARCH, PARAMS, problem(HOLE)),
        "covariance: found 8 value(s) that are NaN",
        "expected finite",
    ),
    "a subspace without columns": (
        lambda: allocation().capacity(np.zeros((8, 0))),
        "subspace: found an empty array of shape (8, 0)",
        "expected at least one",
    ),
    "a subspace of dimension zero": (
        lambda: allocation().capacity(np.zeros((8, 2))),
        "subspace: found dimension 0",
        "expected at least one non-zero column",
    ),
    "a subspace that disagrees": (
        lambda: allocation().capacity(np.ones((7, 1))),
        "subspace: found 7 rows",
        "expected 8",
    ),
    "spaces that disagree": (
        lambda: cc.join([allocation().space, cc.ConstraintSpace.from_columns(np.eye(7))]),
        "spaces: found R^7 and R^8",
        "in the same R^n",
    ),
    "a series too short for its lag": (
        lambda: cc.estimate_process(np.arange(10.0), 8),
        "series: found 10 values",
        "expected at least 36",
        "Give a longer series",
    ),
    "an autocovariance too short for the window": (
        lambda: cc.allocate(ARCH, PARAMS, cc.FromAutocovariance([1.0, 0.5])),
        "autocovariance: found 2 lags",
        "expected at least 9",
        "Give a longer sequence",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_is_refused(case):
    attempt, *words = case
    with pytest.raises(ValueError, match=all_of(words)):
        attempt()


def test_a_matrix_is_no_process():
    with pytest.raises(TypeError, match=r"process: found an array .*expected a Process.*cc\.FromCovariance\(sigma"):
        cc.allocate(ARCH, PARAMS, np.eye(8))
