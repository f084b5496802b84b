"""Lay the sites of releases beside the newest, in ``_build/html``: ``python scripts/release_sites.py``.

Each release on GitHub has its site as ``site.zip``; it is unpacked into ``v0.3.0/``, so that a figure can be cited as
it was. ``versions.json`` tells all pages which is newest.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
ASSET = "site.zip"


def gh(*arguments: str) -> str:
    """What GitHub's command prints."""
    return subprocess.run(["gh", *arguments], check=True, capture_output=True, text=True).stdout


def lay_out(site: Path, address: str, run: Callable[..., str] = gh) -> list[str]:
    """Unpack the sites of all releases that have one, newest first, and write ``versions.json``; returns their tags."""
    listed = json.loads(run("release", "list", "--exclude-drafts", "--exclude-pre-releases", "--json", "tagName"))
    tags = []
    for tag in [release["tagName"] for release in listed]:
        assets = json.loads(run("release", "view", tag, "--json", "assets"))["assets"]
        if ASSET not in [asset["name"] for asset in assets]:
            continue
        run("release", "download", tag, "--pattern", ASSET, "--dir", str(site), "--clobber")
        with zipfile.ZipFile(site / ASSET) as archive:
            archive.extractall(site / tag)
        (site / ASSET).unlink()
        tags.append(tag)
    versions = [{"version": tag.removeprefix("v"), "url": f"{address}{tag}/", "preferred": False} for tag in tags]
    if versions:
        versions[0] |= {"url": address, "preferred": True}
    (site / "versions.json").write_text(json.dumps(versions, indent=1) + "\n", "utf8")
    return tags


def main(root: Path = ROOT, run: Callable[..., str] = gh) -> int:
    """Print the tags. A site without an address of its own (``ogp_site_url``) stands alone."""
    address = yaml.safe_load((root / "_config.yml").read_text("utf8"))["sphinx"]["config"]["ogp_site_url"]
    if address:
        print(*lay_out(root / "_build" / "html", address, run), sep="\n")
    else:
        print("_config.yml names no ogp_site_url, so no older site is laid beside this one.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
