"""List the checks whose number nothing can move: ``python scripts/vacuity.py [NOTEBOOK or RESULT …]``.

A check that gives the same number whatever it is asked of tests nothing. Each notebook that records claims is executed
as it is and under each of the changes of ``scripts/changes.py``; the quick form of each stored experiment that has
seeds runs with other seeds, its fits stopped early. What is listed:

- checks that no change moves, and the changes that end in an error before them;
- columns of an experiment's numbers that no seed moves, although no fit has arrived anywhere: its starts are all one.

``scripts/vacuity.yml`` holds those that were looked at, with the reason why they stay. Exit status 1 if others are
found, or if one of those is no longer among them. All of it takes an hour of one core.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from scripts import changes

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
JUDGED = Path(__file__).with_suffix(".yml")
SAME = 1e-9
"""Numbers that differ by less, relative to the larger, are the same: rounding does not count as a move. Nor do two
numbers below this size, or below a check's bound where that is smaller, which are rounding themselves."""
LONGEST = 1800  # processor seconds of one execution: which checks are listed is no matter of what else runs
SLOW = 60  # processor seconds of one cell under a fault: an adaptive quadrature of what is off each time may never end


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
    from chapters.sweeps.notebooks import code_cells, read_notebook

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
    settings = changes.other_parameters({each.name: each.default for each in parameters_of(declaration)}, change)
    if change == "chance":
        changes.other_chance()
    if change == "inputs":
        changes.other_results(rng)
    if change == "early":
        changes.stop_early()
    if change == "numbers":
        changes.other_numbers([source for source, _ in cells], notebook.stem, rng)
    if change == "spaces":
        changes.other_spaces(rng)
    spared, last = 0, ""
    while True:
        namespace: dict[str, Any] = {"__name__": "__main__", "display": lambda *_: None}
        refused: str | None = None
        found.clear()
        changes.ALTERED.clear()
        for source, is_parameters in cells:
            signal.setitimer(signal.ITIMER_PROF, SLOW if change in changes.FAULTS else 0)
            try:
                exec(compile(source, str(notebook), "exec"), namespace)
                if is_parameters:
                    namespace.update(settings)
            except start.ParameterError as error:
                refused = str(error).split(":")[0]
                break
            except Exception as error:
                print(f"{notebook.stem}, {change}: {error!r}"[:200], file=sys.stderr)
                if changes.ALTERED and not isinstance(error, stored.ResultsError):
                    spared, last = (2 * spared if str(error) == last else 1), str(error)
                    changes.SPARED.update(list(changes.ALTERED)[-spared:])
                    break
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
        else:
            return found
        if refused is not None:
            if not settings:
                return found
            settings.pop(refused if refused in settings else next(iter(settings)))


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

    >>> found = {change: {} for change in changes.CHANGES} | {"none": {"a": 1.0, "b": 2}, "chance": {"a": 1.0, "b": 3}}
    >>> unmoved(found, {})
    {'a': 'nothing; stopped by an error: inputs, early, numbers, spaces'}
    """
    listed = {}
    for name, value in values["none"].items():
        bound, stopped = rounding.get(name, SAME), [change for change in changes.CHANGES if name not in values[change]]
        if not any(differ(value, values[change][name], bound) for change in changes.CHANGES if change not in stopped):
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
    columns = {name: (list(changes.numbers_in(one[name])), list(changes.numbers_in(other.get(name)))) for name in one}
    return {name: differ(*both) for name, both in columns.items() if any(number % 1 for number in both[0])}


def experiment_of(name: str) -> dict[str, bool]:
    """:func:`columns_of_seeds` of a stored result's quick form, with fits that stop early."""
    from chapters.kit.running import Experiment, RunError, sweep_here
    from chapters.kit.stored import path_of

    try:
        experiment = Experiment.of(path_of(name))
        settings = experiment.quick_settings
    except RunError:  # timings, and what has no quick form
        return {}
    if experiment.main is not None:
        return {}
    changes.stop_early()
    options = {"progress": False, "workers": 1, "sweep": sweep_here}
    return columns_of_seeds(lambda each: experiment.values(each, **options), settings)


def _shifted(seeds: Any) -> Any:
    """
    >>> _shifted({"a": [0, 1]}), _shifted(3)
    ({'a': [1000, 1001]}, 1003)
    """
    if isinstance(seeds, dict):
        return {key: _shifted(each) for key, each in seeds.items()}
    return [_shifted(each) for each in seeds] if isinstance(seeds, list) else seeds + 1000


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
    from chapters.claims.criteria import ROUND_OFF
    from chapters.claims.registry import load
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
    jobs = [(name, change) for name in notebooks for change in changes.CHANGES] + [(name, "seeds") for name in paths()]
    jobs = [(name, change) for name, change in jobs if name in (given.names or [name])]
    values = dict(zip(jobs, apart(jobs, given.workers), strict=True))
    listed: dict[str, str] = {}
    looked_at: set[str] = set()
    for name in dict.fromkeys(name for name, _ in jobs):
        if (name, "none") in values:
            looked_at |= set(values[name, "none"])
            listed |= unmoved({change: values[name, change] for change in changes.CHANGES}, rounding)
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
