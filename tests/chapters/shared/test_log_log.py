import numpy as np
import pytest

from chapters.shared.log_log import fit_power


def test_it_agrees_with_numpy_on_noisy_points(rng):
    x = np.array([1, 2, 4, 8, 16.0])
    y = 3 * x**-2.5 * np.exp(rng.normal(0, 0.3, 5))
    exponent, log_prefactor = np.polyfit(np.log(x), np.log(y), 1)
    found = fit_power(x, y)
    assert found.exponent == pytest.approx(exponent)
    assert found.prefactor == pytest.approx(np.exp(log_prefactor))
    assert found.r_squared == pytest.approx(np.corrcoef(np.log(x), np.log(y))[0, 1] ** 2)


@pytest.mark.parametrize(
    ("x", "y"),
    [([1, 2, 4], [1, 0.5, 0.0]), ([1, 2], [1, 0.5]), ([2, 2, 2], [1, 2, 3]), ([1, 2, 4], [-1, 1, 1])],
    ids=["a zero", "two points", "one x", "a negative value"],
)
def test_no_line_explains_nothing(x, y):
    found = fit_power(x, y)
    assert found.r_squared == 0
    assert np.isnan(found.exponent)


def test_a_constant_is_explained_by_no_power():
    assert fit_power([1, 2, 4], [7, 7, 7]).r_squared == 0


def test_scale_changes_neither_exponent_nor_r_squared(rng):
    x, y = rng.random(9) + 0.1, rng.random(9) + 0.1
    a, b = fit_power(x, y), fit_power(1e3 * x, 1e-20 * y)
    assert a.exponent == pytest.approx(b.exponent)
    assert a.r_squared == pytest.approx(b.r_squared)


@pytest.mark.parametrize(
    ("x", "y", "message"), [([1, 2], [1], "y: found 1 values, expected 2"), ([0, 1], [1, 1], "x: found 0")]
)
def test_refusals(x, y, message):
    with pytest.raises(ValueError, match=message):
        fit_power(x, y)
