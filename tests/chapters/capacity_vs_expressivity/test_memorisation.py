"""Memorised labels: where capacity ends, and bad input."""

import pytest

from chapters.capacity_vs_expressivity.memorisation import MemorisationCurve


def test_capacity_stops_at_the_first_size_that_fails():
    curve = MemorisationCurve([2, 4, 8], [[1.0], [0.9], [1.0]])
    assert curve.memorised() == 2 and not curve.monotone
    assert MemorisationCurve([2], [[0.5]]).memorised() == 0


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("sizes: found .2.0, 4.0. for 1 rows", lambda: MemorisationCurve([2, 4], [[1.0]])),
        ("sizes: found .4.0, 2.0.", lambda: MemorisationCurve([4, 2], [[1.0], [1.0]])),
        ("accuracies: found 0 to 50", lambda: MemorisationCurve([4, 8], [[0.0], [50.0]])),
        ("threshold: found 0", lambda: MemorisationCurve([4], [[1.0]]).memorised(0)),
    ],
)
def test_bad_input(message, call):
    with pytest.raises(ValueError, match=message):
        call()
