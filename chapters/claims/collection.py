"""Collecting the evidence of executed notebooks and judging every claim by it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chapters.claims.criteria import ClaimsError, Value, plain
from chapters.claims.evidence import METADATA_KEY
from chapters.claims.registry import Claim, Registry, load
from chapters.claims.verdicts import NO_EVIDENCE, NOT_ATTEMPTED, Verdict, judge


@dataclass(frozen=True)
class Finding:
    """What the notebooks found for one claim."""

    claim: Claim
    values: dict[str, Value]
    verdict: Verdict

    @property
    def missing(self) -> list[str]:
        """Names of the checks that no notebook recorded."""
        return [check.name for check in self.claim.checks if check.name not in self.values]

    @property
    def changed(self) -> bool:
        """Whether the verdict differs from the one committed in the registry."""
        return self.verdict.name != self.claim.verdict


@dataclass(frozen=True)
class Collection:
    """One finding per claim, in the registry's order, and the stems of the notebooks that were read."""

    registry: Registry
    findings: dict[str, Finding]
    notebooks: tuple[str, ...]

    def __getitem__(self, claim_id: str) -> Finding:
        """The finding on ``claim_id``. Raises ``ClaimsError`` with close matches."""
        return self.findings[self.registry[claim_id].id]

    def __iter__(self) -> Iterator[Finding]:
        """Findings in the registry's order."""
        return iter(self.findings.values())


def collect(notebooks: Iterable[str | Path], registry: Registry | str | Path | None = None) -> Collection:
    """The findings of executed ``notebooks`` for every claim of ``registry``.

    Raises ``ClaimsError``, listing every problem, for a notebook that cannot be read or has an error output, for
    evidence on unknown claims or checks, in another notebook than the registry names, judged by another test than
    the registry holds, or recorded twice with different values.
    """
    rows = registry if isinstance(registry, Registry) else load(registry)
    paths = [Path(path) for path in notebooks]
    values: dict[str, dict[str, Value]] = {claim.id: {} for claim in rows}
    wrong = []
    for path in paths:
        for place, output in _outputs(path):
            try:
                _add(output, path.stem, rows, values)
            except ClaimsError as error:
                wrong.append(f"- {place}: {error}")
    if wrong:
        raise ClaimsError("\n".join(["The evidence cannot be used:", *wrong]))
    findings = {claim.id: Finding(claim, values[claim.id], judge(claim, values[claim.id])) for claim in rows}
    return Collection(rows, findings, tuple(path.stem for path in paths))


def problems(collection: Collection) -> list[str]:
    """What keeps a collection from agreeing with the registry: changed verdicts and claims without evidence."""
    found = []
    for finding in collection:
        claim, verdict = finding.claim, finding.verdict.name
        missing = ", ".join(finding.missing)
        if verdict == NO_EVIDENCE:
            found.append(f"{claim.id}: no evidence for {missing} in {claim.notebook}.ipynb (run the notebook again).")
        elif verdict == NOT_ATTEMPTED and claim.checks and claim.notebook in collection.notebooks:
            found.append(f"{claim.id}: {claim.notebook}.ipynb records none of its checks ({missing}).")
        elif finding.changed:
            found.append(
                f"{claim.id}: verdict is now '{verdict}', the registry says '{claim.verdict}'. "
                "If the change is right, run: python -m chapters claims collect --write"
            )
    return found


def _add(output: Mapping[str, Any], notebook: str, registry: Registry, values: dict[str, dict[str, Value]]) -> None:
    """Add what an output records of a claim's values."""
    if output.get("output_type") == "error":
        raise ClaimsError(
            f"has the error output {output.get('ename')}: {output.get('evalue')}. Mend the cell and run it again."
        )
    evidence = (output.get("metadata") or {}).get(METADATA_KEY)
    if not isinstance(evidence, dict) or "claim" not in evidence:
        return
    claim = registry[evidence["claim"]]
    if notebook != claim.notebook:
        raise ClaimsError(f"{claim.id} is recorded here, the registry expects it in {claim.notebook}.ipynb.")
    known = values[claim.id]
    for name, raw in evidence["values"].items():
        label = f"{claim.id}.{name}"
        value, test = plain(raw, label), claim.check(name).test
        if (evidence.get("tests") or {}).get(name) != test.as_mapping():
            raise ClaimsError(f"{label} was judged by another test than '{test}'. Run the notebook again.")
        if known.setdefault(name, value) != value:
            raise ClaimsError(f"{label} is recorded twice, as {known[name]!r} and as {value!r}.")
        test.holds(value)


def _outputs(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The place of each output in a notebook, and the output; of a file that is none, an error."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        yield path.name, {"output_type": "error", "ename": "file that is no version 4 notebook", "evalue": repr(error)}
        return
    for number, cell in enumerate(cells, start=1):
        yield from ((f"{path.name}, cell {number}", output) for output in cell.get("outputs", []))
