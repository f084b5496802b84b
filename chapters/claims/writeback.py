"""Writing verdicts into the registry, line by line, so that its comments and layout stay."""

import re
from collections.abc import Mapping
from pathlib import Path

from chapters.claims.criteria import ClaimsError

_ID = re.compile(r"""- id: *["']?([^\s#"']+)""")
_VERDICT = re.compile(r"^  verdict: *([^#\n]*?) *(?:#.*)?$", re.MULTILINE)


def write_verdicts(path: str | Path, verdicts: Mapping[str, str]) -> list[str]:
    """The ids whose ``verdict:`` line in the registry file changed; all other lines are kept as they are.

    Raises ``ClaimsError`` if a claim's row has no line for its verdict; nothing is written then.
    """
    file = Path(path)
    rows = re.split("^(?=- id:)", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    changed, missing = [], set(verdicts)
    for number, row in enumerate(rows):
        name, line = _ID.match(row), _VERDICT.search(row)
        if name and line and name[1] in verdicts:
            missing.discard(name[1])
            if line[1].strip("\"'") != verdicts[name[1]]:
                rows[number] = f"{row[: line.start(1)]}{_text(verdicts[name[1]])}{row[line.end(1) :]}"
                changed.append(name[1])
    if missing:
        raise ClaimsError(f"{file.name}: found no line '  verdict: …' for {', '.join(sorted(missing))}.")
    if changed:
        file.write_text("".join(rows), encoding="utf-8")
    return changed


def _text(verdict: str) -> str:
    """``verdict`` as YAML text; the word false alone would be read as a truth value."""
    return f'"{verdict}"' if verdict == "false" else verdict
