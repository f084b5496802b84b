"""The stored experiment on capacity and expressivity, read; and what is computed beside it."""

import numpy as np
import pytest

pytest.importorskip("jax")

from chapters.capacity_vs_expressivity import experiment, study
from chapters.capacity_vs_expressivity import ranks as fresh
from chapters.capacity_vs_expressivity.study import MemorisationCurve, ModelAxes, TargetFit, axes_table
from chapters.kit.stored import stored


@pytest.fixture(scope="module")
def content():
    return stored("capacity_vs_expressivity")


@pytest.fixture(scope="module")
def ranks():
    return stored("expressivity_ranks")


def test_the_two_experiments_trained_the_same_networks(content, ranks):
    assert content["settings"] == experiment.SETTINGS and ranks["settings"] == fresh.SETTINGS
    for name, row in ranks["values"]["random labels"].items():
        assert row["train"] == content["values"]["random labels"][name]["256"]["train"]
    for name, row in ranks["values"]["order"].items():
        assert row["train"] == content["values"]["targets"][name]["order"]["train"]


def test_axes_of_all_models(content, ranks):
    models = study.model_axes(content, ranks)
    assert len(models) == 7 and models["linear"].n_params == 13
    assert all(each.ranks.max() <= each.n_params for each in models.values())
    assert models["small invariant"].fits == {}
    assert set(models["linear"].odd_shares.round(12)) == {round(3 / 13, 12)}  # the three coordinates of item 1 − item 2
    on_pairs = content["values"]["targets"]["invariant"]["order"]["rank"]
    assert np.median(on_pairs) == content["settings"]["n_pairs"]  # one per orbit


def test_distances_from_one_half():
    fit = TargetFit(np.array([0.5, 0.9]), np.array([0.4, 0.8]))
    assert study.half_distance(fit) == pytest.approx(0.2)
    assert study.half_distance(fit, whole=True) == pytest.approx(0.4)


def test_kappa_ranks_the_models_as_parameters_do(content, ranks):
    """κ is P in all models but that with places, which it leaves among those of some 940."""
    after = study.model_axes(content, ranks, "random labels")
    assert [name for name, each in after.items() if (each.ranks != each.n_params).any()] == ["invariant + places"]
    by_kappa = study.capacity_correlation(after)
    assert 0.9 < by_kappa < 1
    assert by_kappa == pytest.approx(study.capacity_correlation(after, of_parameters=True))
    without = {name: each for name, each in after.items() if name != "order-aware"}
    assert study.capacity_correlation(without) != by_kappa


def test_capacity_stops_at_the_first_size_that_fails():
    curve = MemorisationCurve([2, 4, 8], [[1.0], [0.9], [1.0]])
    assert curve.memorised() == 2
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


def test_it_shows_medians_and_what_is_missing():
    curve = MemorisationCurve([8, 16], [[1.0, 1.0], [0.5, 0.5]])
    fits = {"order": TargetFit(np.ones(3), np.array([0.5, 0.6, 0.9]))}
    full = ModelAxes("a", 1234, curve, fits, np.array([7, 8, 9]), np.array([0.0, 0.25, 0.5]))
    bare = ModelAxes("b", 5, MemorisationCurve([8], [[1.0]]))
    table = axes_table([full, bare])
    assert list(table["a"].values()) == ["1,234", "8", "0.60", "8", "0.25"]
    assert list(table["b"].values()) == ["5", "≥ 8", "–", "–", "–"]
    assert list(table["a"]) == list(table["b"])


def test_a_model_looks_the_same_in_all_figures(ax):
    study.plot_shares({"linear": (0.2, 0.5), "narrow": (0.5, 0.9)}, ax)
    assert [line.get_ydata().tolist() for line in ax.lines[:2]] == [[0.5], [0.9]]
    study.plot_against_kappa({"linear": (13.0, 16.0), "a model of mine": (20.0, 20.0)}, ax)
    linear = [line for line in ax.lines if line.get_label() == "linear"]
    assert len(linear) == 2 and len({(line.get_color(), line.get_marker()) for line in linear}) == 1


def test_models_stand_in_the_plane_with_their_names(ax):
    curve, fit = MemorisationCurve([8, 16], [[1.0], [0.5]]), TargetFit(np.array([1.0]), np.array([0.75]))
    study.plot_plane({"narrow": ModelAxes("narrow", 5, curve, {"order": fit})}, "order", ax)
    (point,) = (line for line in ax.lines if line.get_label() == "narrow")
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (8, 0.75)
    assert [text.get_text() for text in ax.texts] == ["narrow"]
    every = MemorisationCurve([8, 16], [[1.0], [1.0]])
    study.plot_plane({"linear": ModelAxes("linear", 5, every, {"order": fit})}, "order", ax)
    assert len(ax.texts) == 3  # an arrow, too
