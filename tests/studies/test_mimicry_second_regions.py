"""Random labels and regions of the chapter on mimicry by its second route: what is stored, and made again in part."""

import copy

import numpy as np
import pytest

pytest.importorskip("jax")

from capcore.studies import mimicry_region_routes as routes
from capcore.studies import mimicry_second_regions as second
from capcore.studies.mimicry_second_route import TEACHER
from capcore.studies.stored_runs import stored

KINDS = ["initial", "true labels", "random labels"]


@pytest.fixture(scope="module")
def content():
    return stored("mimicry_second_regions")


def test_every_draw_and_network_is_there(content):
    assert content["settings"] == second.make_settings()
    assert list(content["values"]) == ["draw 0", "draw 1", "draw 2", second.FIRST]
    for name, found in content["values"].items():
        for counts in (found["regions"], found["walked"], found["otherwise"]):
            assert list(counts) == KINDS and all(len(row) == 6 for row in counts.values())
        if name != second.FIRST:
            assert list(found["random labels"]["student agreement"]) == list(second.ARMS)


def test_its_teachers_are_those_of_the_second_route(content):
    """Trained again from the same keys. A draw of other weights is right on other images, in the mean over a point."""
    arms = stored("mimicry_second_route")["values"]
    for draw in ("draw 0", "draw 1", "draw 2"):
        here, there = content["values"][draw]["teacher accuracy"], arms[draw]["arms"][TEACHER]["accuracy"]
        assert here == pytest.approx(there, abs=0.003)  # one answer in 597, for a processor that rounds otherwise


def test_the_first_routes_networks_are_the_chapters(content):
    """Trained again by the same program; a few of 100 segments may gain a region by other rounding."""
    for kind, then in stored("mimicry")["values"]["regions"].items():
        assert content["values"][second.FIRST]["regions"][kind] == pytest.approx(then, rel=0.01)


def test_two_counts_are_one(content):
    for found in content["values"].values():
        assert found["regions"] == found["walked"]
        assert found["otherwise"] == {kind: 6 * [0] for kind in KINDS}


def test_untrained_networks_counted_again_are_what_is_stored(content):
    """They need no training, and a whole number of regions hardly depends on rounding."""
    found = second.run({**content["settings"], "seeds": [2], "n_draws": 1, "n_steps": 1, "first_route": False})
    then = content["values"]["draw 0"]["regions"]["initial"][2]
    for name in ("regions", "walked"):
        assert found["draw 0"][name]["initial"] == pytest.approx([then], abs=0.1)
    assert second.FIRST not in found


@pytest.mark.slow
def test_a_part_made_again_is_what_is_stored(content):
    """Other processors round otherwise; a few of 597 answers may then turn over, and a few regions open or close."""
    found = second.run({**content["settings"], "seeds": [0], "n_draws": 1, "first_route": False})["draw 0"]
    then = content["values"]["draw 0"]
    assert found["random labels"]["training accuracy"] == [1.0]
    for arm in second.ARMS:
        agreement = then["random labels"]["student agreement"][arm][0]
        assert found["random labels"]["student agreement"][arm] == pytest.approx([agreement], abs=0.05)
    for kind in KINDS:
        assert found["regions"][kind] == pytest.approx([then["regions"][kind][0]], rel=0.05)
        assert np.array_equal(found["regions"][kind], found["walked"][kind])


def test_what_the_chapter_says_of_it(content):
    first, route = stored("mimicry"), stored("mimicry_second_route")
    said = routes.in_words(first, route, content)
    assert (said["all"], said["of"], said["checks"], said["of_checks"]) == ("3", "4", "4", "5")
    assert routes.confirmed(first, route, content)[routes.THAN_UNTRAINED] == 1
    assert (said["below"], said["surely_below"]) == ("3", "1")
    assert said["ratio_mean"] == "0.89 (0.84 to 0.95)"  # "and their average does"
    assert "(+4.8 to +16.3)" in routes.table(first, route, content)[routes.THAN_UNTRAINED]["mean of the draws"]
    assert said["alike"] == said["segments"] == "7,200" and said["memorised"] == "100 %"
    assert (said["networks"], said["margin"]) == ("18", "10")


def test_counted_here(content):
    assert routes.counted_here(content) == "meets what is stored within 0.1"
    other = copy.deepcopy(content)
    other["values"]["draw 0"]["walked"]["initial"][0] += 1
    assert routes.counted_here(other) == "misses what is stored by more than 0.1"
