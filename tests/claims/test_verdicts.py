"""The rule, as a table: what the checks of each role found, and the verdict that follows."""

from pathlib import Path

import pytest

from chapters.claims.collection import Finding, judge
from chapters.claims.criteria import Criterion
from chapters.claims.registry import Check, Claim, load

YES, NO = True, False


def claim(
    claims=(),
    corrections=(),
    counterexamples=(),
    questions=(),
    committed="not attempted yet",
    declared=None,
    left_open=None,
):
    roles = {"claim": claims, "correction": corrections, "counterexample": counterexamples, "question": questions}
    text = dict.fromkeys(("quantity", "statement", "why", "source", "claim", "sentence"), "Text.")
    checks, values = [], {}
    for role, found in roles.items():
        for number, value in enumerate(found):
            check = Check.model_construct(**text, name=f"{role}_{number}", role=role, test=Criterion("is_true", True))
            checks.append(check)
            if value is not None:
                values[check.name] = value
    row = Claim.model_construct(**text, checks=checks, verdict=committed, declared=declared, open=left_open)
    return row, values


@pytest.mark.parametrize(
    ("claims", "corrections", "counterexamples", "expected"),
    [
        ([YES], [], [], "holds"),
        ([YES, YES], [NO], [], "holds"),
        ([YES, NO], [], [], "not found"),
        ([NO], [YES, YES], [], "holds with a correction"),
        ([NO], [YES, NO], [], "not found"),
        ([YES], [], [YES], "false"),
        ([YES], [], [NO], "holds"),
        ([YES], [YES], [YES], "holds with a correction"),
        ([NO], [NO], [YES], "false"),
        ([], [YES], [YES], "holds with a correction"),
        ([], [YES], [NO], "holds with a correction"),
        ([], [NO], [NO], "not found"),
        ([], [], [YES], "false"),
        ([YES], [None], [], "no evidence"),
        ([None, YES], [], [YES], "no evidence"),
    ],
)
def test_rule(claims, corrections, counterexamples, expected):
    assert judge(*claim(claims, corrections, counterexamples)) == expected


@pytest.mark.parametrize(
    ("claims", "corrections", "counterexamples", "expected"),
    [
        ([YES], [], [], "holds"),
        ([NO], [], [], "undecided"),
        ([NO], [NO], [], "undecided"),
        ([NO], [YES], [], "holds with a correction"),
        ([NO], [], [YES], "false"),
        ([NO, None], [], [], "no evidence"),
    ],
)
def test_what_the_source_leaves_open_no_threshold_of_ours_finds_missing(claims, corrections, counterexamples, expected):
    assert judge(*claim(claims, corrections, counterexamples, left_open="the process")) == expected


@pytest.mark.parametrize("answer", [YES, NO])
def test_a_question_of_ours_decides_nothing(answer):
    assert judge(*claim([YES], questions=[answer])) == "holds"
    assert judge(*claim([NO], questions=[answer])) == "not found"
    assert judge(*claim([NO], [YES], questions=[answer])) == "holds with a correction"
    assert judge(*claim([YES], questions=[None])) == "no evidence", "it is still computed"


@pytest.mark.parametrize("declared", ["undecided", "definition or proposal"])
@pytest.mark.parametrize("answer", [YES, NO])
def test_what_is_declared_stands_whatever_the_checks_find_but_not_without_them(declared, answer):
    assert judge(*claim([answer], counterexamples=[answer], declared=declared)) == declared
    assert judge(*claim([answer, None], declared=declared)) == "no evidence"
    assert judge(*claim(declared=declared)) == declared


@pytest.mark.parametrize(
    ("committed", "expected"),
    [("not attempted yet", "not attempted yet"), ("holds", "no evidence"), ("no evidence", "no evidence")],
)
def test_nothing_recorded(committed, expected):
    assert judge(*claim([None], committed=committed)) == expected


def test_no_checks_is_not_attempted():
    assert judge(*claim()) == "not attempted yet"


def test_outcomes_name_each_recorded_check():
    assert Finding(*claim([YES], [NO]), is_read=True).outcomes == {"claim_0": True, "correction_0": False}


PLAIN = {
    "reproduced": "holds",
    "reproduced under conditions": "holds with a correction",
    "not reproduced": "not found",
    "refuted": "false",
}


@pytest.mark.parametrize(
    "row", list(load(Path(__file__).resolve().parents[2] / "book" / "claims.yml")), ids=lambda r: r.id
)
def test_each_claim_says_in_a_sentence_what_was_found_and_why_the_verdict_changed(row):
    assert row.verdict not in ("no evidence", "not attempted yet")
    assert len(row.sentence) > 20 and len(row.sentence.split()) <= 35 and row.sentence.endswith(".")
    if row.first_edition is not None:
        assert row.first_edition in PLAIN
        assert (PLAIN[row.first_edition] == row.verdict) or (row.changed and len(row.changed) > 20)


def test_the_last_change_in_a_history_leads_to_the_verdict():
    rows = load(Path(__file__).resolve().parents[2] / "book" / "claims.yml")
    for row in rows:
        changes = [line.split(":")[0].split(" → ") for line in row.history if " → " in line.split(":")[0]]
        for change in changes:
            assert change[-1].split(",")[0] == row.verdict, row.id
        assert all(line.endswith(".") for line in row.history), row.id
