"""List the checks whose number nothing can move: ``python scripts/vacuity.py [NOTEBOOK …]``, 20 minutes for all.

A check that gives the same number whatever it is asked of tests nothing. Each notebook that records claims is executed
once as it is and once under each of :data:`CHANGES`; then each stored experiment runs in its quick form with other
seeds. What is listed:

- checks that no change moves;
- checks that speak of starts, draws or optimisers, and that neither seeds nor starts move;
- settings of seeds that move no number of their experiment.

``scripts/vacuity.yml`` holds those that were looked at, with the reason why they stay. Exit status 1 if others are
found, or if one of those is no longer among them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import yaml

ROOT = Path(__file__).resolve().parent.parent
JUDGED = Path(__file__).with_suffix(".yml")
CHANGES = ("none", "chance", "inputs", "numbers", "spaces")
OF_CHANCE = re.compile(r"random|seed|start|draw|sampl|simulat|optimis|L-BFGS|Gauss–Newton|train", re.IGNORECASE)
SAME = 1e-9
"""Numbers that differ by less, relative to the larger, are the same: rounding does not count as a move. Nor do two
numbers below this size, which are rounding themselves."""
LONGEST = 900  # seconds of one execution


def execute(notebook: Path, change: str) -> dict[str, Any]:
    """What the cells of a notebook record under a change: ``claim.check`` → value.

    The cells run in this process, which a caller starts afresh for each. A cell that raises is passed over, as are
    those that need it; what they would have recorded is missing.
    """
    from chapters import claims, start
    from chapters.sweeps.declared import code_cells, read_notebook

    found: dict[str, Any] = {}
    record = claims.record

    def note(claim: str, /, **values: Any) -> Any:
        found.update({f"{claim}.{name}": np.asarray(value).tolist() for name, value in values.items()})
        return record(claim, **values)

    claims.record = note  # type: ignore[assignment]
    content, declared = read_notebook(notebook)
    cells = [(cell["source"], "parameters" in cell["metadata"].get("tags", [])) for cell in code_cells(content)]
    rng = np.random.default_rng(0)
    settings = other_parameters({each.name: each.default for each in declared}, change)
    if change == "chance":
        other_chance()
    if change == "inputs":
        other_results(rng)
    if change == "numbers":
        other_numbers([source for source, _ in cells], notebook.stem, rng)
    if change == "spaces":
        other_spaces(rng)
    for _ in range(1 + len(settings)):
        namespace: dict[str, Any] = {"__name__": "__main__", "display": lambda *_: None}
        refused = ""
        for source, is_parameters in cells:
            try:
                exec(compile(source, str(notebook), "exec"), namespace)
                if is_parameters:
                    namespace.update(settings)
            except start.ParameterError as error:
                refused = str(error).split(":")[0]
                break
            except Exception as error:
                print(f"{notebook.stem}, {change}: {error!r}"[:200], file=sys.stderr)
        if not refused:
            return found
        settings.pop(refused if refused in settings else next(iter(settings), ""), None)
    return found


def other_parameters(defaults: Mapping[str, Any], change: str) -> dict[str, Any]:
    """Another seed for ``chance``; for ``inputs`` another process and other sizes.

    >>> other_parameters({"process": "PowerLaw", "seed": 0, "width": 8, "depths": [1, 2, 3]}, "inputs")
    {'process': 'RationalQuadratic', 'width': 7, 'depths': [1, 2]}
    >>> other_parameters({"width": 8, "seed": 0}, "chance")
    {'seed': 1}
    """
    if change == "chance":
        return {name: value + 1 for name, value in defaults.items() if name == "seed"}
    if change != "inputs":
        return {}
    changed = {name: _other(name, value) for name, value in defaults.items() if name != "seed"}
    return {name: value for name, value in changed.items() if value != defaults[name]}


def _other(name: str, value: Any) -> Any:
    if name == "process":
        return "RationalQuadratic"
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int):
        return value - 1 if value > 2 else value
    if isinstance(value, float):
        return 0.9 * value
    return value[:-1] if isinstance(value, list) and len(value) > 2 else value


def other_chance() -> None:
    """Written seeds are shifted, and a fit that would begin at its target begins at random parameters."""
    from capcore import optimum

    draw, begin = np.random.default_rng, optimum._start
    np.random.default_rng = lambda seed=None: draw(seed + 1000 if isinstance(seed, int) else seed)

    def at_random(arch: Any, problem: Any, start: Any, method: str, rng: Any) -> Any:
        return begin(arch, problem, "random" if isinstance(start, str) else start, method, rng)

    optimum._start, optimum._is_path = at_random, lambda start, method: False  # type: ignore[assignment]


def other_results(rng: np.random.Generator) -> None:
    """Stored numbers move by a tenth, and lists of them are read from their end."""
    from chapters import stored

    load = stored.load

    def altered(path: Any) -> dict[str, Any]:
        content = load(path)
        return content | {"values": moved(content["values"], rng, 0.1, turned=True)}

    stored.load = altered


def moved(value: Any, rng: np.random.Generator, size: float, turned: bool = False) -> Any:
    """The same with each float times 1 ± ``size``, within lists and mappings, too; if ``turned``, lists read backwards.

    >>> moved({"a": [1, 2], "b": "text"}, np.random.default_rng(0), 0.1, turned=True)
    {'a': [2, 1], 'b': 'text'}
    """
    if isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc"):
        return value * (1 + size * rng.choice([-1, 1], np.shape(value)))
    if isinstance(value, Mapping) and type(value) is dict:
        return {key: moved(each, rng, size, turned) for key, each in value.items()}
    if type(value) in (list, tuple):
        numbers = turned and all(isinstance(each, int | float) and not isinstance(each, bool) for each in value)
        return type(value)(moved(each, rng, size, turned) for each in (value[::-1] if numbers else value))
    return value


def other_numbers(sources: Sequence[str], chapter: str, rng: np.random.Generator) -> None:
    """A planted fault: numbers that the chapter's functions give are a per cent off, and exact ranks are one off."""
    from capcore import generic

    for source in sources:
        for line in re.findall(r"^(?:from|import) [^(\n]+$", source, re.MULTILINE):
            exec(line, {})
    packages = (f"chapters.{chapter}.", "chapters.shared.", "capcore.propagation.", "capcore.spectra.")
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(("capcore", "chapters"))]
    faulty: dict[int, Any] = {}
    for module in modules:
        for function in list(vars(module).values()):
            place = getattr(function, "__module__", None) or ""
            if isinstance(function, FunctionType) and f"{place}.".startswith(packages):
                faulty.setdefault(id(function), _off(function, rng))
    faulty[id(generic.exact_rank)] = lambda *args, _exact=generic.exact_rank, **options: _exact(*args, **options) + 1
    for module in modules:
        for name, function in list(vars(module).items()):
            if id(function) in faulty:
                setattr(module, name, faulty[id(function)])


def other_spaces(rng: np.random.Generator) -> None:
    """A planted fault: constraint spaces are those of columns with noise, and their capacities a per cent off."""
    from capcore.constraints import ConstraintSpace

    exact = ConstraintSpace.from_columns.__func__  # type: ignore[attr-defined]

    def noisy(cls: Any, columns: Any, *args: Any, **options: Any) -> Any:
        columns = np.asarray(columns, float)
        return exact(cls, columns * (1 + 0.01 * rng.standard_normal(columns.shape)), *args, **options)

    ConstraintSpace.from_columns = classmethod(noisy)  # type: ignore[assignment]
    for name in ("capacity", "per_input", "along"):
        setattr(ConstraintSpace, name, _off(getattr(ConstraintSpace, name), rng))


def _off(function: Callable[..., Any], rng: np.random.Generator) -> Callable[..., Any]:
    def faulty(*args: Any, **options: Any) -> Any:
        return moved(function(*args, **options), rng, 0.01)

    return faulty


def differ(one: Any, other: Any) -> bool:
    """Whether two recorded values differ by more than rounding.

    >>> differ(1.0, 1.0 + 1e-12), differ(1e-15, 3e-14), differ(2, 3), differ(True, False)
    (False, False, True, True)
    """
    a, b = np.atleast_1d(np.asarray(one, float)), np.atleast_1d(np.asarray(other, float))
    if a.shape != b.shape:
        return True
    return bool(np.any(np.abs(a - b) > SAME * np.maximum(1, np.maximum(np.abs(a), np.abs(b)))))


def unmoved(values: Mapping[str, Mapping[str, Any]], texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Check and what cannot move it, from the values recorded under each change; ``texts`` say what checks are about.

    >>> found = {change: {} for change in CHANGES} | {"none": {"a": 1.0, "b": 2}, "chance": {"a": 1.0, "b": 3}}
    >>> list(unmoved(found, {"a": "of the start", "b": "of the start"}))
    [('a', 'nothing')]
    """
    for name, value in values["none"].items():
        by = [change for change in CHANGES[1:] if name in values[change] and differ(value, values[change][name])]
        if not by:
            yield name, "nothing"
        elif "chance" not in by and OF_CHANCE.search(texts.get(name, "")) and np.max(np.abs(value)) > SAME:
            yield name, "chance"


def unmoved_seeds(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Settings of seeds of stored experiments that move no number of a quick run beyond rounding."""
    from chapters import stored
    from chapters.running import Experiment, RunError

    for name in names or stored.paths():
        try:
            experiment = Experiment.of(stored.path_of(name))
            quick = experiment.quick_settings
        except (RunError, FileNotFoundError):
            continue
        seeds = [key for key in quick if re.search("seed", key)]
        if not seeds or experiment.main is not None:
            continue
        before = list(_numbers(experiment.values(quick, progress=False, workers=1)))
        for key in seeds:
            other = {**quick, key: _shifted(quick[key])}
            after = list(_numbers(experiment.values(other, progress=False, workers=1)))
            if len(before) == len(after) and not differ(before, after):
                yield f"{name}: {key}", "nothing"


def _shifted(seeds: Any) -> Any:
    """
    >>> _shifted({"a": [0, 1]}), _shifted(3)
    ({'a': [1000, 1001]}, 1003)
    """
    if isinstance(seeds, dict):
        return {key: _shifted(each) for key, each in seeds.items()}
    return [_shifted(each) for each in seeds] if isinstance(seeds, list) else seeds + 1000


def _numbers(values: Any) -> Iterator[float]:
    if isinstance(values, Mapping | list | tuple):
        for each in values.values() if isinstance(values, Mapping) else values:
            yield from _numbers(each)
    elif isinstance(values, int | float) and np.isfinite(values):
        yield float(values)


def all_changes(notebook: Path, workers: int) -> dict[str, dict[str, Any]]:
    """Change → what a notebook records under it, each in a process of its own."""
    with ThreadPoolExecutor(workers) as pool:
        return dict(zip(CHANGES, pool.map(lambda change: _apart(notebook, change), CHANGES), strict=True))


def _apart(notebook: Path, change: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "values.json"
        environment = {**os.environ, "MPLBACKEND": "agg", "CAPCORE_FIGURES": "off", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--one", str(notebook), change, str(target)]
        try:
            subprocess.run(
                command, cwd=notebook.parent, env=environment, stdout=subprocess.DEVNULL, timeout=LONGEST, check=False
            )
        except subprocess.TimeoutExpired:
            print(f"{notebook.stem}, {change}: stopped after {LONGEST} s", file=sys.stderr)
        return json.loads(target.read_text()) if target.exists() else {}


def main(arguments: Sequence[str]) -> int:
    """Print what cannot be moved and is not among the judged; exit status 1 if there is any."""
    from chapters.claims import load

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", metavar="NOTEBOOK", help="a file, or a stored result (default: all)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="write here what each notebook records")
    parser.add_argument("--one", nargs=3, metavar=("NOTEBOOK", "CHANGE", "TARGET"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        notebook, change, target = given.one
        Path(target).write_text(json.dumps(execute(Path(notebook).resolve(), change)))
        return 0
    registry = load(ROOT / "book/claims.yml")
    texts = {f"{row.id}.{each.name}": f"{each.quantity} {each.statement}" for row in registry for each in row.checks}
    paths = [Path(each).resolve() for each in given.notebooks if each.endswith(".ipynb")]
    if not given.notebooks:
        paths = [
            ROOT / "notebooks" / f"{name}.ipynb" for name in sorted({row.notebook for row in registry if row.checks})
        ]
    judged = yaml.safe_load(JUDGED.read_text("utf8"))
    found: dict[str, str] = {}
    looked_at: set[str] = set()
    for path in paths:
        values = all_changes(path, given.workers)
        if given.keep:
            (given.keep / f"{path.stem}.json").write_text(json.dumps(values))
        looked_at |= set(values["none"])
        found |= dict(unmoved(values, texts))
    results = [each for each in given.notebooks if not each.endswith(".ipynb")]
    if results or not given.notebooks:
        found |= dict(unmoved_seeds(results))
    for name, what in found.items():
        print(f"{name}: moved by {'no seed or start' if what == 'chance' else what}: {judged.get(name, 'NEW')}")
    new = sorted(set(found) - set(judged))
    gone = sorted((set(judged) & looked_at) - set(found))
    print(f"{len(looked_at)} checks, {len(found)} unmoved, {len(new)} new; moved, though judged: {gone or 'none'}")
    return int(bool(new or gone))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
