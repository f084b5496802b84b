"""The verdicts, and the roles of checks that they follow from."""

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
