"""Check that docstrings have numpydoc's sections, which every IDE reads: ``python scripts/check_docstrings.py``.

``name : type`` is on a line of its own, what it is indented below, and every name is one that the function takes.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from capcore.results.fit_and_allocation import ALLOCATIONS_THAT_GIVE, FITS_THAT_GIVE

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("capcore", "chapters/kit", "chapters/shared", "chapters/claims")
Definition = ast.FunctionDef | ast.ClassDef
TITLES = "Parameters|Attributes|Returns|Yields|Raises|Warns|Notes|References|Examples"
NAMED = re.compile(r"(\*{0,2}\w+(?:, \w+)*) : (.+)")
BESIDE_WORDS = re.compile(r"(?:, optional|, default \S+)$|\((?:[^()]|\([^()]*\))*\)|\"[^\"]*\"")
BUILTIN = "bool|callable|dict|float|int|list|mapping|None|object|path|sequence|set|slice|str|tuples?"
WORD = re.compile(rf"arrays?|array_like|of|or|{BUILTIN}|(?:\w+\.)+\w+|[A-Z]\w*")
HANDED_ON = {"Fit": FITS_THAT_GIVE, "Allocation": ALLOCATIONS_THAT_GIVE}  # by the record of the method


def is_type(text: str) -> bool:
    """Whether it is one type, or several joined by "or": known words, names of classes, shapes and literals."""
    words = BESIDE_WORDS.sub("", text)
    return all(map(WORD.fullmatch, re.findall(r"[^\s,]+", words))) and ("," not in words or " or " in words)


def names(node: Definition, classes: dict[str, ast.ClassDef]) -> set[str]:
    """What a function takes, or what a class and the classes that it extends have."""
    if isinstance(node, ast.FunctionDef):
        stars = [f"{'*' * k}{each.arg}" for k, each in ((1, node.args.vararg), (2, node.args.kwarg)) if each]
        return {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}.union(stars)
    functions = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    fields = {ast.unparse(each.target) for each in node.body if isinstance(each, ast.AnnAssign)}
    targets = [each for each in ast.walk(node) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)]
    above = [classes[base] for base in map(ast.unparse, node.bases) if base in classes]
    others = [names(each, classes) for each in above + [each for name, each in functions.items() if name == "__init__"]]
    return {*functions, *fields, *(each.attr for each in targets), *HANDED_ON.get(node.name, ())}.union(*others)


def complaints(node: Definition, classes: dict[str, ast.ClassDef]) -> Iterator[str]:
    """What is wrong with the sections of one docstring."""
    parts = re.split(rf"^({TITLES})\n-{{3,}}\n", ast.get_docstring(node) or "", flags=re.MULTILINE)
    own = names(node, classes) if parts[1:] else set()
    for title, text in zip(parts[1::2], parts[2::2], strict=True):
        items = re.findall(r"^\S.*", text, re.MULTILINE)
        if title in ("Parameters", "Attributes"):
            matches = [NAMED.fullmatch(item) for item in items]
            listed = [name for match in matches if match for name in match[1].split(", ")]
            yield from (item for item, match in zip(items, matches, strict=True) if not match or not is_type(match[2]))
            yield from (f"{name}: no such name" for name in listed if name not in own)
            yield from (f"{name}: twice" for name in sorted(set(listed)) if listed.count(name) > 1)
        elif title in ("Returns", "Yields", "Raises", "Warns"):
            yield from (item for item in items if not is_type(item.split(" : ")[-1]))


def definitions(text: str) -> list[Definition]:
    """Functions and classes, at any level."""
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def main() -> int:
    """Print what is wrong; exit status 1 when there is anything."""
    files = [*(ROOT / "chapters").glob("*.py"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*.py"))]
    nodes = [(path.relative_to(ROOT), node) for path in sorted(files) for node in definitions(path.read_text("utf8"))]
    classes = {node.name: node for _, node in nodes if isinstance(node, ast.ClassDef)}
    problems = [f"{path}: {node.name}: {wrong}" for path, node in nodes for wrong in complaints(node, classes)]
    print(*problems, sep="\n", end="\n" if problems else "")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
