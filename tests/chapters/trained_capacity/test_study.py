"""The numbers that decide the questions: on made-up values, and what the chapter says of the stored ones."""

import numpy as np

from chapters.trained_capacity import study, telling
from chapters.trained_capacity.questions import QUESTIONS


def case(profile, linear, random):
    optimum = {"linear": linear, "other": linear, "total": sum(linear) + 3.0}
    return {"profile": profile, "random": random, "tanh": [optimum], "gated": []}


def test_a_profile_is_predicted_where_it_is_alike_and_chance_is_not():
    up, zigzag = [1.0, 2.0, 3.0, 4.0], [1.0, 4.0, 1.0, 4.0]
    alike = case(up, [1.1, 2.0, 3.0, 4.2], [0.2] * 5)
    by_chance = case(up, [1.1, 2.0, 3.0, 4.2], [0.999] * 5)
    unlike = case(up, zigzag, [0.2] * 5)
    assert study.agreeing([alike, by_chance, unlike], "tanh") == [True, False, False]
    assert study.agreeing([alike], "gated") == []
    assert telling.recent(up) == 0.3


def test_predictions_find_what_is_put_in():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=40)
    found = {name: rng.normal(size=40) for name in ("Gauss-Newton", *study.SIMPLER)}
    found |= {"capacity": truth + 0.1 * rng.normal(size=40), "again": truth}
    values = study.predictions(found, "again", n_draws=200)
    assert values["capacity"][0] > 0.95 and values["margin"][1] > 0 and values["chance"][0] < 0.5
    assert values["residual"][1] <= values["residual"][0] <= values["residual"][2]


def test_every_question_is_decided():
    assert set(study.numbers()) == set(QUESTIONS)
    rows = study.answers()
    assert len(rows) == len(QUESTIONS) and {row[-1] for row in rows} == {"yes", "no"}


def test_what_the_chapter_says_of_stacks():
    cases = study.results()["stacks"]["cases"]
    linear, warped = ([each for each in cases if each["task"] == task] for task in ("linear", "warped"))
    assert sum(study.agreeing(linear, "tanh")) == sum(study.agreeing(linear, "gated")) == 9
    assert sum(study.agreeing(warped, "tanh")) == sum(study.agreeing(warped, "gated")) == 3
    assert study.agreeing(linear, "tanh", lowest=False) == [True] * 12
    text = " ".join(telling.of_theory(study.results()["stacks"]))
    assert "predicted neither" in text and study.of_stacks(study.results()["stacks"])["series"] < 0.5
    totals = {
        task: [each["tanh"][0]["total"] for each in cases if (each["process"], each["task"]) == ("power law", task)]
        for task in ("linear", "warped")
    }
    assert min(totals["linear"]) > 17 and max(totals["linear"]) < min(totals["warped"]) and max(totals["warped"]) < 23


def test_what_the_chapter_says_of_changed_labels():
    """The norm of the gradient is ahead, and the interval of the difference includes zero."""
    again = study.foretold()
    assert again["capacity"][1] > again["chance"][0]
    assert again["gradient norm"][0] > again["capacity"][0] and again["margin"][1] < 0 < again["margin"][2] + 0.03
