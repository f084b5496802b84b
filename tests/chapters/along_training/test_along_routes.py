"""Second routes of the chapter on training and every measure: ranks without rounding, boundaries without lines."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.complexity import boundary_density, parameter_jacobian, parameter_rank, random_network
from chapters.along_training import along_routes as routes
from chapters.along_training import along_summaries as summaries
from chapters.along_training import study
from chapters.along_training.exact_rank import exact_rank
from chapters.along_training.jacobian_rank import participation_ratio, quick_rank
from chapters.along_training.stored_along import SETTINGS, Stored
from chapters.linear_regions.coarea import ball_points, coarea_density
from tests.strategies import seeds

pytest.importorskip("sklearn")
PATH = Path(__file__).resolve().parents[3] / "notebooks" / "results" / "along_training.json"


@pytest.fixture(scope="module")
def stored():
    return Stored(PATH)


@pytest.fixture(scope="module")
def at():
    return study.places(SETTINGS["n_images"], SETTINGS["n_lines"])


def test_the_quick_rank_of_digits_is_the_rank_and_the_exact_one(at):
    net = random_network([64, 6, 6, 10], np.random.default_rng(5), bias_scale=0.3)
    x = at.data.x[:80]
    found = quick_rank(net, x)
    assert found.rank == parameter_rank(net, x).rank == exact_rank(net, x) and found.gap > 1e3
    with pytest.raises(ValueError, match="activation: found 'tanh'"):
        exact_rank(random_network([2, 2, 1], np.random.default_rng(0), activation="tanh"), x[:, :2])


@pytest.mark.parametrize("seed", [2, 4, 14])
def test_rounding_is_not_counted(at, seed):
    """Units whose weights in can do nothing that those above cannot: nothing is left of their columns but rounding."""
    net, x = random_network([64, 8, 5, 3], np.random.default_rng(seed)), at.data.x[:60]
    assert quick_rank(net, x).rank == parameter_rank(net, x).rank == exact_rank(net, x)


@given(seeds, st.integers(1, 4))
def test_the_exact_rank_is_the_numerical_one(seed, n_outputs):
    rng = np.random.default_rng(seed)
    net, x = random_network([3, 4, 3, n_outputs], rng, 1.5, 0.5), rng.normal(size=(25, 3))
    assert exact_rank(net, x) == parameter_rank(net, x, 1e-10).rank


@settings(max_examples=15)
@given(seeds, st.sampled_from(["relu", "tanh"]))
def test_participation_from_singular_values(seed, activation):
    rng = np.random.default_rng(seed)
    net, x = random_network([3, 5, 2], rng, 1.5, 0.5, activation), rng.normal(size=(20, 3))
    values = np.linalg.svd(parameter_jacobian(net, x), compute_uv=False)
    assert participation_ratio(net, x) == pytest.approx((values**2).sum() ** 2 / (values**4).sum(), rel=1e-10)


@pytest.mark.parametrize(("name", "seed"), [("relu", 0), ("relu", 1), ("hard_tanh", 2)])
def test_the_coarea_formula_gives_the_counted_density(name, seed):
    rng = np.random.default_rng(seed)
    net = random_network([5, 10, 8, 1], rng, bias_scale=0.3, activation=name)
    counted = boundary_density(net, np.ones(5), 2.0, 3_000, rng)
    mean, error = coarea_density(net, ball_points(np.ones(5), 2.0, 20_000, rng))
    assert abs(mean - counted.value) < 4 * np.hypot(error, counted.standard_error)
    assert np.hypot(error, counted.standard_error) < 0.05 * mean  # so that a fifth would be found


def test_boundaries_without_lines(at):
    """Digits, an untrained network, and biases of random networks: four standard errors."""
    net = random_network([64, 8, 8, 10], np.random.default_rng(3), bias_scale=0.3)
    for found in (routes.density_routes(net, at, 0), routes.bias_law(at, 8, 0)):
        assert found.gap < 4 and found.error < 0.06 * found.second


def test_units_that_are_on_for_few_images_come_first(stored):
    """What the chapter says of the dip of the rank after three epochs."""
    found = routes.rare_units(SETTINGS)
    assert found["shuffled"] > found["right"] > found["start"] > 2
    assert set(found) == {"start", *study.KINDS}
    share = routes.dead_share(SETTINGS, stored.values["relu"])
    assert 0.05 < share["shuffled"] < share["right"] < 0.5


def test_equal_loss_with_more_snapshots(stored):
    """The conclusions stand: not clear for ReLU, clear for tanh."""
    found = {name: routes.finer_equal_loss(SETTINGS, stored.values[name], name) for name in stored.values}
    assert [summaries.verdict(each) for each in found.values()] == ["level", "up"]


def test_the_gap_of_two_routes():
    assert routes.Routes(1.0, 3.0, 0.5).gap == 4
    assert routes.Routes(0.0, 0.0, 0.0).gap == 0 and routes.Routes(0.0, 1.0, 0.0).gap == np.inf


def test_points_fill_the_ball():
    found = ball_points(np.ones(3), 2.0, 20_000, np.random.default_rng(0))
    assert np.mean(np.linalg.norm(found - 1, axis=1) < 1) == pytest.approx(1 / 8, abs=0.01)
