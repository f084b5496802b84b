"""The table of contents: which pages a reader is led along, and which are details of these or check them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

CONTENTS = Path(__file__).resolve().parent.parent / "_toc.yml"
LAST = "book/take_away"  # the page that ends the main line
CLAIMS = "book/claims"


def main_line() -> dict[str, str]:
    """Page → part, in order: the first page, the idea, the numbered chapters, and what to take away.

    Raises ``ValueError`` where the contents have no last page of the main line.
    """
    contents = _contents()
    found = {contents["root"]: contents["parts"][0]["caption"]}
    for part in contents["parts"]:
        for chapter in part["chapters"]:
            found[chapter["file"]] = part["caption"]
            if chapter["file"] == LAST:
                return found
    raise ValueError(f"_toc.yml: found no chapter {LAST!r}, expected the main line to end there.")


def appendices() -> dict[str, str]:
    """Page → part: everything below a page of the main line, the claims, and everything below these."""
    led = main_line()
    return {
        name: part["caption"]
        for part in _contents()["parts"]
        for chapter in part["chapters"]
        if chapter["file"] in led or chapter["file"] == CLAIMS
        for name in _files(chapter)
        if name not in led
    }


def _contents() -> dict[str, Any]:
    contents: dict[str, Any] = yaml.safe_load(CONTENTS.read_text("utf8"))
    return contents


def _files(entry: dict[str, Any]) -> Iterator[str]:
    yield entry["file"]
    for section in entry.get("sections", []):
        yield from _files(section)
