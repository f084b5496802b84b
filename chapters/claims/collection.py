"""Collecting the evidence of executed notebooks, judging every claim by it, and writing the verdicts down."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from chapters.claims import verdicts
from chapters.claims.criteria import ClaimsError, Value, plain
from chapters.claims.evidence import METADATA_KEY
from chapters.claims.registry import Claim, Registry

_ID = re.compile(r"""- id: *["']?([^\s#"']+)""")
_VERDICT = re.compile(r"^  verdict: *([^#\n]*?) *(?:#.*)?$", re.MULTILINE)


class Finding(NamedTuple):
    """What the notebooks found for one claim, and whether its own notebook was among them."""

    claim: Claim
    values: dict[str, Value]
    is_read: bool

    @property
    def outcomes(self) -> dict[str, bool]:
        """Whether each recorded check passes."""
        recorded = [check for check in self.claim.checks if check.name in self.values]
        return {check.name: check.test.holds(self.values[check.name]) for check in recorded}

    @property
    def verdict(self) -> str:
        """What :func:`judge` says."""
        return judge(self.claim, self.outcomes)

    @property
    def missing(self) -> list[str]:
        """Names of the checks that no notebook recorded."""
        return [check.name for check in self.claim.checks if check.name not in self.values]

    @property
    def changed(self) -> bool:
        """Whether the verdict differs from the one committed in the registry."""
        return self.verdict != self.claim.verdict


def judge(claim: Claim, outcomes: Mapping[str, bool]) -> str:
    """The verdict on ``claim`` when its checks pass or not (check name to outcome), in this order:

    1. no checks, or nothing recorded and none recorded before: ``not attempted yet``, or what is declared;
    2. a check without a value: ``no evidence``;
    3. declared in the registry: ``undecided`` or ``definition or proposal``;
    4. there are checks of role ``claim``, all hold, and no counterexample holds: ``holds``;
    5. there are corrections and all hold: ``holds with a correction``;
    6. a counterexample holds: ``false``;
    7. otherwise ``not found``, or ``undecided`` where the source leaves open what a threshold needs.

    Checks of role ``question`` are our own, stronger or wider than what the source says, and decide nothing.
    """
    if not claim.checks:
        return claim.declared or verdicts.NOT_ATTEMPTED
    if not outcomes and claim.verdict == verdicts.NOT_ATTEMPTED:
        return verdicts.NOT_ATTEMPTED
    if len(outcomes) < len(claim.checks):
        return verdicts.NO_EVIDENCE
    if claim.declared:
        return str(claim.declared)
    by_role = {role: [outcomes[check.name] for check in claim.checks if check.role == role] for role in verdicts.ROLES}
    contradicted = any(by_role["counterexample"])
    if by_role["claim"] and all(by_role["claim"]) and not contradicted:
        return verdicts.HOLDS
    if by_role["correction"] and all(by_role["correction"]):
        return verdicts.CORRECTED
    if contradicted:
        return verdicts.FALSE
    return verdicts.UNDECIDED if claim.open else verdicts.NOT_FOUND


def collect(notebooks: Iterable[Path], registry: Registry) -> dict[str, Finding]:
    """Id → what executed ``notebooks`` found, for every claim of ``registry``, in its order.

    Raises ``ClaimsError``, listing every problem, for a notebook that cannot be read or has an error output, for
    evidence on unknown claims or checks, in another notebook than the registry names, judged by another test than
    the registry holds, or recorded twice with different values.
    """
    values: dict[str, dict[str, Value]] = {claim.id: {} for claim in registry}
    stems, wrong = set(), []
    for path in notebooks:
        stems.add(path.stem)
        for place, output in _outputs(path):
            try:
                _add(output, path.stem, registry, values)
            except ClaimsError as error:
                wrong.append(f"- {place}: {error}")
    if wrong:
        raise ClaimsError("\n".join(["The evidence cannot be used:", *wrong]))
    return {claim.id: Finding(claim, values[claim.id], claim.notebook in stems) for claim in registry}


def problems(findings: Mapping[str, Finding]) -> list[str]:
    """What keeps findings from agreeing with the registry: changed verdicts and claims without evidence."""
    found = []
    for finding in findings.values():
        claim, verdict, missing = finding.claim, finding.verdict, ", ".join(finding.missing)
        if verdict == verdicts.NO_EVIDENCE:
            found.append(f"{claim.id}: no evidence for {missing} in {claim.notebook}.ipynb (run the notebook again).")
        elif verdict == verdicts.NOT_ATTEMPTED and claim.checks and finding.is_read:
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
        error = f"{output.get('ename')}: {output.get('evalue')}"
        raise ClaimsError(f"has the error output {error}. Mend the cell and run it again.")
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


def write_verdicts(path: str | Path, words: Mapping[str, str]) -> list[str]:
    """The ids whose ``verdict:`` line in the registry file changed; all other lines are kept as they are.

    Raises ``ClaimsError`` if a claim's row has no line for its verdict; nothing is written then.
    """
    file = Path(path)
    rows = re.split("^(?=- id:)", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    changed, missing = [], set(words)
    for number, row in enumerate(rows):
        name, line = _ID.match(row), _VERDICT.search(row)
        if name and line and name[1] in words:
            missing.discard(name[1])
            if line[1].strip("\"'") != words[name[1]]:
                rows[number] = f"{row[: line.start(1)]}{_text(words[name[1]])}{row[line.end(1) :]}"
                changed.append(name[1])
    if missing:
        raise ClaimsError(f"{file.name}: found no line '  verdict: …' for {', '.join(sorted(missing))}.")
    if changed:
        file.write_text("".join(rows), encoding="utf-8")
    return changed


def _text(verdict: str) -> str:
    """``verdict`` as YAML text; the word false alone would be read as a truth value."""
    return f'"{verdict}"' if verdict == "false" else verdict
