"""The mechanical rule from checks to a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capcore.claims.criteria import Value
    from capcore.claims.registry import Claim

REPRODUCED = "reproduced"
UNDER_CONDITIONS = "reproduced under conditions"
NOT_REPRODUCED = "not reproduced"
REFUTED = "refuted"
NOT_TESTABLE = "not testable here"
NO_EVIDENCE = "no evidence"
NOT_ATTEMPTED = "not attempted yet"
VERDICTS = (REPRODUCED, UNDER_CONDITIONS, NOT_REPRODUCED, REFUTED, NOT_TESTABLE, NO_EVIDENCE, NOT_ATTEMPTED)
ROLES = ("claim", "condition", "counterexample")


@dataclass(frozen=True)
class Verdict:
    """A verdict and what it rests on: ``outcomes`` says for each recorded check whether it holds."""

    name: str
    outcomes: Mapping[str, bool]
    conditions: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The verdict's name."""
        return self.name


def judge(claim: Claim, values: Mapping[str, Value]) -> Verdict:
    """The verdict on ``claim`` when its checks found ``values`` (check name to value), in this order:

    1. declared in the registry: ``not testable here``;
    2. no checks, or nothing recorded and none recorded before: ``not attempted yet``;
    3. a check without a value: ``no evidence``;
    4. there are checks of role ``claim``, all hold, and no counterexample holds: ``reproduced``;
    5. there are conditions and all hold: ``reproduced under conditions``;
    6. a counterexample holds: ``refuted``;
    7. otherwise: ``not reproduced``.
    """
    outcomes = {check.name: check.test.holds(values[check.name]) for check in claim.checks if check.name in values}
    if claim.not_testable:
        return Verdict(NOT_TESTABLE, outcomes)
    if not claim.checks or (not outcomes and claim.verdict == NOT_ATTEMPTED):
        return Verdict(NOT_ATTEMPTED, outcomes)
    if len(outcomes) < len(claim.checks):
        return Verdict(NO_EVIDENCE, outcomes)
    by_role = {role: [outcomes[check.name] for check in claim.checks if check.role == role] for role in ROLES}
    refuted = any(by_role["counterexample"])
    if by_role["claim"] and all(by_role["claim"]) and not refuted:
        return Verdict(REPRODUCED, outcomes)
    if by_role["condition"] and all(by_role["condition"]):
        conditions = dict.fromkeys(check.condition for check in claim.checks if check.condition)
        return Verdict(UNDER_CONDITIONS, outcomes, tuple(conditions))
    return Verdict(REFUTED if refuted else NOT_REPRODUCED, outcomes)
