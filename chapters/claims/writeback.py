"""Writing verdicts into the registry, line by line, so that its comments and layout stay."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from chapters.claims.criteria import ClaimsError

_ID = re.compile(r"^- id: *([^\s#]+)")
_VERDICT = re.compile(r"^  verdict: *([^#\n]*?)( *(?:#.*)?)$")


def write_verdicts(path: str | Path, verdicts: Mapping[str, str]) -> list[str]:
    """The ids whose ``verdict:`` line in the registry file changed; all other lines are kept as they are.

    Raises ``ClaimsError`` if a claim's row has no line for its verdict; nothing is written then.
    """
    file = Path(path)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    current, seen = "", set()
    changed: list[str] = []
    for number, line in enumerate(lines):
        if found := _ID.match(line):
            current = found[1].strip("\"'")
        elif current in verdicts and (found := _VERDICT.match(line.rstrip("\r\n"))):
            seen.add(current)
            if found[1].strip("\"'") != verdicts[current]:
                ending = line[len(line.rstrip("\r\n")) :]
                lines[number] = f"  verdict: {_text(verdicts[current])}{found[2]}{ending}"
                changed.append(current)
    if missing := [claim_id for claim_id in verdicts if claim_id not in seen]:
        raise ClaimsError(f"{file.name}: found no line '  verdict: …' for {', '.join(missing)}.")
    if changed:
        file.write_text("".join(lines), encoding="utf-8")
    return changed


def _text(verdict: str) -> str:
    """``verdict`` as YAML text; the word false alone would be read as a truth value."""
    return f'"{verdict}"' if verdict == "false" else verdict
