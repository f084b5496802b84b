"""Count lines of code room by room, beside their ceilings: ``python scripts/sizes.py [REVISION]``.

Lines are those that hold code: neither blank, nor a comment alone, nor of a docstring. A ceiling falls whenever a room
has become smaller; one that rises names in the changelog what paid for it. With a revision of git its numbers stand
beside today's. Exits with 1 above a ceiling.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ("processes", "architectures", "fitting", "capacity", "propagation", "verbs")
CEILINGS = {
    "capcore": 13_000,
    "core": 4_500,
    "networks": 1_700,
    "spectra": 2_400,
    "checkpoints": 1_500,
    "designs": 900,
    "commands": 700,
    "chapters": 18_000,
    "tests": 30_000,
}
CHARACTERS, FILES = 690_000, 900
"""Of the code of ``capcore``, since fewer lines are not to become denser ones; Python files that git tracks."""


def code_lines(text: str) -> list[str]:
    """Lines that hold code.

    >>> code_lines('# one\\n\\ndef f():\\n    "two"\\n    return 1\\n')
    ['def f():', '    return 1']
    """
    texts: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            texts.update(range(node.lineno, (node.end_lineno or 0) + 1))
    lines = enumerate(text.splitlines(), 1)
    return [line for number, line in lines if number not in texts and line.strip() and line.strip()[0] != "#"]


def tracked(revision: str | None = None) -> dict[str, str]:
    """Path → text of every Python file: of the working tree, or of a revision."""
    if revision is None:
        names = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        paths = [ROOT / name for name in names.splitlines()]
        return {path.relative_to(ROOT).as_posix(): path.read_text("utf8") for path in paths if path.is_file()}
    archive = subprocess.run(["git", "archive", revision], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        members = [member for member in files if member.isfile() and member.name.endswith(".py")]
        return {member.name: (files.extractfile(member) or io.BytesIO()).read().decode("utf8") for member in members}


def rooms_of(path: str) -> list[str]:
    """The rooms that a file counts for.

    >>> rooms_of("capcore/processes/base.py"), rooms_of("tests/test_verbs.py"), rooms_of("conftest.py")
    (['capcore', 'processes', 'core'], ['tests'], [])
    """
    parts = path.removesuffix(".py").split("/")
    if parts[0] != "capcore":
        return [parts[0]] if len(parts) > 1 else []
    return ["capcore", parts[1], *(["core"] if parts[1] in CORE else [])]


def sizes(files: dict[str, str]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Room → lines, characters and files."""
    lines: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for path, text in files.items():
        code = code_lines(text)
        for room in rooms_of(path):
            lines[room] += len(code)
            characters[room] += sum(map(len, code))
            count[room] += 1
    return lines, characters, count


def main(arguments: list[str]) -> int:
    """Print the table, and return the exit status."""
    files = tracked()
    lines, characters, count = sizes(files)
    before = sizes(tracked(arguments[0]))[0] if arguments else Counter()
    print(f"{'room':<16}{'files':>6}{'characters':>12}{'lines':>8}{'ceiling':>9}{'before' if before else '':>8}")
    for room in [*CEILINGS, *sorted(set(lines) - set(CEILINGS))]:
        row = f"{room:<16}{count[room]:>6}{characters[room]:>12,}{lines[room]:>8,}"
        row += f"{CEILINGS.get(room, ''):>9}"
        print(f"{row}{before[room]:>8,}" if before else row)
    total = characters["capcore"]
    print(f"{len(files):,} Python files, at most {FILES:,}; {total:,} characters, at most {CHARACTERS:,}")
    above = [room for room, most in CEILINGS.items() if lines[room] > most]
    above += ["characters"] * (total > CHARACTERS) + ["files"] * (len(files) > FILES)
    if above:
        print(f"Above the ceiling: {', '.join(above)}. Take something away, or name in the changelog what paid for it.")
    return int(bool(above))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
