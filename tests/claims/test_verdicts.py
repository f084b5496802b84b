"""The rule, as a table: what the checks of each role found, and the verdict that follows."""

import pytest

from capcore.claims import Check, Claim, Criterion, judge

YES, NO = True, False


def claim(claims=(), conditions=(), counterexamples=(), committed="not attempted yet", not_testable=None):
    roles = {"claim": claims, "condition": conditions, "counterexample": counterexamples}
    test = Criterion("is_true", True)
    checks, values = [], {}
    for role, found in roles.items():
        for number, value in enumerate(found):
            name = f"{role}_{number}"
            condition = f"restriction {number}" if role == "condition" else None
            checks.append(Check(name, role, "quantity", "statement", test, "why", condition))
            if value is not None:
                values[name] = value
    row = Claim("P1.01", "paper 1", "exact", "Text.", "alpha", tuple(checks), committed, not_testable)
    return row, values


@pytest.mark.parametrize(
    ("claims", "conditions", "counterexamples", "expected"),
    [
        ([YES], [], [], "reproduced"),
        ([YES, YES], [NO], [], "reproduced"),
        ([YES, NO], [], [], "not reproduced"),
        ([NO], [YES, YES], [], "reproduced under conditions"),
        ([NO], [YES, NO], [], "not reproduced"),
        ([YES], [], [YES], "refuted"),
        ([YES], [], [NO], "reproduced"),
        ([YES], [YES], [YES], "reproduced under conditions"),
        ([NO], [NO], [YES], "refuted"),
        ([], [YES], [YES], "reproduced under conditions"),
        ([], [YES], [NO], "reproduced under conditions"),
        ([], [NO], [NO], "not reproduced"),
        ([], [], [YES], "refuted"),
        ([YES], [None], [], "no evidence"),
        ([None, YES], [], [YES], "no evidence"),
    ],
)
def test_rule(claims, conditions, counterexamples, expected):
    assert judge(*claim(claims, conditions, counterexamples)).name == expected


@pytest.mark.parametrize(
    ("committed", "expected"),
    [("not attempted yet", "not attempted yet"), ("reproduced", "no evidence"), ("no evidence", "no evidence")],
)
def test_nothing_recorded(committed, expected):
    assert judge(*claim([None], committed=committed)).name == expected


def test_no_checks_is_not_attempted():
    assert judge(*claim()).name == "not attempted yet"


def test_declared_not_testable_wins():
    assert judge(*claim([YES], not_testable="needs data nobody has")).name == "not testable here"


def test_conditions_are_listed_once_and_only_where_they_decide():
    row, values = claim([NO], [YES, YES])
    assert judge(row, values).conditions == ("restriction 0", "restriction 1")
    assert judge(*claim([YES], [YES])).conditions == ()


def test_outcomes_name_each_recorded_check():
    assert dict(judge(*claim([YES], [NO])).outcomes) == {"claim_0": True, "condition_0": False}
