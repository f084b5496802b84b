"""Plant faults in the package, one at a time, and see which of them its tests notice: ``python scripts/mutate.py``.

A fault is one operator, comparison, number or truth value of the source exchanged for another, chosen by a seed among
all that the modules of ``SOURCES`` have, evenly over them. What is only read, logged or raised is left alone:
docstrings, messages, annotations, names. Each fault runs against the tests that mirror its module, in a copy of the
tree, until the first that fails.
Survivors are printed as differences; the last line counts. Exit status 0 whatever is found, and 1 if the tests do not
pass without a fault.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCES = {  # folders of modules → tests that mirror them; of these, test_<module>.py runs first
    "capcore": "tests",
    "chapters/sweeps": "tests/sweeps",
    **{
        f"chapters/{chapter}": f"tests/chapters/{chapter}"
        for chapter in ("hierarchical", "recurrent", "multidimensional", "feature_space", "scaling_pdes")
    },
}
PAIRS = (
    *((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or)),
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq)),
)
SWAPS: dict[Any, Any] = dict(PAIRS) | {other: one for one, other in PAIRS}
SWAPS |= dict.fromkeys((ast.FloorDiv, ast.Pow), ast.Mult) | {ast.MatMult: ast.Add}
SWAPS |= dict.fromkeys((ast.USub, ast.Not), ast.UAdd)
SILENT = (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.JoinedStr)
HARMLESS = {"strict", "repr", "compare", "check_finite"}  # keywords that change no number
HARMLESS |= {"ms", "mew", "lw", "s", "alpha", "zorder", "fontsize", "figsize", "rotation", "pad"}  # nor what is shown
DECLARE = {"__init__.py", "parameters.py"}  # files that say what there is, and do nothing
SETTINGS = {"SETTINGS", "QUICK", "PAPER", "OTHERS"}  # of experiments
QUIET = {"warn", "debug", "info", "set_description", "update", "tqdm", "text"}


def modules() -> dict[Path, list[str]]:
    """Source files, with the tests that mirror each: that of its name, and those of its folder."""
    found = {}
    for source, tests in SOURCES.items():
        for path in sorted((ROOT / source).rglob("*.py")):
            folder = tests / path.relative_to(ROOT / source).parent
            mirrors = [folder / f"test_{path.stem}.py", *([folder] if folder != Path("tests") else [])]
            there = [mirror.as_posix() for mirror in mirrors if (ROOT / mirror).exists()]
            if there and path.name not in DECLARE:
                found[path.relative_to(ROOT)] = there
    return found


def places(node: Any) -> Iterator[Any]:
    """Nodes that a fault can be planted in, in the order of the source."""
    if isinstance(node, SILENT) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        if getattr(target, "id", "") in SETTINGS:
            return
    if isinstance(node, ast.keyword) and node.arg in HARMLESS:
        return
    if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in QUIET:
        return
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp) and type(node.op) in SWAPS:
        yield node
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield node
    if isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from places(child)


def plant(node: Any, rng: random.Random) -> None:
    """Another operator, a number one more or less or ten times as large, or the other truth value."""
    value: Any = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif not isinstance(node, ast.Constant):
        node.op = SWAPS[type(node.op)]()
    elif isinstance(value, bool):
        node.value = not value
    else:
        node.value = rng.choice(
            [value - 1, value + 1] if isinstance(value, int) else [10 * value, value / 10, value + 1]
        )


def faults(number: int, seed: int, only: str) -> Iterator[tuple[Path, int, str, str]]:
    """(file, line, source as it is, source with the fault), by turns from all modules; both without comments."""
    rng = random.Random(seed)
    chosen = [path for path in modules() if only in path.as_posix()]
    rng.shuffle(chosen)
    sources = {path: (ROOT / path).read_text("utf8") for path in chosen}
    queues = {path: rng.sample(range(k), k) for path in chosen if (k := len(list(places(ast.parse(sources[path])))))}
    while number and any(queues.values()):
        for path in [path for path in queues if queues[path]]:
            tree = ast.parse(sources[path])
            before, node = ast.unparse(tree), list(places(tree))[queues[path].pop()]
            plant(node, rng)
            if number and ast.unparse(tree) != before:
                number -= 1
                yield path, getattr(node, "lineno", 0), before, ast.unparse(tree)


def outcome(tree: Path, tests: list[str], limit: float | None) -> str:
    """ "killed", "survived" or "timeout"."""
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree), "HYPOTHESIS_PROFILE": "first", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return "timeout"
    return "survived" if done.returncode == 0 else "killed"


def main(arguments: list[str]) -> int:
    """Plant, run, report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--number", type=int, default=100, help="faults; default: 100")
    parser.add_argument("--skip", type=int, default=0, metavar="NUMBER", help="of them passed over: a run goes on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", metavar="MODULE", help="part of a path, such as spectra/power_law")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="for each; default: 600")
    options = parser.parse_args(arguments)
    counts, sound = {"killed": 0, "survived": 0, "timeout": 0}, set[str]()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", "_build", ".*_cache", "__pycache__"))
        for path, line, before, after in islice(faults(options.number, options.seed, options.only), options.skip, None):
            tests = modules()[path]
            if not sound.issuperset(tests) and outcome(tree, tests, None) != "survived":
                print(f"{' '.join(tests)}: do not pass as they are, expected tests that do. Run them.", file=sys.stderr)
                return 1
            sound.update(tests)
            start = time.perf_counter()
            (tree / path).write_text(after, "utf8")
            found = outcome(tree, tests, options.limit)
            shutil.copy(ROOT / path, tree / path)
            counts[found] += 1
            print(f"{found:8} {path}:{line}, {time.perf_counter() - start:.0f} s", flush=True)
            if found != "killed":
                difference = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
                print("\n".join(f"    {each}" for each in list(difference)[2:]), flush=True)
    print(f"{sum(counts.values())} faults: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
