"""Scales from 1e-300 to 1e300: what a function of weights must give at all of them, and which functions there are."""

import inspect
import warnings

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

BOUND = 1e-9
"""Relative; logarithms near ±700 have an absolute error of 1e-13, and gaps between them are some 1e-3 and more."""
ORDINARY = 100
"""Up to 2^±100, some 1e±30, nothing may be refused."""


def at_all_scales(test):
    """``test`` with every k from −996 to 996 for its argument ``k``: a scale 2^k, 1e-300 to 1e300."""
    tried = given(k=st.integers(-996, 996))(test)
    for k in (-996, -540, -500, -ORDINARY, -1, 0, 1, ORDINARY, 500, 540, 996):
        tried = example(k=k)(tried)
    return settings(max_examples=12, deadline=None)(tried)


def right_or_refused(compute, check, ordinary=True):
    """``compute()`` passes ``check``, or is refused by an error that says what was found; never at ordinary scale."""
    refusal = ""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            found = compute()
        except ValueError as error:
            refusal = str(error)
    if not refusal:
        check(found)
    else:
        assert not ordinary, f"refused at ordinary scale: {refusal}"
        assert "found" in refusal


def equals(expected, relative=BOUND):
    """A check: finite, and equal to ``expected`` within ``relative`` of its largest entry, or the least normal number.

    What is beyond double precision can only be refused.
    """
    expected = np.asarray(expected, float)
    size = float(np.abs(expected).max(initial=0.0))

    def check(found):
        found = np.asarray(found, float)
        assert np.isfinite(found).all() and np.isfinite(expected).all()
        tolerance = max(relative * size, np.finfo(float).tiny)  # the smallest normal number: below it digits end
        assert found.shape == expected.shape
        assert float(np.abs(found - expected).max(initial=0.0)) <= tolerance

    return check


def functions(package):
    """Names of the package's public functions."""
    return {name for name in package.__all__ if inspect.isfunction(getattr(package, name))}
