"""A claim's own criteria, applied to further cases: no limit is typed twice."""

from __future__ import annotations

from chapters.claims import load


def passes(claim_id: str, /, **values: float) -> bool:
    """Whether every value passes the test that the registry holds for the check of that name.

    Raises ``ClaimsError`` for an unknown claim or check.

    >>> passes("P1.48", recent_share=0.3), passes("P1.48", recent_share=0.2)
    (True, False)
    """
    claim = load()[claim_id]
    return all(claim.check(name).test.holds(value) for name, value in values.items())


def limit(claim_id: str, name: str) -> float:
    """The bound of a check, such as 0.25 for "at least 0.25".

    >>> limit("P1.48", "recent_share")
    0.25
    """
    return float(load()[claim_id].check(name).test.bound)
