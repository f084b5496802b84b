"""``python -m chapters claims``: collect, check and list verdicts."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from chapters.claims.collection import Collection, collect, problems
from chapters.claims.criteria import ClaimsError
from chapters.claims.registry import Registry, load
from chapters.claims.verdicts import VERDICTS
from chapters.claims.writeback import write_verdicts


def main(argv: Sequence[str], prog: str = "python -m chapters claims") -> int:
    """Exit status of ``python -m chapters claims`` with the arguments ``argv``."""
    arguments = _parser(prog).parse_args(argv)
    try:
        status: int = arguments.run(arguments, load(arguments.registry))
        return status
    except ClaimsError as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 1


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=prog, description="Verdicts on the sources' claims.")
    commands = parser.add_subparsers(required=True, metavar="command")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--registry", metavar="FILE", help="a claims.yml (default: book/claims.yml of the repository)")
    reading = argparse.ArgumentParser(add_help=False)
    reading.add_argument(
        "notebooks",
        nargs="*",
        metavar="NOTEBOOK",
        help="executed notebooks (default: all of the folder notebooks/ beside the registry's folder)",
    )
    text = "Judge every claim by the values that executed notebooks recorded, and print the verdicts."
    command = commands.add_parser("collect", parents=[reading, common], help=text, description=text)
    command.add_argument("--write", action="store_true", help="write the verdicts into the registry")
    command.set_defaults(run=_collect)
    text = "Exit with status 1 if a verdict changed or a claim lost its evidence."
    command = commands.add_parser("check", parents=[reading, common], help=text, description=text)
    command.set_defaults(run=_check)
    text = "List the claims with the verdicts committed in the registry."
    command = commands.add_parser("list", parents=[common], help=text, description=text)
    command.add_argument("--verdict", choices=VERDICTS, help="only claims with this verdict")
    command.set_defaults(run=_list)
    return parser


def _read(arguments: argparse.Namespace, registry: Registry) -> Collection:
    paths = [Path(path) for path in arguments.notebooks]
    return collect(paths or sorted((registry.path.parent.parent / "notebooks").glob("*.ipynb")), registry)


def _collect(arguments: argparse.Namespace, registry: Registry) -> int:
    collection = _read(arguments, registry)
    for finding in collection:
        if finding.values or finding.changed:
            was = f" (was: {finding.claim.verdict})" if finding.changed else ""
            print(f"{finding.claim.id}  {finding.verdict}{was}")
            failed = [name for name, holds in finding.verdict.outcomes.items() if not holds]
            for label, names in (("missing", finding.missing), ("fails", failed)):
                if names:
                    print(f"       {label}: {', '.join(names)}")
    print(_summary(finding.verdict.name for finding in collection))
    if arguments.write:
        changed = write_verdicts(registry.path, {f.claim.id: f.verdict.name for f in collection})
        print(f"Wrote {len(changed)} changed verdict(s) to {registry.path.name}.")
    return 0


def _check(arguments: argparse.Namespace, registry: Registry) -> int:
    collection = _read(arguments, registry)
    found = problems(collection)
    for line in found:
        print(line, file=sys.stderr)
    print(f"{len(found)} problem(s)." if found else _summary(finding.verdict.name for finding in collection))
    return 1 if found else 0


def _list(arguments: argparse.Namespace, registry: Registry) -> int:
    for claim in registry:
        if arguments.verdict in (None, claim.verdict):
            print(f"{claim.id:6}  {claim.verdict:23}  {claim.claim}")
    return 0


def _summary(verdicts: object) -> str:
    counts = Counter(verdicts)  # type: ignore[call-overload]
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
