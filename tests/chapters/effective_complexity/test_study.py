"""Measures of networks that learn digits, the factorial, and the stored experiment that a rerun must give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.effective_complexity import experiment, factorial, region_counts, study
from chapters.effective_complexity.experiment import plain
from chapters.effective_complexity.images import PLACES, images
from chapters.effective_complexity.study import Stored
from tests.strategies import seeds

pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def stored():
    return Stored()


def test_the_points_are_what_they_are_said_to_be():
    data = images()
    assert data.x.shape == (600, 64) and data.x_test.shape == (360, 64)
    assert {name: len(points) for name, points in data.places.items()} == dict.fromkeys(PLACES, 360)
    rows = {tuple(row) for row in data.x}
    assert all(tuple(row) in rows for row in data.places["training"])
    assert not any(tuple(row) in rows for row in data.places["pixels"])
    labels = {tuple(row): y for row, y in zip(data.x_test, data.y_test, strict=True)}
    assert all(labels[tuple(a)] != labels[tuple(b)] for a, b in zip(data.starts, data.ends, strict=True))
    moved = experiment.shuffled(data.y, 3)
    assert sorted(moved) == sorted(data.y) and 0.05 < np.mean(moved == data.y) < 0.15  # one in ten by chance


def test_runs_of_one_seed_start_alike():
    data = images()
    _, networks, targets = experiment.trained(data, [4, 4], ["right", "shuffled"], n_epochs=1, snapshots=[0])
    np.testing.assert_array_equal(networks[0][0].weights[0], networks[0][1].weights[0])
    assert not np.array_equal(networks[1][0].weights[0], networks[1][1].weights[0])
    np.testing.assert_array_equal(targets[0], data.y)


@given(seeds, st.integers(2, 4))
def test_shares_add_up(seed, n_seeds):
    rng = np.random.default_rng(seed)
    design = factorial.Factorial({"noise": rng.normal(size=(2, 2, 2, 2, n_seeds))})
    assert sum(design.shares()["noise"].values()) == pytest.approx(1)
    assert 0 <= design.structure_share()["noise"] <= 1


def test_effects_are_found_where_they_are_put():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(2, 2, 2, 2, 5))
    y[:, 1] += 4  # size alone
    y[:, :, 1, 1] += 4  # optimisation and data together
    design = factorial.Factorial({"a": y})
    assert [bool(design.moved(factor)) for factor in factorial.FACTORS] == [False, True, True, True]
    shares = design.shares()["a"]
    assert shares["size"] > 0.4 and shares["framework"] < 0.05
    assert design.structure_share()["a"] == pytest.approx(shares["size"], abs=0.05)


def test_the_f_test_keeps_its_level():
    rng = np.random.default_rng(1)
    found = np.mean([factorial.p_value(rng.normal(size=(2, 2, 2, 2, 3)), 1) < 0.05 for _ in range(800)])
    assert found == pytest.approx(0.05, abs=0.03)  # four standard errors
    with pytest.raises(ValueError, match=r"values: found shape \(2, 3, 4\), expected \(2, …, 2, n_seeds\)"):
        factorial.p_value(np.ones((2, 3, 4)), 0)


def test_a_loss_that_is_not_reached_is_said():
    with pytest.raises(RuntimeError, match=r"n_epochs: found 1, expected more: run 0"):
        experiment.at_equal_loss(images(), 2, n_epochs=1)


def test_summaries(stored):
    ratios = study.place_ratios(stored.along["relu"]["right"], "probabilities")
    assert ratios.shape == (4, 3) and np.all(np.diff(ratios, axis=1) > 0)
    assert len(study.overview(stored)) == len(study.ROWS)


def test_fisher_routes():
    rng = np.random.default_rng(2)
    assert study.closed_form_difference(3, rng) < 1e-10
    assert study.one_pass_difference(4, rng) < 1e-10
    assert study.rescaling_difference(2, rng) < 1e-10


def test_tangent_counts():
    counts = region_counts.Counts(8, 0.1, 3)
    assert counts.error <= 1 + 1e-6 and counts.bound.max() <= 1
    assert np.allclose(counts.one_layer, 1) and counts.two_layers.max() < 1
    assert counts.plane[0] == counts.plane[1] < counts.plane[2]
    dims, formula, exact = region_counts.one_layer_curves(6, 3)
    assert dims.tolist() == [1, 2, 3, 4, 5, 6] and exact[-1] == pytest.approx(6 * np.log(3))
    assert exact[0] == pytest.approx(formula[0]) and np.all(exact[1:] < formula[1:])


def test_plain_values():
    assert plain({"a": np.array([1 / 3]), "b": [2]}) == {"a": [0.3333333], "b": [2.0]}
