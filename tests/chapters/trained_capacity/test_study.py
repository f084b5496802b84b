"""The numbers that decide the questions: on made-up values, and what the chapter says of the stored ones."""

from chapters.trained_capacity import event_answers, study, telling
from chapters.trained_capacity.questions import QUESTIONS


def case(profile, linear, random):
    optimum = {"linear": linear, "total": sum(linear) + 3.0}
    return {"profile": profile, "random": random, "tanh": [optimum], "gated": []}


def test_a_profile_is_predicted_where_it_is_alike_and_chance_is_not():
    up, zigzag = [1.0, 2.0, 3.0, 4.0], [1.0, 4.0, 1.0, 4.0]
    alike = case(up, [1.1, 2.0, 3.0, 4.2], [0.2] * 5)
    by_chance = case(up, [1.1, 2.0, 3.0, 4.2], [0.999] * 5)
    unlike = case(up, zigzag, [0.2] * 5)
    assert study.agreeing([alike, by_chance, unlike], "tanh") == [True, False, False]
    assert study.agreeing([alike], "gated") == []


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


def test_what_the_chapter_says_of_events():
    """Undecided, no better than the gradient, and no amount: as its first sentence and its captions have it."""
    table, ranks = event_answers.answers(), event_answers.ranks()
    assert table.loc["Does missed share rank events?", "answer"] == "undecided"
    gain = table.loc["Does the missed share rank them better than gradient?"]
    assert gain["answer"] == "undecided" and gain["mean"] < 0.01
    assert table.loc["Is the cost the missed share?", "answer"] == "no" and 1.9 < event_answers.excess() < 2.3
    assert len(ranks) == 6 and ranks[["missed share", "occlusion", "gradient"]].mean().between(0.64, 0.7).all()
    assert "which no correlation reaches" in " ".join(telling.of_answers(table, 0.8, 0.4, 2.0))
    assert table.loc["Does missed share rank events?", ["bound", "high"]].sum() - gain["bound"] > 1
    errors = [cell["error"] > cell["variance"] for pair in event_answers.pairs() for cell in event_answers.cells(*pair)]
    assert sum(errors) == 1
