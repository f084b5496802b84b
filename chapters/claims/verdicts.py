"""The verdicts, and the mechanical rule from checks to a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chapters.claims.criteria import Value
    from chapters.claims.registry import Claim

HOLDS = "holds"
CORRECTED = "holds with a correction"
UNDECIDED = "undecided"
NOT_FOUND = "not found"
FALSE = "false"
DEFINITION = "definition or proposal"
NO_EVIDENCE = "no evidence"
NOT_ATTEMPTED = "not attempted yet"
MARKS = {
    HOLDS: "✓",
    CORRECTED: "◐",
    UNDECIDED: "≈",
    NOT_FOUND: "≠",
    FALSE: "✗",
    DEFINITION: "–",
    NO_EVIDENCE: "?",
    NOT_ATTEMPTED: "…",
}
"""Verdict → its mark, in the order of the tables. The last two say that work is missing."""
VERDICTS = tuple(MARKS)
DECLARED = (UNDECIDED, DEFINITION)
"""Verdicts that no check can give: a person declares them in the registry, with the reason in the claim's sentence."""
ROLES = ("claim", "correction", "counterexample", "question")


@dataclass(frozen=True)
class Verdict:
    """A verdict and what it rests on: ``outcomes`` says for each recorded check whether it passes."""

    name: str
    outcomes: Mapping[str, bool]

    def __str__(self) -> str:
        """The verdict's name."""
        return self.name


def judge(claim: Claim, values: Mapping[str, Value]) -> Verdict:
    """The verdict on ``claim`` when its checks found ``values`` (check name to value), in this order:

    1. no checks, or nothing recorded and none recorded before: ``not attempted yet``, or what is declared;
    2. a check without a value: ``no evidence``;
    3. declared in the registry: ``undecided`` or ``definition or proposal``;
    4. there are checks of role ``claim``, all hold, and no counterexample holds: ``holds``;
    5. there are corrections and all hold: ``holds with a correction``;
    6. a counterexample holds: ``false``;
    7. otherwise ``not found``, or ``undecided`` where the source leaves open what a threshold needs.

    Checks of role ``question`` are our own, stronger or wider than what the source says, and decide nothing.
    """
    outcomes = {check.name: check.test.holds(values[check.name]) for check in claim.checks if check.name in values}
    if not claim.checks:
        return Verdict(claim.declared or NOT_ATTEMPTED, outcomes)
    if not outcomes and claim.verdict == NOT_ATTEMPTED:
        return Verdict(NOT_ATTEMPTED, outcomes)
    if len(outcomes) < len(claim.checks):
        return Verdict(NO_EVIDENCE, outcomes)
    if claim.declared:
        return Verdict(claim.declared, outcomes)
    by_role = {role: [outcomes[check.name] for check in claim.checks if check.role == role] for role in ROLES}
    contradicted = any(by_role["counterexample"])
    if by_role["claim"] and all(by_role["claim"]) and not contradicted:
        return Verdict(HOLDS, outcomes)
    if by_role["correction"] and all(by_role["correction"]):
        return Verdict(CORRECTED, outcomes)
    if contradicted:
        return Verdict(FALSE, outcomes)
    return Verdict(UNDECIDED if claim.open else NOT_FOUND, outcomes)
