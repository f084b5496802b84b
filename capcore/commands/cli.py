"""The command ``capcore``. A subcommand's module is imported only when it is called, so that help stays fast."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

import capcore
from capcore.commands.shared import Parser
from capcore.commands.working_folder import off_the_path

COMMANDS = {
    "spectra": "capacity metrics of trained weights, and how far to trust them",
    "design": "which model forecasts a series best for its size: layers, dilations, field",
    "network": "how many parameters of a trained network count, and where they go",
}
"""Subcommand, also its module, which has ``main(argv, prog) -> int`` → one line of help."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``capcore`` with the arguments ``argv`` and return its exit status.

    ``argv`` defaults to the arguments of the process. In that case nothing is imported from the working folder.
    """
    if argv is None:
        off_the_path()
        argv = sys.argv[1:]
        for stream in (sys.stdout, sys.stderr):  # on Windows, a pipe may not be able to encode λ
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")
    parser = Parser(
        prog="capcore",
        description="Capacity allocation analysis of neural networks.",
        epilog="commands:\n" + "\n".join(f"  {name:10} {text}" for name, text in COMMANDS.items()),
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {capcore.__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="command", help="one of: " + ", ".join(COMMANDS))
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="see: capcore COMMAND --help")
    parsed = parser.parse_args(argv)
    command = import_module(f"capcore.commands.{parsed.command}")
    return int(command.main(parsed.arguments, prog=f"capcore {parsed.command}"))
