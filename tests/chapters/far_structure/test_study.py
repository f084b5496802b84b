"""A planted effect is found, chance is not, and the answer follows the criteria."""

import numpy as np
import pytest

from chapters.far_structure import criteria, resampling, study
from chapters.far_structure.series import NULLS, SERIES
from chapters.far_structure.stacks import alike
from chapters.shared.correlation import rank_scores
from tests.chapters.far_structure.made import made


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """300 resamples, which move an end of an interval by some 0.02."""
    monkeypatch.setattr(resampling.draws, "__defaults__", (300,))
    monkeypatch.setattr(resampling.chance, "__defaults__", (300,))


def networks(values):
    return study.Networks.of(values, SERIES), study.Networks.of(values, NULLS)


def test_partial_correlations_are_those_of_regressed_ranks(rng):
    x, y, *given = rng.normal(size=(4, 30, 25)).round(1)  # with ties
    found = resampling.partial_spearman(x, y, given)
    for row, value in enumerate(found):
        first, second = rank_scores(x[row], y[row], np.array([each[row] for each in given]))
        assert value == pytest.approx(first @ second, abs=1e-12)


def test_what_is_missing_is_left_out(rng):
    x, y, given = rng.normal(size=(3, 4, 20))
    y[:, 3] = np.nan
    rest = [np.delete(each, 3, axis=1) for each in (x, y, given)]
    found = resampling.partial_spearman(x, y, [given])
    assert found == pytest.approx(resampling.partial_spearman(rest[0], rest[1], [rest[2]]), abs=1e-12)


def test_nothing_is_left_of_what_is_given(rng):
    x, y = rng.normal(size=(2, 5, 12))
    assert np.all(resampling.partial_spearman(x, y, [x]) == 0)
    assert np.all(resampling.partial_spearman(np.ones((5, 12)), y) == 0)


def test_series_are_drawn_for_their_mean(rng):
    """Effects that no stack changes leave the series to scatter: a standard error of spread / √14."""
    effects = rng.normal(size=14)
    drawn = resampling.draws(np.arange(25), 5, 14, 4000)
    found = resampling.over_series(np.tile(effects[:, None], 4001), drawn)
    half = 1.96 * effects.std() / np.sqrt(14)
    assert found.mean == pytest.approx(effects.mean())
    assert [found.high - found.mean, found.mean - found.low] == pytest.approx([half, half], rel=0.15)  # not normal


def test_what_is_common_to_series_is_not_averaged_away(rng):
    """The same stacks are drawn for all: with equal series the mean is as uncertain as each."""
    values = made(2.0, rng)
    for kind in values["networks"].values():
        kind.update(dict.fromkeys(kind, kind["Lorenz"]))
    values["series"] = dict.fromkeys(values["series"], values["series"]["Lorenz"])
    rows, drawn = study.Networks.of(values, SERIES).effects("tanh")
    assert np.allclose(resampling.over_series(rows, drawn), resampling.interval(rows[0]), atol=1e-12)


def test_means_are_over_the_seeds_that_are_drawn(rng):
    values, drawn = rng.normal(size=(5, 8)), resampling.draws(np.arange(8) // 3, 5, 2, 20)
    values[1:4, 2] = np.nan
    found = resampling.drawn_means(values, drawn)
    for at in range(21):
        for place, stack in enumerate(drawn.stacks[at]):
            if stack < 0:
                assert np.isnan(found[at, place])
                continue
            some = values[drawn.seeds[at, place], stack]
            some = some[~np.isnan(some)]
            expected = some.mean() if some.size else np.nan
            assert found[at, place] == pytest.approx(expected, nan_ok=True)


def test_a_planted_effect_is_found(rng):
    found = study.found(*networks(made(20.0, rng)))  # nine models: one of 8 is missed on two series
    assert found.answer == "yes"
    assert all(each.high < 0 for name, each in found.by_series["tanh"].items() if name in SERIES)
    assert found.effect["nonlinear"].high < criteria.WANTED < found.chance
    assert found.null["nonlinear"].high > 0


def test_chance_is_not_found(rng):
    found = study.found(*networks(made(0.0, rng)))
    assert found.answer == "no"
    assert found.effect["nonlinear"].low < 0 < found.effect["nonlinear"].high
    assert found.chance < found.effect["nonlinear"].mean and found.p > criteria.LEVEL


def test_an_effect_on_series_without_far_structure_decides_nothing(rng):
    values = made(8.0, rng)
    for kind in values["networks"].values():
        for name, other in zip(NULLS, SERIES, strict=False):
            kind[name] = kind[other]
            values["series"][name] = values["series"][other]
    assert study.found(*networks(values)).answer == "undecided"


def test_diverged_networks_are_left_out_and_counted(rng):
    values = made(8.0, rng)
    rows = values["networks"]["tanh"]["power law"]
    for seed in range(5):
        rows["far"][seed][0] = rows["loss"][seed][0] = None
    rows["far"][0][1] = None
    some, _ = networks(values)
    assert some.diverged("tanh") == pytest.approx(6 / (14 * 5 * 29))
    effects, drawn = some.effects("tanh")
    assert np.isfinite(effects).all() and effects.shape == (14, 301)
    means = resampling.drawn_means(some.far["tanh"][1][:, some.alike], drawn)
    assert np.isnan(means[0, :25]).tolist() == [True] + 24 * [False]


def test_series_with_little_far_structure_do_not_count(rng):
    values = made(8.0, rng)
    values["series"]["Lorenz"]["autocorrelation"] = [0.04] * 65
    assert study.structured(values) == [name for name in SERIES if name != "Lorenz"]


def test_signs_are_flipped_in_all_ways(rng):
    effects = rng.normal(-0.3, 1, size=8)
    signs = np.sign(rng.normal(size=(20_000, 8)))
    among = np.mean((signs * effects).mean(axis=1) <= effects.mean())
    assert resampling.sign_flips(effects) == pytest.approx(among, abs=0.015)  # four standard errors


def test_a_better_competitor_is_seen(rng):
    values = made(8.0, rng, noise=0.1)
    found = study.competitors(networks(values)[0])
    assert all(difference.low > 0 for name, (_, difference) in found.items() if name != "far share")
    for name, each in values["series"].items():
        each["validation"] = np.mean(values["networks"]["tanh"][name]["far"], axis=0).tolist()
        values["networks"]["gated"][name] = values["networks"]["tanh"][name]
    assert study.competitors(networks(values)[0])["validation error"][1].high < 0


def test_pairs_are_won_by_the_larger_share_where_it_helps(rng):
    won, of = study.Networks.of(made(8.0, rng, noise=0.0), SERIES).pairs("tanh").sum(axis=0)
    assert won / of > 0.95 and of < 14 * 25 * 24 / 2
    won, of = study.Networks.of(made(-8.0, rng, noise=0.0), SERIES).pairs("tanh").sum(axis=0)
    assert won / of < 0.05


def test_stacks_alike_are_in_their_bands():
    assert {each.n_inputs for each in alike()} == {64}
    assert all(int(each.arch.generic_capacity()) == each.capacity for each in alike())
    assert all(each.arch.n_params == each.n_params for each in alike())


def test_models_are_drawn_with_all_their_stacks(rng):
    models = np.array([0, 0, 1, 2, 2, 2])
    drawn = resampling.draws(models, 5, 2, 200)
    assert drawn.stacks[0, :6].tolist() == list(range(6)) and (drawn.stacks[0, 6:] == -1).all()
    for row in drawn.stacks:
        counts = np.bincount(row[row >= 0], minlength=6)
        assert counts[[0, 2, 3]].sum() == 3
        assert counts.tolist() == counts[[0, 0, 2, 3, 3, 3]].tolist()
    assert np.isnan(drawn.of(np.arange(6))[drawn.stacks < 0]).all()


def test_models_keep_one_share_when_they_are_shuffled():
    models = np.array([4, 4, 7, 9, 9, 9])
    orders = []
    resampling.chance(lambda each: orders.append(each) or np.zeros((1, len(each))), models, 60)
    for row in orders[0]:
        assert row.tolist() == row[[0, 0, 2, 3, 3, 3]].tolist()
        assert set(row) == {0, 2, 3}
    assert len({tuple(row) for row in orders[0]}) == 6


def test_the_stacks_alike_are_nine_linear_models():
    """As the page says: layers that meet at a full bond merge, and stacks that are one model have one far share."""
    some, _ = study.networks()
    shares = some.share[:, some.alike].T.round(3)
    models = some.models[some.alike]
    assert len(shares) == 25 and len(np.unique(shares, axis=0)) == len(np.unique(models)) == 9
    assert all(len(np.unique(shares[models == each], axis=0)) == 1 for each in models)
