"""What the page says of the stored run is what its answers are."""

import pytest

pytest.importorskip("jax")
pytest.importorskip("sklearn")
from chapters.your_trained_network import decay_answers, decay_questions, validation
from tests.chapters.your_trained_network.test_decay_choice import answered, cell


def cells(**regrets):
    return [cell(name, each, **regrets) for name in ("diabetes", "wine") for each in ("Adam", "AdamW")]


def test_what_is_as_good_as_cross_validation_is_named_and_what_is_not_is_not():
    good, bad = (" ".join(validation.of_decays(cells(alo=each))) for each in (0.01, 0.1))
    assert "chosen 0.0 points worse" in good and good.count("| yes | 100% |") == 4
    assert bad.count("| no | 100% |") == 4
    assert "chosen 9.0 points worse" in bad and "a random choice is 9 points worse." in bad
    assert "1.00 to 1.00 times" in bad
    assert "| when to stop | 10.0 | 1.0 | 2.0 | 4.0 | 3.0 | 10.0 | 9.0 [9.0, 9.0] | no | 100% |" in bad


def test_the_page_has_the_answers_of_the_stored_run():
    text = " ".join(validation.of_decays(validation.decays.cells()))
    met = decay_answers.regret(decay_answers.cells(), "decay", "alo", "cv")
    assert validation.ends(met) in text and "| undecided |" in text
    rows = validation.rows()
    said = answered(decay_answers.numbers(decay_answers.cells()), decay_questions.QUESTIONS)
    assert [row[-1] for row in rows] == said
    assert f"Of {len(said)} questions" in validation.of_all()
    assert f"and {said.count('undecided')} are undecided" in validation.of_all()
