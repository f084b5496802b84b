import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapters.claims.criteria import ClaimsError, Criterion, digits, plain


@pytest.mark.parametrize(
    ("test", "passing", "failing"),
    [
        ({"at_most": 1e-10}, [0, 1e-10, -3.0], [1.1e-10, 1]),
        ({"at_least": 0.5}, [0.5, 2], [0.49]),
        ({"between": [1.5, 2]}, [1.5, 1.7, 2], [1.49, 2.01]),
        ({"equals": 48}, [48, 48.0], [47, 48.5]),
        ({"equals": [7, 20]}, [[7, 20]], [[20, 7], [7], 7]),
        ({"is_true": True}, [True], [False]),
    ],
)
def test_holds_on_either_side_of_the_bound(test, passing, failing):
    criterion = Criterion.read(test)
    assert all(criterion.holds(value) for value in passing)
    assert not any(criterion.holds(value) for value in failing)
    assert Criterion.read(criterion.as_mapping()) == criterion


@pytest.mark.parametrize(
    "test",
    [
        None,
        {},
        {"at_most": 1, "at_least": 0},
        {"less_than": 1},
        {"at_most": "1e-10"},
        {"at_most": float("nan")},
        {"at_most": True},
        {"between": [2, 1]},
        {"equals": 0.5},
        {"equals": []},
        {"is_true": False},
    ],
)
def test_refuses_what_the_vocabulary_lacks(test):
    with pytest.raises(ClaimsError, match="expected"):
        Criterion.read(test)


@pytest.mark.parametrize(
    ("test", "value"),
    [({"is_true": True}, 1), ({"at_most": 1}, True), ({"at_least": 1}, [1]), ({"equals": 1}, True)],
)
def test_refuses_a_value_it_cannot_judge(test, value):
    with pytest.raises(ClaimsError, match="expected"):
        Criterion.read(test).holds(value)


@pytest.mark.parametrize(
    ("test", "value", "varies", "shown"),
    [
        ({"at_most": 1e-10}, 2.3e-16, False, "below 1e-10"),
        ({"at_most": 1e-10}, 0.012345, False, 0.0123),
        ({"at_least": -1e-12}, -3e-17, False, "above -1e-12"),
        ({"at_least": -1e-12}, 0.0731876, False, 0.0732),
        ({"at_most": 1e-12}, -0.2045127, False, -0.205),
        ({"at_most": 1e-12}, 0.0, False, "below 1e-12"),
        ({"at_least": 1e-8}, 3e-17, False, "below 1e-8"),
        ({"at_least": 1e-8}, 3.14159e-5, False, 3.14e-5),
        ({"at_most": 0.0}, 0.0, False, 0.0),
        ({"at_most": 0.5}, 0.123456, False, 0.123),
        ({"at_least": 0.5}, 0.4999446, False, 0.4999),
        ({"at_most": 0.5}, 0.5000446, False, 0.50004),
        ({"between": [1.98, 2.02]}, 1.979996, False, 1.979996),
        ({"equals": 48}, 47.9996, False, 47.9996),
        ({"at_most": 60.0}, 2.5, True, "below 60"),
        ({"at_most": 60.0}, 75, True, "above 60"),
        ({"at_least": 60.0}, 60.0, True, "above 60"),
        ({"equals": 525312}, 525312, False, 525312),
        ({"is_true": True}, True, False, True),
        ({"at_most": 1.0}, -0.0, False, 0.0),
    ],
)
def test_what_is_compared_between_machines_is_stable(test, value, varies, shown):
    stable = Criterion.read(test).stable(value, varies)
    assert repr(stable) == repr(shown)


NUMBERS = st.floats(-1e12, 1e12) | st.floats(-2, 2) | st.sampled_from([0.0, 0.5, 1e-12, -1e-12, 1e-10, 60.0])


@st.composite
def judged(draw):
    """A criterion and a number, often one that hardly differs from the bound."""
    kind = draw(st.sampled_from(["at_most", "at_least", "between", "equals"]))
    if kind == "between":
        low, high = sorted(draw(st.lists(NUMBERS, min_size=2, max_size=2, unique=True)))
        criterion, bounds = Criterion.read({kind: [low, high]}), [low, high]
    else:
        bounds = [draw(st.integers(-(10**6), 10**6) if kind == "equals" else NUMBERS)]
        criterion = Criterion.read({kind: bounds[0]})
    bound = draw(st.sampled_from(bounds))
    near = bound * (1 + draw(st.sampled_from([1, -1])) * 10.0 ** -draw(st.integers(1, 16)))
    beside = st.sampled_from([float(bound), near, math.nextafter(bound, -math.inf), math.nextafter(bound, math.inf)])
    return criterion, draw(beside | NUMBERS)


def outcome_of(found, limit):
    """What a reader of the two texts concludes."""
    if limit.startswith("in ["):
        low, high = limit.removeprefix("in [").removesuffix("]").split(", ")
        return float(low) <= float(found) <= float(high)
    sign, bound = limit.split()
    if found.startswith(("below", "above")):
        side, of = found.split()
        assert of == bound
        return (side == "below") == (sign == "≤")
    found, bound = float(found.replace(",", "")), float(bound.replace(",", ""))
    return {"≤": found <= bound, "≥": found >= bound, "=": found == bound}[sign]


@settings(max_examples=400)
@given(judged(), st.booleans())
def test_what_is_shown_gives_the_outcome(case, varies):
    criterion, value = case
    expected = criterion.holds(value)
    assert outcome_of(digits(criterion.rounded(value)), str(criterion)) == expected
    assert outcome_of(digits(criterion.stable(value, varies)), str(criterion)) == expected


@given(st.floats(1e-6, 1e6), st.sampled_from(["at_most", "at_least"]), st.sampled_from([1e-12, -1e-12, 1e-8, -1e-6]))
def test_a_number_beyond_the_tolerance_is_shown(value, kind, bound):
    criterion = Criterion.read({kind: bound})
    for number in (1.001 * value, -1.001 * value):
        assert criterion.stable(number) == pytest.approx(number, rel=0.006)


def test_round_off_of_two_machines_is_shown_alike():
    criterion = Criterion.read({"at_most": 1e-10})
    assert criterion.stable(1.1e-16) == criterion.stable(7.9e-15) == criterion.stable(0.0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array([7, 20]), [7, 20]),
        ([np.int64(7), 20], [7, 20]),
        (np.array(2.0), 2.0),
    ],
)
def test_numpy_values_become_plain(value, expected):
    found = plain(value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "0.5", None, [0.5], np.zeros(2), [], 1j])
def test_refuses_what_is_no_evidence(value):
    with pytest.raises(ClaimsError, match="gap: found"):
        plain(value, "gap")


def test_digits():
    assert [digits(value) for value in (True, 525312, 0.123456, 1e-10, 60.0, 12345.0, [7, 20], "below 1")] == [
        *("yes", "525,312", "0.123456", "1e-10", "60", "12345", "[7, 20]", "below 1")
    ]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_digits_give_the_number_back(value):
    assert float(digits(value)) == value
