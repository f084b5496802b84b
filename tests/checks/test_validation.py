"""Checks at the boundary: what passes, what is refused, and that the message helps."""

from fractions import Fraction

import numpy as np
import pytest

from capcore.checks.arguments import finite_array, finite_number, one_of, positive_integer
from tests.strategies import refused


@pytest.mark.parametrize("value", [1, 7, np.int64(3), np.uint8(2)])
def test_whole_numbers_pass_and_become_ints(value):
    result = positive_integer(value, "n")
    assert result == value and type(result) is int


@pytest.mark.parametrize("value", [0, -3, 2.0, "2", None, True, np.float64(2), [2], np.nan])
def test_everything_else_is_refused_as_a_whole_number(value):
    with pytest.raises(ValueError, match=r"^n_layers: found .*, expected a whole number of at least 1"):
        positive_integer(value, "n_layers")


def test_minimum_is_inclusive():
    assert positive_integer(0, "n", minimum=0) == 0
    with pytest.raises(ValueError, match=r"found -1, expected a whole number of at least 0"):
        positive_integer(-1, "n", minimum=0)


@pytest.mark.parametrize("value", [0, -1.5, np.float32(2), Fraction(1, 3), 10**300])
def test_real_numbers_pass_and_become_floats(value):
    result = finite_number(value, "x")
    assert result == float(value) and type(result) is float


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 10**400, True, "1", None, 1j, [1.0]])
def test_everything_else_is_refused_as_a_number(value):
    with pytest.raises(ValueError, match=r"^phi: found .*, expected a share"):
        finite_number(value, "phi", "a share")


def test_arrays_are_copied_as_floats():
    given = np.array([1.0, 2.0])
    read = finite_array(given, "x", 1)
    read[0] = 5
    assert given[0] == 1 and finite_array([[1, 2]], "x", (1, 2)).dtype == float


test_unusable_arrays_are_refused = refused(
    lambda values: finite_array(values, "target", 1),
    ([], ["target: ", "empty", "(0,)", "at least one"]),
    (3.0, ["shape ()", "expected 1"]),
    ([[1.0]], ["shape (1, 1)", "expected 1 dimension"]),
    ([1, np.nan, 3, np.inf], ["2 value(s)", "(1,)", "finite"]),
    ([1, 2j], ["real numbers", "complex"]),
    (["a"], ["real numbers"]),
    ([[1], [1, 2]], ["real numbers"]),
    ([1, object()], ["real numbers"]),
)


def test_choices_name_the_closest():
    assert one_of("b", "x", ["b", "a"]) == "b"
    with pytest.raises(
        ValueError, match=r"found 'PowrLaw', expected one of 'AR1', 'PowerLaw'. Did you mean 'PowerLaw'"
    ):
        one_of("PowrLaw", "process", ["PowerLaw", "AR1"])
    with pytest.raises(ValueError, match=r"found 3, expected one of 'a'\.$"):
        one_of(3, "x", ["a"])
