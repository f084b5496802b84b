"""How the second route's random labels and regions are held against the chapter's."""

import copy

import numpy as np
import pytest

pytest.importorskip("jax")

from capcore.complexity.mimicry_report import Difference
from capcore.studies import mimicry as study
from capcore.studies import mimicry_region_routes as routes
from capcore.studies.stored_runs import stored


@pytest.fixture(scope="module")
def first():
    return stored("mimicry")


@pytest.fixture(scope="module")
def itself(first):
    """The chapter's experiment as two draws of a second route."""
    otherwise = {"otherwise": {"initial": [0, 0], "true labels": [3, 0]}}
    values = {name: copy.deepcopy({**first["values"], **otherwise}) for name in ("draw 0", "draw 1")}
    return {"values": values, "settings": {"n_segments": 10}}


def test_what_is_compared_is_what_the_chapter_reports(first):
    found = list(routes.compared(first).values())
    copied = study.random_teacher_loss(first)
    assert (found[0].mean, found[0].low) == pytest.approx((-copied.mean, -copied.high))
    for each, kind in zip(found[2:], ("random labels", "initial"), strict=True):
        ratio = study.region_ratio(first, "true labels", kind)
        assert (each.mean, each.low) == pytest.approx((1 - ratio.mean, 1 - ratio.high))


def test_a_route_confirms_itself(first, itself):
    assert routes.draws_of(itself) == ["draw 0", "draw 1"]
    assert set(routes.confirmed(first, itself, itself).values()) == {2}
    rows = routes.table(first, itself, itself)
    assert all(row["JAX"] == row["mean of the draws"] and row["draws that confirm"] == "2" for row in rows.values())
    said = routes.in_words(first, itself, itself)
    assert (said["all"], said["of"]) == ("4", "4")
    assert said["checks"] == said["of_checks"] == "5" and said["memorised"] == "100 %"
    assert (said["alike"], said["segments"]) == ("74", "80")
    ratio = f"{study.region_ratio(first, 'true labels', 'random labels').mean:.2f}"
    assert said["ratio_random"] == f"{ratio} and {ratio}" and said["networks"] == "12"
    then = study.region_ratio(first, "true labels", "initial")
    assert said["ratio_mean"] == f"{then.mean:.2f} ({then.low:.2f} to {then.high:.2f})"
    assert said["below"] == said["surely_below"] == "2"


def test_what_does_not_confirm(first, itself):
    other = copy.deepcopy(itself)
    draw = other["values"]["draw 1"]
    draw["regions"]["random labels"] = draw["regions"]["true labels"]
    draw["random labels"]["training accuracy"][3] = 0.98
    draw["regions"]["initial"] = [1.5 * n if j % 2 else 0.7 * n for j, n in enumerate(draw["regions"]["true labels"])]
    counts = routes.confirmed(first, itself, other)
    assert counts == {name: 1 if name.startswith("regions") else 2 for name in counts}
    said = routes.in_words(first, itself, other)
    assert (said["all"], said["checks"]) == ("2", "3")  # not the labels, nor the start; equal to random labels passes
    assert said["surely_below"] == "1" and said["memorised"] == "98 %"


def test_a_margin_counts(first, itself):
    """Interval above zero and overlapping, but below the tenth that the claim asks for."""
    name = routes.BY_A_QUARTER
    found = routes.by_draws(first, itself, itself)["draw 0"]
    assert {key: each.allowed for key, each in found.items()} == {**dict.fromkeys(found), name: 0.1}
    wide = Difference(0.3, 0.05, 0.55)
    assert not routes.BothRoutes(found[name].first, wide, routes.margin()).confirmed
    assert routes.BothRoutes(found[name].first, wide).confirmed


def test_checks_are_those_of_the_registry(first):
    """Their outcomes in the chapter, from the same numbers."""
    assert routes.checks(first) == dict.fromkeys(
        ("memorises", "far_below_most", "below_random_labels", "below_initial", "random_teacher"), True
    )
    less = copy.deepcopy(first)
    less["values"]["regions"]["true labels"] = (2 * np.array(first["values"]["regions"]["true labels"])).tolist()
    assert [name for name, passes in routes.checks(less).items() if not passes] == [
        "below_random_labels",
        "below_initial",
    ]
