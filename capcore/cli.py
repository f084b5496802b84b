"""The command ``capcore``: each subcommand lives in a module that is imported only when it is called."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version

COMMANDS = {
    "claims": ("chapters.claims.commands", "collect, check and list the verdicts on the sources' claims"),
    "rerun": ("chapters.sweeps.rerun", "one notebook with other parameters, and what becomes of its claims"),
    "sweep": ("chapters.sweeps.command", "a notebook for a grid of settings, here or on a Dask cluster"),
    "spectra": ("capcore.spectra.command", "capacity metrics of trained weights, and how far to trust them"),
}
"""Subcommand → (module with ``main(argv, prog) -> int``, one line of help)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status of ``capcore`` with the arguments ``argv`` (by default those of the process)."""
    parser = argparse.ArgumentParser(
        prog="capcore",
        description="Capacity allocation analysis of neural networks.",
        epilog="commands:\n" + "\n".join(f"  {name:10} {text}" for name, (_, text) in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('capcore')}")
    parser.add_argument("command", choices=COMMANDS, metavar="command", help="one of: " + ", ".join(COMMANDS))
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="see: capcore COMMAND --help")
    parsed = parser.parse_args(argv)
    module, _ = COMMANDS[parsed.command]
    sys.path.append("")  # the book's folder, where this is it
    try:
        command = import_module(module)
    except ModuleNotFoundError as error:
        if error.name != "chapters":
            raise
        print(
            f"capcore {parsed.command}: found no chapters, expected the book's repository: run it there.",
            file=sys.stderr,
        )
        return 2
    status: int = command.main(parsed.arguments, prog=f"capcore {parsed.command}")
    return status


if __name__ == "__main__":
    sys.exit(main())
