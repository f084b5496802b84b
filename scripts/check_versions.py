"""Check that what names the version agrees: ``python scripts/check_versions.py [--tag v0.2.0]``.

``pyproject.toml`` has it. What follows it are the citation, which has date, licence and authors too, what an archive
of releases is told, the first section of the changelog, and the tag of a release.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent


def problems(root: Path, tag: str | None) -> Iterator[str]:
    """One line for each disagreement: what was found, what was expected."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf8"))["project"]
    citation = yaml.safe_load((root / "CITATION.cff").read_text("utf8"))
    archived = json.loads((root / ".zenodo.json").read_text("utf8"))
    section = re.search(r"^## (.*)$", (root / "CHANGELOG.md").read_text("utf8"), re.MULTILINE)
    authors = [author["name"] for author in project["authors"]]
    rows = [
        ("CITATION.cff, version", citation["version"], project["version"]),
        ("CITATION.cff, licence", citation["license"], project["license"]),
        ("CITATION.cff, authors", [author.get("name") for author in citation["authors"]], authors),
        (".zenodo.json, version", archived["version"], project["version"]),
        (".zenodo.json, creators", [creator["name"] for creator in archived["creators"]], authors),
        (".zenodo.json, licence", archived["license"], project["license"]),
        ("CHANGELOG.md", section and section[1], f"{project['version']} ({citation['date-released']})"),
        ("tag", tag, f"v{project['version']}"),
    ]
    for where, found, expected in rows:
        if found != expected and (where, tag) != ("tag", None):
            yield f"{where}: found {found!r}, expected {expected!r}."


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Print what disagrees; exit status 1 when anything does."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tag", help="the tag that is released")
    disagreements = list(problems(root, parser.parse_args(arguments).tag))
    print(*disagreements, sep="\n", end="\n" if disagreements else "")
    return int(bool(disagreements))


if __name__ == "__main__":
    sys.exit(main())
