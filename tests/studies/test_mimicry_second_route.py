"""The arms of the chapter on mimicry by a second route: what is stored, made again in part, and how it is judged."""

import numpy as np
import pytest

pytest.importorskip("jax")

from capcore.complexity.mimicry_report import Difference
from capcore.deep.mimicry import SETTINGS
from capcore.deep.mimicry_experiment import STUDENTS
from capcore.studies import mimicry as study
from capcore.studies import mimicry_routes as routes
from capcore.studies import mimicry_second_route as second
from capcore.studies.stored_runs import stored


@pytest.fixture(scope="module")
def content():
    return stored("mimicry_second_route")


def test_every_recipe_and_arm_is_there(content):
    assert content["settings"] == {**SETTINGS, "n_draws": second.N_DRAWS, "n_stages": second.N_STAGES}
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
    means = [named[f"NumPy, weights {k}"]["deep − shallow, 400 labels"].mean for k in (1, 2, 3)]
    assert routes.over_draws(content, study.TEACHER, "shallow, 400 labels").mean == pytest.approx(np.mean(means))


def test_what_the_chapter_cites(content):
    first = stored("mimicry")
    said, counts = routes.in_words(first, content), routes.confirmed(first, content)
    assert int(said["all"]) + said["others"].count("“") == int(said["of"]) == len(counts) == 8
    assert (said["of_checks"], said["draws"], said["deep_first"]) == ("6", "3", "99 %")
    compared = [routes.by_both_routes(first, content, name) for name in content["values"]]
    assert all(each.overlap for row in compared for each in row.values())  # as its text says of all
    lead = [row["deep − shallow, 400 labels"].second.sign for row in compared[:3]]
    assert sorted(lead) == [-1, -1, 0]  # "one draw leaves it undecided"
    assert {row["logits − hard labels"].second.sign for row in compared[:3]} == {0}  # "no single draw shows it"
