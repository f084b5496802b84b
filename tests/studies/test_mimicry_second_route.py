"""The arms of the chapter on mimicry by a second route: what is stored, made again in part, and how it is judged."""

import numpy as np
import pytest

pytest.importorskip("jax")

from capcore.complexity.mimicry_report import Difference
from capcore.deep.mimicry_experiment import STUDENTS
from capcore.studies import mimicry as study
from capcore.studies import mimicry_routes as routes
from capcore.studies import mimicry_second_route as second
from capcore.studies.stored_runs import stored


@pytest.fixture(scope="module")
def content():
    return stored("mimicry_second_route")


def test_every_recipe_and_arm_is_there(content):
    assert content["settings"] == second.make_settings()
    assert list(content["values"]) == ["draw 0", "draw 1", "draw 2", second.STAGES]
    for recipe in content["values"].values():
        assert list(recipe["arms"]) == [study.TEACHER, *STUDENTS]
        assert all(len(row["accuracy"]) == len(row["agreement"]) == 6 for row in recipe["arms"].values())
        assert recipe["arms"][study.TEACHER]["agreement"] == 6 * [1.0]


def test_draws_are_of_other_weights(content):
    one, other, stages = (content["values"][name]["arms"] for name in ("draw 0", "draw 1", second.STAGES))
    assert len({str(each[study.TEACHER]["accuracy"]) for each in (one, other, stages)}) == 3


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["draw 0", second.STAGES])
def test_a_part_made_again_is_what_is_stored(content, recipe):
    """Other processors round otherwise; a few of 597 answers may then turn over."""
    arm, stages = "small, logits on the pool", second.N_STAGES if recipe == second.STAGES else 0
    settings = {**content["settings"], "seeds": [0], "n_draws": 0 if stages else 1, "n_stages": stages}
    found = second.run(settings, [arm])
    for name in (second.TEACHER, arm):
        for measure in ("accuracy", "agreement"):
            then = content["values"][recipe]["arms"][name][measure][0]
            assert found[recipe]["arms"][name][measure] == pytest.approx([then], abs=0.03)


def test_what_is_decided_alike():
    above, higher, within = Difference(0.02, 0.01, 0.03), Difference(0.05, 0.04, 0.06), Difference(0.0, -0.02, 0.02)
    assert routes.BothRoutes(above, higher).decided_alike and not routes.BothRoutes(above, higher).overlap
    assert routes.BothRoutes(above, within).overlap and not routes.BothRoutes(above, within).decided_alike
    near = Difference(0.001, -0.005, 0.007)  # both hold zero, but one reaches below what is allowed
    assert routes.BothRoutes(near, within).decided_alike and not routes.BothRoutes(near, within, -0.01).decided_alike


def test_a_route_confirms_itself(content):
    first = stored("mimicry")
    itself = {"values": {"draw 0": first["values"], "draw 1": first["values"], "other": {}}}
    assert set(routes.confirmed(first, itself).values()) == {2}
    assert set(routes.confirmed(first, itself)) == {*study.comparisons(first), routes.FAITHFUL}
    found = routes.by_both_routes(first, content, "draw 1")["student − teacher"]
    arms = content["values"]["draw 1"]["arms"]
    gap = np.mean(arms[study.STUDENT]["accuracy"]) - np.mean(arms[study.TEACHER]["accuracy"])
    assert found.second.mean == pytest.approx(gap) and found.allowed == -0.01


def test_routes_by_name_and_the_mean_of_draws(content):
    named = routes.all_routes(stored("mimicry"), content)
    assert list(named) == ["JAX", *(f"NumPy, weights {k}" for k in (1, 2, 3)), "NumPy, ten stages"]
    compared = study.comparisons(stored("mimicry"))
    assert compared.items() <= named["JAX"].items() and set(named["JAX"]) - set(compared) == {routes.FAITHFUL}
    averaged = routes.compared(routes.mean_of_draws(content))
    for name in named["JAX"]:
        means = [named[f"NumPy, weights {k}"][name].mean for k in (1, 2, 3)]
        assert averaged[name].mean == pytest.approx(np.mean(means))


def test_routes_against_each_other(content):
    first = stored("mimicry")
    counts = routes.decided_otherwise(first, content)
    assert len(counts) == 10  # pairs of five
    for name, label in (("draw 1", "NumPy, weights 2"), (second.STAGES, "NumPy, ten stages")):
        by_hand = sum(not each.decided_alike for each in routes.by_both_routes(first, content, name).values())
        assert counts["JAX", label] == by_hand
    itself = {"values": {"draw 0": first["values"], second.STAGES: first["values"]}}
    assert set(routes.decided_otherwise(first, itself).values()) == {0}


def test_all_that_is_compared_is_averaged(content):
    rows = routes.averages(stored("mimicry"), content)
    assert list(rows) == list(routes.confirmed(stored("mimicry"), content))
    assert rows["logits − hard labels"] == {
        "JAX": "+0.20 (−0.28 to +0.67)",
        "mean of the draws": "+0.34 (+0.03 to +0.66)",
        "draws that confirm": "3",
        "ten stages confirm": "yes",
    }


def test_what_the_chapter_cites(content):
    first = stored("mimicry")
    said, counts = routes.in_words(first, content), routes.confirmed(first, content)
    assert int(said["all"]) + said["others"].count("“") == int(said["of"]) == len(counts) == 8
    assert sorted(counts.values()) == 3 * [2] + 5 * [3]  # "the other three … in two of three"
    assert counts["deep − shallow, 400 labels"] == 2
    assert (said["of_checks"], said["draws"], said["stages_confirmed"]) == ("6", "3", "3")
    assert (said["stages"], said["stages_draws"]) == ("5", "3 to 5")  # the figure's caption says five, and three
    assert (said["draws_first"], said["draws_apart"]) == ("0, 2, 1", "1 to 3")
    assert said["stages_teacher_mean"] == "+1.05 (+0.18 to +1.92)"


def test_what_the_text_says_of_single_rows(content):
    compared = [routes.by_both_routes(stored("mimicry"), content, name) for name in content["values"]]
    assert all(each.overlap for row in compared for each in row.values())
    for name in ("deep − shallow, 400 labels", "deep − shallow, pool's labels"):
        assert sorted(row[name].second.sign for row in compared[:3]) == [-1, -1, 0]  # "in two of three draws"
        assert compared[3][name].second.sign == 0  # "and the ten stages leave it undecided"
    for name in ("logits − hard labels", "shallow − deep student"):
        assert {row[name].second.sign for row in compared[:3]} == {0}  # "that none of the three draws shows"
    signs = [compared[3][name].second.sign for name in ("shallow − deep student", "logits − hard labels")]
    assert signs == [1, 0]  # "ten stages show the first of these, not the second"
