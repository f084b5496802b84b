"""List the checks whose number nothing can move: ``python scripts/vacuity.py [NOTEBOOK or RESULT …]``.

A check that gives the same number whatever it is asked of tests nothing. Each notebook that records claims is executed
as it is and under each of :data:`CHANGES`; the quick form of each stored experiment that has seeds runs with other
seeds, its fits stopped early. What is listed:

- checks that no change moves, and the changes that end in an error before them;
- columns of an experiment's numbers that no seed moves, although no fit has arrived anywhere: its starts are all one.

``scripts/vacuity.yml`` holds those that were looked at, with the reason why they stay. Exit status 1 if others are
found, or if one of those is no longer among them. All of it takes an hour of one core.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import yaml

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
JUDGED = Path(__file__).with_suffix(".yml")
CHANGES = {
    "none": "the notebook as it is",
    "chance": "other seeds, and random starts in place of those that know the target",
    "inputs": "another process, other sizes, and stored numbers moved and reversed",
    "early": "optimisers stop after one step",
    "numbers": "what the chapter's functions give is a per cent off, and whole numbers are one off",
    "spaces": "constraint spaces of noisy columns, their bases and capacities a per cent off",
}
SAME = 1e-9
"""Numbers that differ by less, relative to the larger, are the same: rounding does not count as a move. Nor do two
numbers below this size, or below a check's bound where that is smaller, which are rounding themselves."""
LONGEST = 900  # processor seconds of one execution: which checks are listed is no matter of what else runs
FAULTS = ("numbers", "spaces")  # the changes that make functions give wrong results
SLOW = 60  # processor seconds of one cell under a fault: an adaptive quadrature of what is off each time may never end
ALTERED: dict[Callable[..., Any], None] = {}
"""Functions with a planted fault, the one whose result was altered last at the end."""
SPARED: set[Callable[..., Any]] = set()
"""Functions that are left as they are, since their fault is refused with an error."""


def execute(notebook: Path, change: str) -> dict[str, Any]:
    """What the cells of a notebook record under a change: ``claim.check`` → value.

    The cells run in this process, which a caller starts afresh for each. When a cell raises, the function whose result
    was altered last is spared, and all begins again: a fault that is refused hides what others move. Where the same
    error comes again, twice as many are. A cell that still raises is passed over, as are those that need it; what they
    would have recorded is missing.
    """
    from chapters import claims
    from chapters.kit import start, stored
    from chapters.kit.parameters import parameters_of
    from chapters.sweeps.declared import code_cells, read_notebook

    found: dict[str, Any] = {}

    def note(claim: str, /, **values: Any) -> None:
        found.update({f"{claim}.{name}": np.asarray(value).tolist() for name, value in values.items()})

    def stop(*_: Any) -> None:
        raise TimeoutError(f"a cell took more than {SLOW} s")

    claims.record = note  # type: ignore[assignment]
    signal.signal(signal.SIGPROF, stop)
    content, declaration = read_notebook(notebook)
    cells = [(cell["source"], "parameters" in cell["metadata"].get("tags", [])) for cell in code_cells(content)]
    rng = np.random.default_rng(0)
    settings = other_parameters({each.name: each.default for each in parameters_of(declaration)}, change)
    if change == "chance":
        other_chance()
    if change == "inputs":
        other_results(rng)
    if change == "early":
        stop_early()
    if change == "numbers":
        other_numbers([source for source, _ in cells], notebook.stem, rng)
    if change == "spaces":
        other_spaces(rng)
    spared, last = 0, ""
    while True:
        namespace: dict[str, Any] = {"__name__": "__main__", "display": lambda *_: None}
        refused: str | None = None
        found.clear()
        ALTERED.clear()
        for source, is_parameters in cells:
            signal.setitimer(signal.ITIMER_PROF, SLOW if change in FAULTS else 0)
            try:
                exec(compile(source, str(notebook), "exec"), namespace)
                if is_parameters:
                    namespace.update(settings)
            except start.ParameterError as error:
                refused = str(error).split(":")[0]
                break
            except Exception as error:
                print(f"{notebook.stem}, {change}: {error!r}"[:200], file=sys.stderr)
                if ALTERED and not isinstance(error, stored.StaleResultsError):
                    spared, last = (2 * spared if str(error) == last else 1), str(error)
                    SPARED.update(list(ALTERED)[-spared:])
                    break
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
        else:
            return found
        if refused is not None:
            if not settings:
                return found
            settings.pop(refused if refused in settings else next(iter(settings)))


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

    optimum._start, optimum._is_path = at_random, lambda start, method: False


def stop_early() -> None:
    """A planted fault: fits of ``capcore`` end after one step, so that where they end shows where they began."""
    from capcore import optimum, variable_projection

    for module, name, at in (
        (optimum, "minimise_gauss_newton", None),
        (optimum, "minimise_lbfgs", None),
        (variable_projection, "minimise_poles", 4),
    ):
        setattr(module, name, _stopped(getattr(module, name), at))


def _stopped(minimise: Callable[..., Any], at: int | None) -> Callable[..., Any]:
    """With one iteration at most, whether they are given by name or as the argument ``at``."""

    def stopped(*args: Any, **options: Any) -> Any:
        return minimise(*args[:at], **{**options, "max_iterations": 1})

    return stopped


def other_results(rng: np.random.Generator) -> None:
    """Stored numbers and arrays move by a tenth, and lists of them are read from their end.

    What a stored row was made with stays what it is, since notebooks look rows up by it.
    """
    from chapters.kit import stored

    load, load_arrays = stored.load, np.load

    def altered_arrays(*args: Any, **options: Any) -> Any:
        file = load_arrays(*args, **options)
        if isinstance(file, np.ndarray):
            return moved(file, rng, 0.1)
        return nullcontext({name: moved(array, rng, 0.1) for name, array in file.items()})

    np.load = altered_arrays

    def altered(path: Any) -> dict[str, Any]:
        content = load(path)
        return content | {"values": moved(content["values"], rng, 0.1, True, set(_numbers(content["settings"])))}

    stored.load = altered


def moved(value: Any, rng: np.random.Generator, size: float, turned: bool = False, kept: Collection[float] = ()) -> Any:
    """The same with each float times 1 ± ``size``, within lists and mappings, too; if ``turned``, lists read backwards.

    With ``turned``, too, what a share lacks to one moves where the share could leave its range. ``kept`` : numbers that
    stay where they are the value of a key.

    >>> moved({"a": [1, 2], "b": "text", "c": 0.95, "d": 0.5}, np.random.default_rng(0), 0.1, True, [0.5])
    {'a': [2, 1], 'b': 'text', 'c': 0.955, 'd': 0.5}
    """
    if turned and isinstance(value, float) and value <= 1 < value * (1 + size):
        return 1 - (1 - value) * (1 - size)
    if isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc"):
        alike = rng.choice([-1, 1]) if np.ndim(value) else 0  # what is odd in each entry averages out
        return value * (1 + size * rng.choice([-1, 1], np.shape(value))) * (1 + size * alike)
    if isinstance(value, Mapping) and type(value) is dict:
        same = {key for key, each in value.items() if isinstance(each, float) and each in kept}
        return {key: each if key in same else moved(each, rng, size, turned, kept) for key, each in value.items()}
    if type(value) in (list, tuple):
        numbers = turned and all(isinstance(each, int | float) and not isinstance(each, bool) for each in value)
        return type(value)(moved(each, rng, size, turned, kept) for each in (value[::-1] if numbers else value))
    return value


def other_numbers(sources: Sequence[str], chapter: str, rng: np.random.Generator) -> None:
    """A planted fault: what the chapter's functions and predictors give is a per cent off, whole numbers one off."""
    from capcore import generic
    from capcore.processes import Process

    for source in sources:
        for line in re.findall(r"^(?:from|import) [^(\n]+$", source, re.MULTILINE):
            exec(line, {})
    named = {chapter, *re.findall(r"chapters\.(\w+)", "\n".join(sources))}
    chapters = [f"chapters.{name}." for name in sorted(named) if (ROOT / "chapters" / name).is_dir()]
    packages = (*chapters, "chapters.shared.", "capcore.checkpoints.", "capcore.propagation.", "capcore.spectra.")
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(("capcore", "chapters"))]
    faulty: dict[int, Any] = {}
    for module in modules:
        for function in list(vars(module).values()):
            place = getattr(function, "__module__", None) or ""
            if isinstance(function, FunctionType) and f"{place}.".startswith(packages):
                faulty.setdefault(id(function), _off(function, rng))
    faulty[id(generic.exact_rank)] = _off(generic.exact_rank, rng)
    for module in modules:
        for name, function in list(vars(module).items()):
            if id(function) in faulty:
                setattr(module, name, faulty[id(function)])
    Process.predictor = _off(Process.predictor, rng)  # type: ignore[method-assign]


def other_spaces(rng: np.random.Generator) -> None:
    """A planted fault: constraint spaces are those of noisy columns, bases and capacities a per cent off."""
    from capcore.constraints import ConstraintSpace

    exact = ConstraintSpace.from_columns.__func__  # type: ignore[attr-defined]

    def noisy(cls: Any, columns: Any, *args: Any, **options: Any) -> Any:
        columns = np.asarray(columns, float)
        space = exact(cls, columns * (1 + 0.01 * rng.standard_normal(columns.shape)), *args, **options)
        object.__setattr__(space, "basis", moved(space.basis, rng, 0.01))
        return space

    ConstraintSpace.from_columns = classmethod(noisy)  # type: ignore[assignment]
    for name in ("capacity", "per_input", "along"):
        setattr(ConstraintSpace, name, _off(getattr(ConstraintSpace, name), rng))


def _off(function: Callable[..., Any], rng: np.random.Generator) -> Callable[..., Any]:
    """The function with its results :func:`moved`, unless it is among :data:`SPARED`; a whole number is one off.

    Not that of a private function: it may be a step of a search, which then would not end.
    """
    counts = not function.__name__.startswith("_")

    def faulty(*args: Any, **options: Any) -> Any:
        result = function(*args, **options)
        if function in SPARED:
            return result
        other = result + 1 if counts and type(result) is int else moved(result, rng, 0.01)
        if other is not result:
            ALTERED.pop(function, None)
            ALTERED[function] = None
        return other

    return faulty


def differ(one: Any, other: Any, rounding: float = SAME) -> bool:
    """Whether two recorded values differ, where not both are at most ``rounding``.

    >>> differ(1.0, 1.0 + 1e-12), differ(1e-15, 3e-14), differ(2, 3), differ(True, False)
    (False, False, True, True)
    """
    a, b = np.atleast_1d(np.asarray(one, float)), np.atleast_1d(np.asarray(other, float))
    if a.shape != b.shape:
        return True
    larger = np.maximum(np.abs(a), np.abs(b))
    return bool(np.any((np.abs(a - b) > SAME * larger) & (larger > rounding)))


def unmoved(values: Mapping[str, Mapping[str, Any]], rounding: Mapping[str, float]) -> dict[str, str]:
    """Check → what cannot move it, from the values recorded under each change.

    rounding : the bounds of those that allow no more than rounding.

    >>> found = {change: {} for change in CHANGES} | {"none": {"a": 1.0, "b": 2}, "chance": {"a": 1.0, "b": 3}}
    >>> unmoved(found, {})
    {'a': 'nothing; stopped by an error: inputs, early, numbers, spaces'}
    """
    listed = {}
    for name, value in values["none"].items():
        bound, stopped = rounding.get(name, SAME), [change for change in CHANGES if name not in values[change]]
        if not any(differ(value, values[change][name], bound) for change in CHANGES if change not in stopped):
            listed[name] = "nothing" + f"; stopped by an error: {', '.join(stopped)}" * bool(stopped)
    return listed


def columns_of_seeds(
    run: Callable[[dict[str, Any]], Mapping[str, Any] | list[Any]], settings: Mapping[str, Any]
) -> dict[str, bool]:
    """Column with fractions among the values of an experiment → whether other seeds move it. A list is one column.

    >>> columns_of_seeds(lambda settings: [{"loss": settings["seed"] / 3, "n": 4}], {"seed": 1})
    {'rows': True}
    >>> columns_of_seeds(lambda settings: {"loss": 1 / 3, "n": settings["seed"]}, {"seed": 1})
    {'loss': False}
    """
    seeds = {name: _shifted(value) for name, value in settings.items() if "seed" in name}
    if not seeds:
        return {}
    runs = (run({**settings, **changed}) for changed in ({}, seeds))
    one, other = (found if isinstance(found, Mapping) else {"rows": found} for found in runs)
    columns = {name: (list(_numbers(one[name])), list(_numbers(other.get(name)))) for name in one}
    return {name: differ(*both) for name, both in columns.items() if any(number % 1 for number in both[0])}


def experiment_of(name: str) -> dict[str, bool]:
    """:func:`columns_of_seeds` of a stored result's quick form, with fits that stop early."""
    from chapters.kit.running import Experiment, RunError
    from chapters.kit.stored import path_of

    try:
        experiment = Experiment.of(path_of(name))
        settings = experiment.quick_settings
    except RunError:  # timings, and what has no quick form
        return {}
    if experiment.main is not None:
        return {}
    stop_early()
    options = {"progress": False, "workers": 1, "sweep": one_by_one}
    return columns_of_seeds(lambda each: experiment.values(each, **options), settings)


def one_by_one(target: str, settings: Sequence[Mapping[str, Any]], *_: Any, **__: Any) -> Any:
    """The sweep of :mod:`chapters.sweeps.engine`, in this process, where the faults are planted."""
    import pandas as pd

    module, name = target.split(":")
    function = getattr(import_module(module), name)
    return pd.DataFrame([{**each, **function(**each), "error": ""} for each in settings])


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


def apart(jobs: Sequence[tuple[str, str]], workers: int) -> list[dict[str, Any]]:
    """What each notebook records under its change, or what seeds move in an experiment; a process for each."""
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda job: _apart(*job), jobs))


def _apart(what: str, change: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "values.json"
        environment = {**os.environ, "MPLBACKEND": "agg", "CAPCORE_FIGURES": "off", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-P", "-W", "ignore", __file__, "--one", what, change, str(target)]
        done = subprocess.run(command, cwd=NOTEBOOKS, env=environment, stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            print(f"{what}, {change}: ended with status {done.returncode}", file=sys.stderr)
        return json.loads(target.read_text()) if target.exists() else {}


def main(arguments: Sequence[str]) -> int:
    """Print what cannot be moved and is not among the judged; exit status 1 if there is any."""
    from chapters.claims import load
    from chapters.claims.criteria import ROUND_OFF
    from chapters.kit.stored import paths

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a notebook or a stored result (default: all)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--one", nargs=3, metavar=("NAME", "CHANGE", "TARGET"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        name, change, target = given.one
        resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
        found = experiment_of(name) if change == "seeds" else execute(NOTEBOOKS / f"{name}.ipynb", change)
        Path(target).write_text(json.dumps(found))
        return 0
    registry = load(ROOT / "book/claims.yml")
    rounding = {
        f"{row.id}.{each.name}": each.test.bound
        for row in registry
        for each in row.checks
        if each.test.kind == "at_most" and 0 < each.test.bound <= ROUND_OFF
    }
    notebooks = sorted({row.notebook for row in registry if row.checks and row.notebook})
    jobs = [(name, change) for name in notebooks for change in CHANGES] + [(name, "seeds") for name in paths()]
    jobs = [(name, change) for name, change in jobs if name in (given.names or [name])]
    values = dict(zip(jobs, apart(jobs, given.workers), strict=True))
    listed: dict[str, str] = {}
    looked_at: set[str] = set()
    for name in dict.fromkeys(name for name, _ in jobs):
        if (name, "none") in values:
            looked_at |= set(values[name, "none"])
            listed |= unmoved({change: values[name, change] for change in CHANGES}, rounding)
        columns = {f"{name}: {column}": moved for column, moved in values.get((name, "seeds"), {}).items()}
        looked_at |= set(columns)
        listed |= {column: "no seed" for column, moved in columns.items() if not moved}
    judged = yaml.safe_load(JUDGED.read_text("utf8"))
    for name, what in listed.items():
        print(f"{name}: moved by {what}: {judged.get(name, 'NEW')}")
    new, gone = sorted(set(listed) - set(judged)), sorted((set(judged) & looked_at) - set(listed))
    print(f"{len(looked_at)} checks, {len(listed)} unmoved, {len(new)} new; moved, though judged: {gone or 'none'}")
    return int(bool(new or gone))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
