"""Mathematics opens no file and prints nothing; modules import in one direction."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = "open read_text read_bytes write_text write_bytes read_csv savefig load save savez savez_compressed loadtxt"
FILES += " savetxt genfromtxt fromfile tofile memmap"
MODULES_OF_COMMANDS = ("argparse", "getpass", "shutil")
STREAMS = ("stdin", "stdout", "stderr")
NUMPY = ("load", "save")  # also names of methods that open nothing
ROOMS = ("capcore.checkpoints", "capcore.commands")
EXCEPTIONS = {"capcore.checks.memory": (["read_text"], "asks the machine how much memory it lets a process have")}
"""Modules elsewhere that may, with what they do, and why."""


def module_name(path, root):
    return path.relative_to(root).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")


MODULES = {module_name(path, ROOT): path for path in sorted((ROOT / "capcore").rglob("*.py"))}


def touched(text):
    """What a module does with files and terminals. A bar of tqdm is drawn where the caller asks for it, or counts."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [*(alias.name for alias in node.names), getattr(node, "module", None)]
            found |= {name.split(".")[0] for name in names if name} & {*MODULES_OF_COMMANDS}
            found |= {*names} & {*STREAMS} if "sys" in names else set()
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
            of = getattr(getattr(node.func, "value", None), "id", "")
            if name in (*FILES.split(), "print", "input") and (name not in NUMPY or of in ("np", "numpy")):
                found.add(name)
            if name == "tqdm" and not any(keyword.arg == "disable" for keyword in node.keywords):
                found.add("tqdm")
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "sys":
            found |= {node.attr} & {*STREAMS}
    return sorted(found)


@pytest.mark.parametrize("module", [name for name in MODULES if not name.startswith(ROOMS)])
def test_mathematics_opens_no_file_and_prints_nothing(module):
    allowed, _ = EXCEPTIONS.get(module, ([], ""))
    found = touched(MODULES[module].read_text("utf8"))
    assert found == allowed, f"{module}: read files in {ROOMS[0]}, print in {ROOMS[1]}"


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


ORDER = (
    "checks plotting results processes architectures fitting capacity propagation large networks checkpoints spectra"
)
ORDER = [*ORDER.split(), "verbs", "designs", "commands"]
"""Rooms in the order in which data flows: each imports those before it only, also inside its functions."""


def imports(name):
    """Modules that a module imports, when it is imported itself or later by its functions."""
    tree = ast.parse(MODULES[name].read_text("utf8"))
    typing = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    for_types = {inner for node in typing for inner in ast.walk(node)}
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and node not in for_types:
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                names = [node.module, *(f"{node.module}.{part}" for part in names)]
            modules |= {part for part in names if part in MODULES and part not in (name, "capcore")}
    return modules


def room(name):
    return name.split(".")[1]


INSIDE = [name for name in MODULES if name not in ("capcore", "capcore.__main__")]


def test_every_room_has_its_place():
    assert {room(name) for name in INSIDE} == set(ORDER)


@pytest.mark.parametrize("name", INSIDE)
def test_rooms_import_the_rooms_before_them(name):
    later = {part for part in imports(name) if ORDER.index(room(part)) > ORDER.index(room(name))}
    assert later == set(), f"{name}: found an import of {later}, expected rooms before {room(name)!r} only"


def test_bars_are_the_packages_own():
    """Those of tqdm start a thread."""
    assert [name for name, path in MODULES.items() if "from tqdm" in path.read_text("utf8")] == [
        "capcore.checks.progress"
    ]


def test_no_modules_import_each_other():
    try:
        TopologicalSorter({name: imports(name) for name in INSIDE}).prepare()
    except CycleError as error:
        pytest.fail(f"found a circle of imports: {' → '.join(error.args[1])}")
