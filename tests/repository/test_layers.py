"""Mathematics opens no file and prints nothing; modules import in one direction."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = ("open", "read_text", "read_bytes", "write_text", "write_bytes", "read_csv", "savefig")
FILES += (
    "load",
    "save",
    "savez",
    "savez_compressed",
    "loadtxt",
    "savetxt",
    "genfromtxt",
    "fromfile",
    "tofile",
    "memmap",
)
MODULES_OF_COMMANDS = ("argparse", "getpass", "shutil")
STREAMS = ("stdin", "stdout", "stderr")
NUMPY = ("load", "save")  # also names of methods that open nothing
ROOMS = ("capcore.checkpoints", "capcore.commands")
EXCEPTIONS = {
    "capcore.checks.memory": (["read_text"], "asks the machine how much memory it lets a process have"),
    "capcore.sweeps": (["open"], "reads the rows of a sweep, which is a folder"),
    "capcore.processes.series_files": (["load", "open", "read_csv"], "reads a series for those who have a file of one"),
}
"""Modules elsewhere that may, with what they do, and why."""


def module_name(path, root):
    return path.relative_to(root).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")


MODULES = {module_name(path, ROOT): path for path in sorted((ROOT / "capcore").rglob("*.py"))}


def touched(text):
    """What a module does with files and terminals. A bar of tqdm is drawn where the caller asks for it, or counts."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [
                *(alias.name for alias in node.names),
                *([node.module] if isinstance(node, ast.ImportFrom) else []),
            ]
            found |= {name.split(".")[0] for name in names if name} & {*MODULES_OF_COMMANDS}
            found |= {*names} & {*STREAMS} if "sys" in names else set()
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
            of = getattr(getattr(node.func, "value", None), "id", "")
            if name in (*FILES, "print", "input") and (name not in NUMPY or of in ("np", "numpy")):
                found.add(name)
            if name == "tqdm" and not any(keyword.arg == "disable" for keyword in node.keywords):
                found.add("tqdm")
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "sys":
            found |= {node.attr} & {*STREAMS}
    return sorted(found)


@pytest.mark.parametrize("module", [name for name in MODULES if not name.startswith(ROOMS)])
def test_mathematics_opens_no_file_and_prints_nothing(module):
    allowed, _ = EXCEPTIONS.get(module, ([], ""))
    assert touched(MODULES[module].read_text("utf8")) == allowed, (
        f"{module}: read files in {ROOMS[0]}, print in {ROOMS[1]}"
    )


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("print('done')", ["print"]),
        ("with open(path) as file: pass", ["open"]),
        ("np.load(path)", ["load"]),
        ("Path(path).write_text('x')", ["write_text"]),
        ("sys.stdout.write('x')", ["stdout"]),
        ("from sys import stdout", ["stdout"]),
        ("from argparse import ArgumentParser", ["argparse"]),
        ("tqdm(rows)", ["tqdm"]),
        ("tqdm(rows, disable=not progress); json.loads(text); 'print(x)'", []),
    ],
)
def test_what_is_planted_is_seen(line, found):
    assert touched(line) == found


def imports(name):
    """Modules that a module imports: ``now``, when it is imported itself, and ``ever``, by its functions too."""
    tree = ast.parse(MODULES[name].read_text("utf8"))
    now, ever = set(), set()
    todo = [(node, True) for node in tree.body]
    while todo:
        node, at_once = todo.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                names = [node.module, *(f"{node.module}.{each}" for each in names)]
            ours = {each for each in names if each in MODULES and each != name and each != "capcore"}
            ever |= ours
            now |= ours if at_once else set()
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        todo += [(each, at_once and not inside) for each in ast.iter_child_nodes(node)]
    return now, ever


def test_no_modules_import_each_other():
    try:
        TopologicalSorter({name: imports(name)[0] for name in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(f"found a circle of imports: {' → '.join(error.args[1])}")


def test_files_and_commands_are_at_the_ends():
    """Checkpoints know nothing of what is computed from them, and nothing that computes knows of commands."""
    for name in MODULES:
        _, ever = imports(name)
        if name.startswith(ROOMS[0]):
            assert [each for each in ever if each.startswith(("capcore.spectra", ROOMS[1]))] == [], name
        elif not name.startswith(ROOMS[1]) and name not in ("capcore", "capcore.__main__"):
            assert [each for each in ever if each.startswith(ROOMS[1])] == [], name
