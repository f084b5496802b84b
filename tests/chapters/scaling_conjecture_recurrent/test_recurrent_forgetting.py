"""Forgetting step by step: conservation, the geometric law, and its half-life."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.scaling_conjecture_recurrent.recurrent_forgetting import forget


@given(st.integers(2, 40), st.floats(0.01, 1.0), st.floats(0.0, 0.5))
def test_every_share_of_leak_and_spread_forgets_geometrically(n_steps, leak, spread):
    found = forget(n_steps, leak * n_steps, n_positions=5, diffusion=spread * n_steps)
    assert found.gap < 1e-14 * n_steps and found.total == pytest.approx(1, abs=1e-13)
    np.testing.assert_allclose(found.per_lag, leak * (1 - leak) ** np.arange(n_steps), atol=1e-14)


def test_the_half_life_is_exact_between_lags():
    found = forget(64, 8.0)
    assert found.half_life == pytest.approx(np.log(0.5) / np.log(1 - 8 / 64), rel=1e-12)
    assert forget(8, 0.1).half_life == np.inf


@pytest.mark.parametrize(
    ("message", "arguments"),
    [("alpha: found 0", (4, 0.0)), ("alpha: found 5", (4, 5.0)), ("diffusion: found 3", (4, 1.0, 4, 3.0))],
)
def test_refused(message, arguments):
    with pytest.raises(ValueError, match=message):
        forget(*arguments)
