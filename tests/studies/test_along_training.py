"""Measures along training: the stored experiment, the quick rank, and the rules that read the numbers."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.complexity import Network, boundary_density, parameter_jacobian, parameter_rank, random_network
from capcore.studies import along_prose as prose
from capcore.studies import along_routes as routes
from capcore.studies import along_summaries as summaries
from capcore.studies import along_training as study
from capcore.studies.coarea import ball_points, coarea_density
from capcore.studies.exact_rank import exact_rank
from capcore.studies.geometric_intervals import geometric_interval
from capcore.studies.jacobian_rank import example_leverage, participation_ratio, quick_rank
from capcore.studies.stored_along import SETTINGS, Stored, has
from tests.strategies import seeds

pytest.importorskip("sklearn")
PATH = Path(__file__).resolve().parents[2] / "notebooks" / "results" / "along_training.json"


@pytest.fixture(scope="module")
def stored():
    return Stored(PATH)


@pytest.fixture(scope="module")
def at():
    return study.places(SETTINGS["n_images"], SETTINGS["n_lines"])


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_the_stored_numbers_are_what_the_code_gives(stored, at, activation):
    """One seed, three epochs: rounding is magnified by training, here still by little. Ranks are whole numbers."""
    options = {name: SETTINGS[name] for name in ("width", "learning_rate", "error")}
    live = study.along_training(at, [3], [0, 1, 3], [1, 0, 0], activation, n_epochs=3, **options)
    for kind, table in live.items():
        for name, values in table.items():
            expected = stored.values[activation][kind][name][: len(values), 3]
            if name != "gap":  # a quotient by rounding errors
                np.testing.assert_allclose(values[:, 0], expected, rtol=1e-3, atol=1e-6, err_msg=name)
    assert stored.settings == SETTINGS


def test_what_is_stored_is_possible(stored):
    n_snapshots = len(SETTINGS["snapshots"])
    for activation, kinds in stored.values.items():
        for table in kinds.values():
            assert table["rank"].shape == (n_snapshots, 10) and table["test rank"].shape == (2, 10)
            for where in ("", "test "):
                ranks = [table[where + name] for name in ("rank", "limit", "ceiling", "bound")]
                assert np.all(np.diff(ranks, axis=0) >= 0) and np.all(table[where + "seen"] < ranks[2])
            assert np.all((table["participation"] >= 1) & (table["participation"] <= table["rank"]))
            assert np.all(table["gap"] > 1e3)  # no rank is a matter of tolerance
            if activation == "relu":
                assert np.all(table["pieces"] <= table["patterns"])
        starts = [{n: v[0] for n, v in kinds[k].items() if n not in ("loss", "accuracy")} for k in study.KINDS]
        for name, value in starts[0].items():
            np.testing.assert_array_equal(value, starts[1][name])


@settings(max_examples=15)
@given(seeds, st.lists(st.integers(1, 5), min_size=2, max_size=4), st.sampled_from(["relu", "tanh"]))
def test_the_quick_rank_is_the_rank(seed, widths, activation):
    rng = np.random.default_rng(seed)
    net, x = random_network(widths, rng, 1.5, 0.5, activation), rng.normal(size=(30, widths[0]))
    whole = parameter_rank(net, x, 1e-10)
    assert quick_rank(net, x).rank == whole.rank
    np.testing.assert_allclose(example_leverage(net, x), whole.per_example, atol=1e-6)


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


def test_units_that_are_on_for_few_images_come_first():
    """What the chapter says of the dip of the rank after three epochs."""
    found = routes.rare_units(SETTINGS)
    assert found["shuffled"] > found["right"] > found["start"] > 4
    assert set(found) == {"start", *study.KINDS}


def test_the_gap_of_two_routes():
    assert routes.Routes(1.0, 3.0, 0.5).gap == 4
    assert routes.Routes(0.0, 0.0, 0.0).gap == 0 and routes.Routes(0.0, 1.0, 0.0).gap == np.inf


def test_points_fill_the_ball():
    found = ball_points(np.ones(3), 2.0, 20_000, np.random.default_rng(0))
    assert np.mean(np.linalg.norm(found - 1, axis=1) < 1) == pytest.approx(1 / 8, abs=0.01)


def test_idle_units_and_unevenness():
    net = Network([np.ones((2, 3)), np.ones((3, 1))], [[0.0, 99.0, -99.0], [0.0]])
    assert study.idle_units(net, np.array([[1.0, 1.0], [-1.0, -1.0]])) == {"dead": 1, "never off": 1}
    assert study.unevenness(np.array([1.0, 3.0])) == 0.5


def test_geometric_intervals():
    mean, low, high = geometric_interval(np.array([[1.0, 10.0], [4.0, 10.0], [16.0, 10.0]]))
    np.testing.assert_allclose(mean, [4, 10])
    np.testing.assert_allclose([low[1], high[1]], 10)
    assert low[0] * high[0] == pytest.approx(16) and low[0] < 1  # symmetric in the logarithm
    with pytest.raises(ValueError, match="samples: found 1, expected at least 2"):
        geometric_interval([1.0])
    with pytest.raises(ValueError, match="samples: found 0, expected more than 0"):
        geometric_interval([1.0, 0.0])


def test_verdicts_are_about_the_interval():
    assert [summaries.verdict((1.0, *ends)) for ends in ((1.1, 2.0), (0.2, 0.9), (0.9, 1.1))] == ["up", "down", "level"]
    assert summaries.verdict((1.0, 1 + 1e-15, 1 + 1e-15)) == "level"
    assert [summaries.sign((0.0, *ends)) for ends in ((0.1, 0.9), (-0.9, -0.1), (-0.1, 0.1))] == [1, -1, 0]


def made_up(rng, noise=0.05):
    """Tables of two snapshots and eight seeds: "a" and "b" follow each other, "c" goes its own way."""
    kinds = {}
    for kind, factor in (("right", 1.0), ("shuffled", 2.0)):
        a = np.exp(rng.normal(size=8))
        tables = {"a": a, "b": a * np.exp(noise * rng.normal(size=8)), "c": np.exp(rng.normal(size=8))}
        kinds[kind] = {name: np.stack([np.ones(8), factor * values]) for name, values in tables.items()}
        kinds[kind]["loss"] = np.stack([np.full(8, 2.0), np.full(8, 0.1 * factor)])
    return kinds


def test_agreement_is_found_where_it_is_put():
    rho, clear, beyond = summaries.agreement(made_up(np.random.default_rng(0)), ["a", "b", "c"])
    assert rho[0, 1] > 0.9 and clear[1, 0] == beyond[1, 0] == 1
    assert beyond[2, 0] == beyond[2, 1] == 0


def test_equal_loss_interpolates_between_snapshots():
    """With a = loss^p along the way, a ratio at equal loss is the end over target^p."""
    kinds = made_up(np.random.default_rng(1))
    losses = np.array([2.0, 0.5, 0.1])[:, None] * np.ones(8)
    kinds["right"] = {"loss": losses, "a": losses**-0.3}
    found = summaries.equal_loss_ratio(kinds, "a")
    np.testing.assert_allclose(found, kinds["shuffled"]["a"][-1] * 0.2**0.3, rtol=1e-12)
    kinds["shuffled"]["loss"][-1] = 0.01
    with pytest.raises(ValueError, match=r"loss: found 0.01 of seed 0, expected one that falling losses"):
        summaries.equal_loss_ratio(kinds, "a")


def test_summaries_of_the_stored_experiment(stored):
    for activation, labels in (("relu", summaries.RELU), ("tanh", summaries.TANH)):
        kinds = stored.values[activation]
        assert len(summaries.overview(kinds, labels)) == len(labels)
        found = summaries.ratios(kinds, list(labels))
        assert set(found["labels"]) == set(labels) and "unevenness" not in found["equal loss"]
        assert all(low <= mean <= high for group in found.values() for mean, low, high in group.values())


def test_the_story_of_the_rank(stored):
    """Tanh: data and architecture decide it. ReLU: the sharper ceiling is near, the plain one not always."""
    tanh, relu = (summaries.short_of(stored.values, "limit", name) for name in ("tanh", "relu"))
    assert not tanh.any() and len(tanh) == len(relu) == 150
    assert len(np.unique([table["rank"] for table in stored.values["tanh"].values()])) == 1
    assert relu.max() <= 0.02 * 1450 and np.mean(relu == 0) > 0.5
    assert summaries.short_of(stored.values, "ceiling", "relu").max() > relu.max()


def test_what_the_chapter_says_of_relu(stored):
    kinds = stored.values["relu"]
    found = summaries.ratios(kinds, list(summaries.RELU))
    told = {group: {name: summaries.verdict(each) for name, each in values.items()} for group, values in found.items()}
    both = {name for name in summaries.RELU if told["right"][name] == told["shuffled"][name] == "up"}
    assert both == {"length", "logits"}
    assert {n for n in summaries.RELU if told["right"][n] == told["shuffled"][n] == "down"} == {"rank", "fisher"}
    opposite = {n for n in summaries.RELU if (told["right"][n], told["shuffled"][n]) == ("down", "up")}
    assert opposite == {"pieces", "patterns", "transitions", "probabilities"}
    assert {n for n, way in told["labels"].items() if way != "up"} == {"rank", "unevenness"}
    assert {n for n, way in told["equal loss"].items() if way != "up"} == {"rank", "fisher"}
    for place in ("boundary.ball", "boundary.near"):
        assert (told["right"][place], told["shuffled"][place]) == ("down", "level")


def test_what_the_chapter_says_of_tanh(stored):
    found = summaries.ratios(stored.values["tanh"], list(summaries.TANH))
    told = {name: summaries.verdict(each) for name, each in found["labels"].items()}
    assert told["rank"] == "level" and told["participation"] == "down"
    assert {told[name] for name in summaries.TANH if name not in ("rank", "participation")} == {"up"}


def test_what_the_chapter_says_of_agreement(stored):
    names = list(summaries.RELU)
    _, clear, beyond = summaries.agreement(stored.values["relu"], names)
    ten = [i for i, name in enumerate(names) if name not in ("rank", "unevenness")]
    assert np.all(clear[np.ix_(ten, ten)] + np.eye(10) == 1)
    alone = [names.index(name) for name in ("length", "logits", "probabilities", "fisher")]
    assert not beyond[alone].any()
    text = prose.agreement_prose(names, clear, beyond, 10)
    assert int(text["along_within_regions"]) >= 8 and text["along_n_pairs"] == "66"


def test_the_numbers_of_the_text(stored):
    found = prose.rank_prose(stored.values) | prose.boundary_prose(stored.values["relu"])
    found |= prose.measure_prose(stored.values, list(summaries.RELU))
    found |= prose.experiment_prose(stored.values, stored.settings)
    assert not any("nan" in value or not value for value in found.values())
    assert found["along_n_params"] == f"{random_network([64, 16, 16, 10], np.random.default_rng(0)).n_params:,}"
    sentences = [prose.live_prose(gap) for gap in (None, 1e-6, 0.5)]
    assert len(set(sentences)) == 3
    assert has([0, 9], width=16) and not has([10], width=16) and not has([0], width=8)
