"""Far lags as sums of exponentials: every lag to 1e-13 of c_0, or a refusal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import capcore as cc
from capcore.large.exponentials import NoExponentialsError, fit_exponentials, known_poles

FAMILIES = st.one_of(
    st.floats(0.02, 4).map(cc.PowerLaw),
    st.floats(0.05, 0.98).map(cc.FractionalGaussianNoise),
    st.floats(-0.9999, 0.9999).map(cc.AR1),
    st.builds(cc.DampedCosine, st.floats(1, 1000), st.floats(2, 1000)),
    st.builds(cc.RationalQuadratic, st.floats(0.3, 3), st.floats(0.2, 3)),
)


@given(FAMILIES, st.integers(1, 50_000), st.sampled_from([64, 512, 1000]))
def test_every_family_is_reproduced_at_every_far_lag(process: cc.Process, n: int, first: int) -> None:
    c = process.autocovariance(n)
    found = fit_exponentials(c, first, poles=known_poles(process))
    lags = np.arange(first, n)
    assert found.rates.size <= 110 and (found.rates.real > 0).all()
    values = (np.exp(-np.outer(lags - first, found.rates)) @ found.weights).real
    error = np.abs(values - c[first:]).max(initial=0)
    assert error <= 1e-13 * c[0]
    # Both are made of sums of the same terms in another order.
    assert abs(error - found.max_error * c[0]) < 1e-14


def test_nothing_left_is_an_empty_sum() -> None:
    for c, first in ((cc.AR1(0.5).autocovariance(5000), 512), (cc.PowerLaw().autocovariance(10), 10)):
        found = fit_exponentials(c, first)
        assert found.rates.size == 0 and found.max_error == 0


def test_a_kink_far_out_is_refused() -> None:
    c = cc.PowerLaw().autocovariance(4000)
    c[2000] += 1e-9
    with pytest.raises(NoExponentialsError, match="expected at most"):
        fit_exponentials(c, 512)
