"""Known complexities, measured with few draws, and how they are written."""

import numpy as np

from capcore.complexity import complexity_of_errors
from chapters.double_descent import known_complexity as study


def test_least_squares_and_its_tolerance():
    rng = np.random.default_rng(0)
    assert study.largest_gap(study.of_least_squares([3, 8], 40, rng)) == 0
    (found,) = study.of_tolerances(10, [0.5], 60, rng).values()
    assert found.low <= 20 <= found.high


def test_separation():
    (found,) = study.of_separability([4], 60, np.random.default_rng(1)).values()
    assert found.low <= 8 <= found.high


def test_laws_pass_one_half_at_twice_the_parameters():
    for sizes, errors in study.laws(7, 7, 30).values():
        assert errors[sizes == 14] == 0.5 and (np.diff(errors) >= 0).all()


def test_features_by_two_criteria():
    found = study.of_features(20, ["right", "shuffled"], 3, np.random.default_rng(2))
    assert [each["squared"].value for each in found.values()] == [20, 20]
    assert found["right"]["zero-one"].value > found["shuffled"]["zero-one"].value >= 15


def test_complexities_as_text():
    assert study.as_text(complexity_of_errors({10: [0.0, 0.0], 20: [1.0, 1.0]}, epsilon=0.1)) == "10"
    assert study.as_text(complexity_of_errors({1000: [0.0, 0.0]}, epsilon=0.1)) == "1,000 or more"
    wide = complexity_of_errors({10: [0.0, 0.0], 20: [0.0, 0.1], 30: [0.0, 0.4], 40: [1.0, 1.0]}, epsilon=0.1)
    assert study.as_text(wide) == "20 (10 to 30)"


def test_the_largest_gap_has_no_sign():
    found = {12: complexity_of_errors({10: [0.0, 0.0], 20: [1.0, 1.0]}, epsilon=0.1)}
    assert study.largest_gap(found) == 2
