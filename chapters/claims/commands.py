"""``python -m chapters claims``: collect, check and list verdicts."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from chapters.claims.collection import Finding, collect, problems, write_verdicts
from chapters.claims.criteria import ClaimsError
from chapters.claims.registry import Registry, load
from chapters.claims.verdicts import VERDICTS


def main(argv: Sequence[str], prog: str = "python -m chapters claims") -> int:
    """Exit status of ``python -m chapters claims`` with the arguments ``argv``."""
    arguments = _parser(prog).parse_args(argv)
    try:
        return int(arguments.run(arguments, load(arguments.registry)))
    except ClaimsError as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 1


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=prog, description="Verdicts on the sources' claims.")
    commands = parser.add_subparsers(required=True, metavar="command")
    for run, text in (
        (_collect, "Judge every claim by the values that executed notebooks recorded, and print the verdicts."),
        (_check, "Exit with status 1 if a verdict changed or a claim lost its evidence."),
        (_list, "List the claims with the verdicts committed in the registry."),
    ):
        command = commands.add_parser(run.__name__[1:], help=text, description=text)
        command.set_defaults(run=run)
        given = "a claims.yml (default: book/claims.yml of the repository)"
        command.add_argument("--registry", metavar="FILE", help=given)
        if run is _list:
            command.add_argument("--verdict", choices=VERDICTS, help="only claims with this verdict")
            continue
        given = "executed notebooks (default: all of the folder notebooks/ beside the registry's folder)"
        command.add_argument("notebooks", nargs="*", metavar="NOTEBOOK", help=given)
        if run is _collect:
            command.add_argument("--write", action="store_true", help="write the verdicts into the registry")
    return parser


def _read(arguments: argparse.Namespace, registry: Registry) -> dict[str, Finding]:
    paths = [Path(path) for path in arguments.notebooks]
    return collect(paths or sorted((registry.path.parent.parent / "notebooks").glob("*.ipynb")), registry)


def _collect(arguments: argparse.Namespace, registry: Registry) -> int:
    findings = _read(arguments, registry)
    for name, finding in findings.items():
        if finding.values or finding.changed:
            was = f" (was: {finding.claim.verdict})" if finding.changed else ""
            print(f"{name}  {finding.verdict}{was}")
            failed = [check for check, holds in finding.outcomes.items() if not holds]
            for label, names in (("missing", finding.missing), ("fails", failed)):
                if names:
                    print(f"       {label}: {', '.join(names)}")
    print(_summary(findings))
    if arguments.write:
        changed = write_verdicts(registry.path, {name: finding.verdict for name, finding in findings.items()})
        print(f"Wrote {len(changed)} changed verdict(s) to {registry.path.name}.")
    return 0


def _check(arguments: argparse.Namespace, registry: Registry) -> int:
    findings = _read(arguments, registry)
    found = problems(findings)
    print("".join(f"{line}\n" for line in found), end="", file=sys.stderr)
    print(f"{len(found)} problem(s)." if found else _summary(findings))
    return 1 if found else 0


def _list(arguments: argparse.Namespace, registry: Registry) -> int:
    for claim in registry:
        if arguments.verdict in (None, claim.verdict):
            print(f"{claim.id:6}  {claim.verdict:23}  {claim.claim}")
    return 0


def _summary(findings: dict[str, Finding]) -> str:
    counts = Counter(finding.verdict for finding in findings.values())
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
