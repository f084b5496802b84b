"""The book's commands: stored results and their experiments, notebooks with other parameters, and the claims."""

import argparse
import reprlib
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter

from capcore.checks.names import meant
from capcore.commands.shared import Parser
from capcore.results.text_table import text_table
from chapters.kit.running import Experiment, RunError
from chapters.kit.stored import load, paths

PROG = "python -m chapters"
ELSEWHERE = {
    "rerun": ("chapters.sweeps.rerun", "run one notebook with other parameters, and compare its claims"),
    "sweep": ("chapters.sweeps.command", "run a notebook for a grid of settings"),
    "check": ("chapters.kit.witness", "make a piece of stored results again, and compare it with what is stored"),
    "claims": ("chapters.claims.commands", "collect, check and list the verdicts on the sources' claims"),
}
"""Command → (module with ``main(argv, prog) -> int``, imported when it is called, one line of help)."""
EPILOG = """\
python -m chapters COMMAND --help describes a command.

examples:
  python -m chapters rerun hierarchical -p process AR1 -o _build/hierarchical_AR1.ipynb
  python -m chapters sweep idea --grid book/example_grid.yml -o _build/sweep
  python -m chapters claims list --verdict false
  python -m chapters list
  python -m chapters run lbfgs_sweep
  python -m chapters check lbfgs_sweep

They run in the book's repository: an installed capcore has no chapters.
"""
RUN_EPILOG = """\
NAME is a stored result, or a chapter for all of its results; a name of both is the result.

examples:
  python -m chapters run lbfgs_sweep              run it and write chapters/hierarchical/results/lbfgs_sweep.json
  python -m chapters run spectra_resnets          all results of a chapter
  python -m chapters run mimicry --quick          in seconds, with settings that decide nothing; writes nothing
  python -m chapters run resnet_spectra --help    options of its own

A run that is stopped or fails leaves the file as it was.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status of the command: 0 if it did what was asked, 2 if that cannot be done, 130 if it was interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] in ELSEWHERE:
        return int(import_module(ELSEWHERE[arguments[0]][0]).main(arguments[1:], prog=f"{PROG} {arguments[0]}"))
    parser, of_run = _parsers()
    given, rest = parser.parse_known_args(arguments)
    try:
        if given.command == "list":
            return parser.error(f"unknown arguments: {' '.join(rest)}") if rest else _list()
        experiments = [Experiment.of(path) for path in chosen(given.names)]
        if given.help and not (len(experiments) == 1 and experiments[0].main):
            of_run.print_help()
            return 0
        return _run(experiments, given.quick, [*rest, *(["--help"] if given.help else [])])
    except RunError as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return 2


def chosen(names: Iterable[str]) -> list[Path]:
    """Files of the results that are named, or of all results of the chapters that are; each once."""
    known = paths()
    found: list[Path] = []
    for name in names:
        of_chapter = [path for path in known.values() if _chapter(path) == name]
        if name not in known and not of_chapter:
            hint = meant(name, sorted({*known, *map(_chapter, known.values())})) or f" See {PROG} list."
            raise RunError(f"name: found {name!r}, expected a stored result, or a chapter that has some.{hint}")
        found += [known[name]] if name in known else of_chapter
    return list(dict.fromkeys(found))


def _run(experiments: Sequence[Experiment], quick: bool, rest: Sequence[str]) -> int:
    """Run the experiments one after another; before the first one, refuse what cannot be run."""
    from chapters.sweeps.engine import sweep

    if not experiments:
        raise RunError("name: found none, expected a stored result or a chapter.")
    if rest and (len(experiments) > 1 or experiments[0].main is None or quick):
        raise RunError(f"arguments: found {' '.join(rest)}, expected names and --quick; see {PROG} run --help.")
    if quick:
        settings = [each.quick_settings for each in experiments]
    for i, each in enumerate(experiments):
        begin = perf_counter()
        try:
            if quick:
                values = reprlib.repr(each.values(settings[i], sweep=sweep))
                print(f"{each.name}: {perf_counter() - begin:.1f} s, nothing written; {values}")
            elif each.main is not None:
                if status := each.main(rest):
                    return status
            else:
                each.save(sweep=sweep)
                print(f"{each.name}: {perf_counter() - begin:.0f} s, written to {each.path}")
        except KeyboardInterrupt:
            print(f"\n{each.name}: interrupted; {each.path.name} is as it was.", file=sys.stderr)
            return 130
        except Exception as error:
            error.add_note(f"{each.name}: the run failed; {each.path.name} is as it was.")
            raise
    return 0


def _list() -> int:
    rows = []
    for name, path in paths().items():
        content = load(path)
        size = sum(file.stat().st_size for file in path.parent.glob(f"{name}.*"))
        rows.append((name, _chapter(path), f"{size / 1e3:.0f} kB", content["versions"]["capcore"], content["command"]))
    print(text_table(rows, ["result", "chapter", "size", "capcore", "command"], "<"))
    return 0


def _chapter(path: Path) -> str:
    return path.parents[1].name


def _parsers() -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """Of the command, and of ``run``."""
    form = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog=PROG, description=__doc__, epilog=EPILOG, formatter_class=form, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command", title="commands")
    for name, (_, text) in ELSEWHERE.items():
        commands.add_parser(name, help=text)
    commands.add_parser("list", help="list the stored results: chapter, size, version of capcore, and what makes them")
    text = "run the experiments behind stored results again"
    run = commands.add_parser(
        "run", help=text, description=text, epilog=RUN_EPILOG, formatter_class=form, add_help=False, allow_abbrev=False
    )
    run.add_argument("names", nargs="*", metavar="NAME")
    run.add_argument("--quick", action="store_true", help="in seconds, with settings that decide nothing")
    run.add_argument("-h", "--help", action="store_true", help="show this, or the options of one experiment")
    return parser, run


if __name__ == "__main__":
    sys.exit(main())
