"""What several commands have in common: their parser, messages in the words of their options, and their figures."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from capcore.checks.names import absent, meant
from capcore.commands.outcome import say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Run = Callable[[argparse.Namespace, str], int]
FIGURES = (".png", ".svg", ".pdf")


class Parser(argparse.ArgumentParser):
    """A parser that says what a misspelt option or choice may mean, and leaves the lines of its help as they are."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"formatter_class": argparse.RawDescriptionHelpFormatter} | options)

    def error(self, message: str) -> NoReturn:
        """End with the message."""
        wrong = re.search(r"(?:unrecognized arguments: |invalid choice: ')([\w-]+)", message)
        known = [*self._option_string_actions, *(str(one) for action in self._actions for one in action.choices or ())]
        super().error(f"{message}.{meant(wrong[1], known)}" if wrong else message)


def described(prog: str, text: str | None) -> Parser:
    """A parser whose help is ``text``, the examples and what follows them below the options."""
    description, examples, epilog = (text or "").replace("::\n\n", ":\n").partition("examples:")
    return Parser(prog, description=description, epilog=examples + epilog)


def add_usual(group: argparse._ActionsContainer) -> None:
    """Add the options ``--plot``, ``--progress`` and ``--traceback``."""
    add = group.add_argument
    add("--plot", metavar="FILE", help="also draw a figure: .png, .svg or .pdf (needs matplotlib)")
    add("--progress", action=argparse.BooleanOptionalAction, help="bar on standard error; default: on a terminal")
    add("--traceback", action="store_true", help="show where an error arose")


def shows_progress(arguments: argparse.Namespace) -> bool:
    """Whether there is a bar on standard error."""
    return sys.stderr.isatty() if arguments.progress is None else arguments.progress


def in_options(message: str, options: Mapping[str, str]) -> str:
    """Replace the name of a parameter in a message by where the user gave it.

    >>> in_options("n_inputs: found 1, expected a whole number of at least 2.", {"n_inputs": "--inputs"})
    '--inputs: found 1, expected a whole number of at least 2.'
    """
    name = re.match(r"\w+(?=[:\[])", message)
    return options.get(name[0], name[0]) + message[name.end() :] if name else message


def run_command(run: Run, parser: argparse.ArgumentParser, argv: Sequence[str], others: dict[str, str]) -> int:
    """What ``run(arguments, prog)`` returns, or the status of what it raises, told on standard error.

    Messages name options in place of parameters, and what ``others`` says.
    """
    arguments, prog = parser.parse_args(argv), parser.prog
    options = {action.dest: action.option_strings[0] for action in parser._actions if action.option_strings} | others
    try:
        return run(arguments, prog)
    except BrokenPipeError:  # the reader of our output, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        say(prog, "interrupted; nothing was written.")
        return 130
    except Exception as error:
        if arguments.traceback:
            raise
        if isinstance(error, ValueError | ModuleNotFoundError):  # one line for each reason
            for line in str(error).splitlines() or [type(error).__name__]:
                say(prog, in_options(line, options))
            return 2
        said = f"{type(error).__name__}: {error}"[:300]
        say(prog, f"an error in this program, not in your file ({said}). Please report it; --traceback shows where.")
        return 3


def unwritable(arguments: argparse.Namespace, names: Sequence[str], inputs: Sequence[str] = ()) -> list[str]:
    """Messages about files that are to be written and cannot be, or would overwrite an input or each other."""
    lines, before = [], {_place(Path(path)): "an input" for path in inputs}
    for name in names:
        if not (given := getattr(arguments, name)):
            continue
        path = Path(given).resolve()
        place = _place(path)
        if not path.parent.is_dir():
            lines.append(f"--{name}: found no folder for {given}, expected an existing one. Create it first.")
        if path.is_dir():
            lines.append(f"--{name}: found the folder {given}, expected the name of a file.")
        if place in before:
            lines.append(f"--{name}: found {given}, the file of {before[place]}, expected a different one.")
        before[place] = f"--{name}"
    return lines + (unplottable(arguments.plot) if arguments.plot else [])


def _place(path: Path) -> Hashable:
    """Equal for all names of one file, also for hard links."""
    return path.stat()[1:3] if path.exists() else path.resolve()


def unplottable(plot: str) -> list[str]:
    """Messages about a figure whose name ends in no known way, or that needs matplotlib."""
    known = Path(plot).suffix.lower() in FIGURES
    lines = [] if known else [f"--plot: found {plot}, expected a name that ends in {', '.join(FIGURES)}."]
    return lines + [f"--plot: {said}" for said in (absent("matplotlib"),) if said]


def new_figure(width: float, height: float) -> Figure:
    """An empty figure in the package's style, in inches."""
    with chdir(Path(__file__).parent):  # matplotlib would read settings in the working folder, beside the user's files
        from matplotlib.figure import Figure

        from capcore.plotting import use_style

        use_style()
    return Figure(figsize=(width, height), layout="constrained")
