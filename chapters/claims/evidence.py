"""Recording, in one line of a notebook cell, the values that decide a claim."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from chapters.claims.criteria import ClaimsError, Value, digits, plain
from chapters.claims.notation import to_html
from chapters.claims.registry import Check, Claim, load
from chapters.claims.verdicts import CORRECTED, HOLDS, MARKS
from chapters.kit.parameters import CHANGED
from chapters.kit.publish import GLUE_PREFIX

METADATA_KEY = "capcore"


@dataclass(frozen=True)
class Evidence:
    """The values recorded for some checks of a claim, as a table on the page and as exact numbers in its metadata."""

    claim: Claim
    values: Mapping[str, Value]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, Any]]:
        tests = {name: self.claim.check(name).test.as_mapping() for name in self.values}
        evidence = {"claim": self.claim.id, "values": dict(self.values), "tests": tests}
        return {"text/plain": str(self), "text/html": self.html()}, {METADATA_KEY: evidence}

    def __str__(self) -> str:
        """The verdict, and one line per check."""
        lines = [f"{self._verdict()} · {self.claim.id} ({self.claim.source})"]
        lines += [f"  {self.claim.sentence}"] if self._is_first and not CHANGED else []
        for check, shown, outcome in self._rows():
            lines.append(f"  {outcome + ': ' if outcome else ''}{check.quantity} = {shown} (criterion: {check.test})")
        return "\n".join(lines)

    def html(self) -> str:
        """The box shown in a notebook: verdict and sentence, with the claim and its checks folded away.

        Anchor and sentence stand where the claim's first check is recorded. With other parameters there is no verdict
        and no outcome.
        """
        number = len(self.values)
        sentence = f": {to_html(self.claim.sentence)}" if self._is_first and not CHANGED else ""
        return (
            f'<div class="capcore-claim"{self._anchor}><p><strong>{self._verdict()}</strong> · {self.claim.id} '
            f"({to_html(self.claim.source)}){sentence}</p>"
            f"<details{' open' * bool(CHANGED or self._differs)}><summary>the claim and {number} "
            f"check{'s' * (number > 1)}</summary><p>{to_html(self.claim.claim)}</p>{self._table()}</details></div>"
        )

    def folded_html(self) -> str:
        """The box of the book, as one element that opens: only its first words stay where there is no margin.

        ``book/_static/claims.css`` puts it into the margin of a wide page, where the sentence is in sight, too.
        """
        sentence = f'<span class="claim-sentence">. {to_html(self.claim.sentence)}</span>' * self._is_first
        return (
            f'<details class="capcore-claim margin"{self._anchor}{" open" * self._differs}>'
            f"<summary><strong>{self._verdict()}</strong> · {self.claim.id}{sentence}</summary>"
            f"<p><small>{to_html(self.claim.source)}</small></p><p>{to_html(self.claim.claim)}</p>{self._table()}"
            "</details>"
        )

    def _table(self) -> str:
        """A row for each check. Cells carry their column's head as ``data-label``, for where there is no room."""
        heads = ["quantity", "found", "criterion"] + ["outcome"] * (not CHANGED)
        rows = "".join(
            f"<tr><td>{to_html(check.quantity)}{_remark(check)}<br><small>{to_html(check.statement)}</small></td>"
            f'<td data-label="found">{escape(shown)}</td><td data-label="criterion">{escape(str(check.test))}</td>'
            + (f'<td data-label="outcome">{outcome}</td>' if outcome else "")
            + "</tr>"
            for check, shown, outcome in self._rows()
        )
        head = "".join(f'<th scope="col">{each}</th>' for each in heads)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    @property
    def _anchor(self) -> str:
        return f' id="{self.claim.anchor}"' if self._is_first else ""

    @property
    def _is_first(self) -> bool:
        return self.claim.checks[0].name in self.values

    def _verdict(self) -> str:
        if CHANGED:
            return f"other {', '.join(CHANGED)} than in the book: this run's values, without a verdict"
        text = f"{MARKS[self.claim.verdict]} {self.claim.verdict}"
        return f"{text} at the book's parameters, not with those of this run" if self._differs else text

    @property
    def _differs(self) -> bool:
        """Whether a check fails here that the verdict rests on: other parameters than the book's were given."""
        decisive = {HOLDS: "claim", CORRECTED: "correction"}.get(self.claim.verdict)
        return any(check.role == decisive and not check.test.holds(value) for check, value in self._recorded())

    def _recorded(self) -> list[tuple[Check, Value]]:
        return [(check, self.values[check.name]) for check in self.claim.checks if check.name in self.values]

    def _rows(self) -> list[tuple[Check, str, str]]:
        recorded = self._recorded()
        return [(check, digits(check.test.stable(x, check.varies)), _outcome(check, x)) for check, x in recorded]


def record(claim_id: str, /, *, registry: str | Path | None = None, **values: object) -> Evidence:
    """The evidence for some checks of a claim; end a cell with it, so that the notebook keeps it.

    Each keyword is the name of one of the claim's checks. Inside a notebook every value is also glued under the
    key ``<claim>.<check>``, as it is shown, so that any page can cite it; MyST-NB needs the format, ``s`` for text::

        {glue:text}`../notebooks/linear_systems.ipynb::P1.02.gap:s`

    Parameters
    ----------
    claim_id : str
        Such as ``"P1.02"``.
    registry : path, optional
        Of a ``claims.yml``; by default the one that :func:`find_registry` finds.
    **values : float, bool or list of int
        One per check.

    Raises
    ------
    ClaimsError
        For an unknown claim or check (close matches are named), or a value that is not finite or not of the kind
        that the check's test can judge.
    """
    claim = load(registry)[claim_id]
    if not values:
        names = ", ".join(check.name for check in claim.checks) or "none yet"
        raise ClaimsError(f"{claim_id}: found no values to record, expected one keyword per check ({names}).")
    recorded = {}
    for name, value in values.items():
        label = f"{claim_id}.{name}"
        check = claim.check(name)
        recorded[name] = plain(value, label)
        try:
            check.test.holds(recorded[name])
        except ClaimsError as error:
            raise ClaimsError(f"{label}: {error}") from None
    evidence = Evidence(claim, recorded)
    _glue(evidence)
    return evidence


def _glue(evidence: Evidence) -> None:
    """Publish each value under its key for MyST-NB, as an output that no page shows; nothing outside a notebook."""
    ipython = sys.modules.get("IPython")
    if ipython is None or ipython.get_ipython() is None:
        return
    from IPython.display import publish_display_data

    for name, value in evidence.values.items():
        check = evidence.claim.check(name)
        text = str(check.test.stable(value, check.varies))
        key = {"name": f"{evidence.claim.id}.{name}", "mime_prefix": GLUE_PREFIX}
        publish_display_data({f"{GLUE_PREFIX}text/plain": text}, metadata={"scrapbook": key})


def _remark(check: Check) -> str:
    return f" <em>({to_html(check.remark)})</em>" if check.remark else ""


def _outcome(check: Check, value: Value) -> str:
    passes = check.test.holds(value)
    if CHANGED:
        return ""
    if check.role == "counterexample":
        return "found" if passes else "none found"
    return "✓ passes" if passes else "✗ fails"
