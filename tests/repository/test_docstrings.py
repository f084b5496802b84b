"""Docstrings have numpydoc's sections, which every IDE reads: ``name : type`` on a line, what it is indented below."""

import ast
import re

import pytest

from capcore.results import ALLOCATIONS_THAT_GIVE, FITS_THAT_GIVE

TITLES = "Parameters|Attributes|Returns|Yields|Raises|Warns|Notes|Examples"
NAMED = re.compile(r"(\*{0,2}\w+(?:, \w+)*) : (.+)")
BESIDE_WORDS = re.compile(r"(?:, optional|, default \S+)$|\((?:[^()]|\([^()]*\))*\)|\"[^\"]*\"")
BUILTIN = "bool|callable|dict|float|int|list|mapping|None|object|path|sequence|set|slice|str|tuples?"
WORD = re.compile(rf"arrays?|array_like|of|or|{BUILTIN}|(?:\w+\.)+\w+|[A-Z]\w*")
HANDED_ON = {"Fit": FITS_THAT_GIVE, "Allocation": ALLOCATIONS_THAT_GIVE}  # by the record of the method


def is_type(text):
    """Whether it is one type, or several joined by "or": known words, names of classes, shapes and literals."""
    words = BESIDE_WORDS.sub("", text)
    return all(map(WORD.fullmatch, re.findall(r"[^\s,]+", words))) and ("," not in words or " or " in words)


def names(node, classes):
    """What a function takes, or what a class and the classes that it extends have."""
    if isinstance(node, ast.FunctionDef):
        stars = [f"{'*' * k}{each.arg}" for k, each in ((1, node.args.vararg), (2, node.args.kwarg)) if each]
        return {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}.union(stars)
    functions = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    fields = {each.target.id for each in node.body if isinstance(each, ast.AnnAssign)}
    targets = [each for each in ast.walk(node) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)]
    above = [classes[base.id] for base in node.bases if getattr(base, "id", "") in classes]
    others = [names(each, classes) for each in above + [each for name, each in functions.items() if name == "__init__"]]
    return {*functions, *fields, *(each.attr for each in targets), *HANDED_ON.get(node.name, ())}.union(*others)


def complaints(node, classes):
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


def definitions(text):
    """Functions and classes, at any level."""
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def test_sections_are_numpydocs(root):
    folders = [root / name for name in ("capcore", "chapters/shared", "chapters/claims", "chapters/fingerprint")]
    paths = [*(root / "chapters").glob("*.py"), *(path for folder in folders for path in folder.rglob("*.py"))]
    nodes = [(path.relative_to(root), node) for path in sorted(paths) for node in definitions(path.read_text("utf8"))]
    classes = {node.name: node for _, node in nodes if isinstance(node, ast.ClassDef)}
    assert sum("Parameters\n" in (ast.get_docstring(node) or "") for _, node in nodes) > 100
    assert [f"{path}: {node.name}: {wrong}" for path, node in nodes for wrong in complaints(node, classes)] == []


@pytest.mark.parametrize(
    ("section", "wrong"),
    [
        ("a : the first. b : the second.", ["a : the first. b : the second."]),
        ("a : (n,) array, ascending", ["a : (n,) array, ascending"]),
        ("a, b : int, str", ["a, b : int, str"]),
        ("a : int\n    One.\n\nRaises an error.", ["Raises an error."]),
        ("c : int", ["c: no such name"]),
        ("a : int\na, b : float", ["a: twice"]),
        ("a : (n,) array or None\n    One.\nb : int, default 0", []),
    ],
)
def test_what_is_not_numpydocs_is_reported(section, wrong):
    (node,) = definitions(f'def f(a, b):\n    """Do.\n\nParameters\n----------\n{section}\n"""')
    assert list(complaints(node, {})) == wrong
