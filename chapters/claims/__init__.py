"""What the sources assert, what would decide it, and what the notebooks found.

The registry (``book/claims.yml``) holds one row per claim, with checks that were committed before anything was
computed. A notebook cell records the numbers in one line, ``record("P1.02", gap=1e-15)``; ``collect`` reads them back
from executed notebooks and applies the verdict rule.
"""

from chapters.claims.collection import Collection, Finding, collect, problems
from chapters.claims.criteria import Criterion
from chapters.claims.evidence import Evidence, record
from chapters.claims.registry import Check, Claim, ClaimsError, Form, Registry, find_registry, load
from chapters.claims.verdicts import MARKS, VERDICTS, Verdict, judge
from chapters.claims.writeback import write_verdicts

__all__ = [
    "MARKS",
    "VERDICTS",
    "Check",
    "Claim",
    "ClaimsError",
    "Collection",
    "Criterion",
    "Evidence",
    "Finding",
    "Form",
    "Registry",
    "Verdict",
    "collect",
    "find_registry",
    "judge",
    "load",
    "problems",
    "record",
    "write_verdicts",
]
