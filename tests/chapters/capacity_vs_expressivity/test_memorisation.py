"""Memorised labels: Cover's 2p for a linear model, procedures that know everything and nothing, bad input."""

import numpy as np
import pytest
from scipy.optimize import linprog

from chapters.capacity_vs_expressivity.memorisation import MemorisationCurve, fit_target, memorisation_curve
from chapters.capacity_vs_expressivity.targets import target


def separable(x, y):
    """Whether w with y_i w·x_i ≥ 1 for all i exists."""
    return linprog(np.zeros(x.shape[1]), -y[:, None] * x, -np.ones(len(y)), bounds=(None, None)).status == 0


def test_a_linear_model_separates_twice_its_parameters_in_half_of_all_cases():
    """Cover (1965): exactly ½ at n = 2p; 200 draws have a standard error of 0.035."""
    rng, p = np.random.default_rng(0), 8
    share = np.mean([separable(rng.normal(size=(2 * p, p)), rng.choice([-1.0, 1.0], 2 * p)) for _ in range(200)])
    assert share == pytest.approx(0.5, abs=4 * 0.036)


def least_squares(x, y, rng):
    w = np.linalg.lstsq(x, y, rcond=None)[0]
    return lambda new: new @ w


def test_least_squares_memorises_as_many_labels_as_it_has_parameters():
    """Up to p equations are solved exactly; at 4p it is far from all of them."""
    normal = lambda n, rng: rng.normal(size=(n, 16))  # noqa: E731
    curve = memorisation_curve(least_squares, normal, [4, 8, 16, 64, 256], 5, np.random.default_rng(0))
    assert curve.memorised(1.0) == 16 and not curve.at_edge and curve.monotone
    assert curve.medians[-1] < 0.75


def test_a_table_memorises_everything_and_learns_nothing():
    def table(x, y, rng):
        known = dict(zip(map(bytes, x), y, strict=True))
        return lambda new: np.array([known.get(bytes(each), -1.0) for each in new])

    normal = lambda n, rng: rng.normal(size=(n, 4, 3))  # noqa: E731
    rng = np.random.default_rng(0)
    assert memorisation_curve(table, normal, [8, 32], 2, rng).at_edge
    found = fit_target(table, target("order"), 100, 2_000, 3, rng)
    assert found.train.tolist() == [1, 1, 1]
    assert found.test == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(2_000))


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
