"""Count the package: files, lines of code and the longest file of each room: ``python scripts/sizes.py [REVISION]``.

With a revision of git, such as the second edition's ``6d18bc1f``, its numbers stand beside today's.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
import tokenize
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from capcore.moved import MOVED

PACKAGE = Path(__file__).resolve().parent.parent / "capcore"
LAYOUT = {getattr(tokenize, name) for name in ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER")}
PLUMBING = ("checkpoints", "commands")
"""Folders that are no mathematics."""
File = tuple[int, int, str]
"""Its lines, its lines of code, and its name."""


def lines_of_code(text: str) -> int:
    """Lines that hold code: neither blank, nor a comment alone, nor of a docstring."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for each in tokens if each.type not in LAYOUT for line in range(each.start[0], each.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def sources(package: Path = PACKAGE) -> dict[str, str]:
    """Name of a file within the package, such as ``spectra/hill.py``, → its text."""
    return {path.relative_to(package).as_posix(): path.read_text("utf8") for path in sorted(package.rglob("*.py"))}


def sources_at(revision: str) -> dict[str, str]:
    """The same at a revision of git."""
    command = ["git", "archive", revision, PACKAGE.name]
    done = subprocess.run(command, cwd=PACKAGE.parent, check=True, capture_output=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        found = [(each.name, archive.extractfile(each)) for each in archive if each.name.endswith(".py")]
        return {name.split("/", 1)[1]: file.read().decode("utf8") for name, file in found if file}


def is_plumbing(name: str) -> bool:
    """Whether a file reads files or serves terminals: by the room that it is in today, wherever it was.

    >>> is_plumbing("spectra/safetensors.py"), is_plumbing("spectra/hill.py")
    (True, False)
    """
    module = f"capcore.{name.removesuffix('.py').replace('/', '.')}"
    return MOVED.get(module, (module,))[0].split(".")[1] in PLUMBING


def rooms(texts: Mapping[str, str]) -> dict[str, list[File]]:
    """Room → its files: each folder, then all mathematics, all plumbing, and everything."""
    files = [(text.count("\n"), lines_of_code(text), name) for name, text in texts.items()]
    found: dict[str, list[File]] = {}
    for each in sorted(files, key=lambda each: each[2]):
        found.setdefault(each[2].split("/")[0] if "/" in each[2] else ".", []).append(each)
    found["mathematics"] = [each for each in files if not is_plumbing(each[2])]
    found["plumbing"] = [each for each in files if is_plumbing(each[2])]
    return {**found, "all": files}


def report(counted: Mapping[str, Mapping[str, str]]) -> str:
    """A line for each room; of several packages, given by what to call them, the numbers of one beside the next."""
    columns = [rooms(texts) for texts in counted.values()]
    totals = ("mathematics", "plumbing", "all")
    folders = sorted({*chain.from_iterable(columns)} - {*totals})
    heads = (f"{'files':>6}{'code':>8}  {f'longest file {when}':40}" for when in counted)
    rows = [(room, *(_told(each.get(room, [])) for each in columns)) for room in (*folders, *totals)]
    return "\n".join(f"{first:14}{''.join(rest)}".rstrip() for first, *rest in [("folder", *heads), *rows])


def _told(files: list[File]) -> str:
    if not files:
        return f"{'–':>6}{'–':>8}  {'':40}"
    n_lines, _, name = max(files)
    longest = f"{name}, {n_lines} lines"
    return f"{len(files):6}{sum(code for _, code, _ in files):8,}  {longest:40}"


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf8")  # type: ignore[union-attr]
    print(report({**{f"at {each}": sources_at(each) for each in sys.argv[1:]}, "now": sources()}))
