"""The original files of eleven residual networks, fetched or found, and their spectra computed from them.

``python -m chapters run resnet_spectra`` writes ``results/resnet_spectra.json`` and ``.npz``, in about a minute on one
core once the files are there.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from threadpoolctl import threadpool_limits

from capcore.spectra.tensors import Checkpoint, CheckpointError
from chapters import stored as results
from chapters.spectra_resnets.checkpoint_files import fetch_file, find_file, read_network
from chapters.spectra_resnets.resnet_sources import HOST, SOURCES
from chapters.spectra_resnets.resnet_spectra import SETTINGS, run

PROG = "python -m chapters run resnet_spectra"
RESULTS = Path(__file__).resolve().parent / "results"
CACHE = Path.home() / ".cache" / "capcore" / "checkpoints"
DESCRIPTION = """\
Compute the spectra that the book ships, from the original files of eleven networks.

The weights are other people's work and are not in this repository. They come from

{sources}

at the commits written down in resnet_sources.csv beside this code, with the SHA-256 of every file. A file with another
hash is refused before it is opened. No file can execute code: PyTorch's files are loaded as weights only. Three of
them hold classes beside their weights, which are replaced by objects that do nothing; safetensors files of the same
weights need no PyTorch and are taken where they lie beside.
"""
EXAMPLES = """\
examples:
  python -m chapters run resnet_spectra                         fetch the files (25 MB), after showing their licences
  python -m chapters run resnet_spectra --folder ~/networks     use files that are there, in any folder below
  python -m chapters run resnet_spectra --fetch-only --yes      fetch and check, without asking and computing

Fetching needs pip install 'capcore[checkpoints]', reading PyTorch's files pip install 'capcore[torch]'.
"""


def licences() -> str:
    """Repository, commit, licence and its address, one line for each repository, with what is fetched from it."""
    lines = []
    for repository in dict.fromkeys(source.repository for source in SOURCES.values()):
        found = [source for source in SOURCES.values() if source.repository == repository]
        megabytes = sum(source.size for source in found) / 1e6
        lines.append(
            f"  {repository} ({len(found)} files, {megabytes:.1f} MB): {found[0].licence},\n"
            f"    {found[0].address(found[0].licence_path)}"
        )
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """Arguments of the command."""
    made = argparse.ArgumentParser(
        prog=PROG,
        description=DESCRIPTION.format(sources=licences()),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--folder", type=Path, help="use the files in this folder, and fetch nothing")
    made.add_argument("--cache", type=Path, default=CACHE, help="where fetched files are kept (default: %(default)s)")
    made.add_argument("--host", default=HOST, help="fetch from another host with the same paths (default: %(default)s)")
    made.add_argument("--yes", action="store_true", help="do not ask before fetching; the licences are shown anyway")
    made.add_argument("--fetch-only", action="store_true", help="fetch and check the files, compute nothing")
    made.add_argument(
        "--output", type=Path, default=RESULTS, help="folder to write to (default: results of this chapter)"
    )
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; 0 if it did what was asked, 1 with a message if it could not."""
    given = parser().parse_args(arguments)
    try:
        if given.folder is None and not _agreed(given.yes):
            print("Nothing was fetched.", file=sys.stderr)
            return 1
        paths = {
            key: fetch_file(source, given.cache, host=given.host)
            if given.folder is None
            else find_file(source, given.folder)
            for key, source in SOURCES.items()
        }

        def read(key: str) -> Checkpoint:
            return read_network(SOURCES[key], paths[key])

        if given.fetch_only:
            for key in SOURCES:
                print(f"{key}: {len(read(key))} tensors, as expected ({paths[key]})")
            return 0
        with threadpool_limits(1):
            path = given.output / "resnet_spectra.json"
            results.save(path, PROG, (run, read_network), SETTINGS, lambda: _run(read, given.output))
    except CheckpointError as error:
        print(textwrap.fill(str(error), 110, break_long_words=False, break_on_hyphens=False), file=sys.stderr)
        return 1
    return 0


def _run(read: Callable[[str], Checkpoint], folder: Path) -> dict[str, Any]:
    """Arrays go to a folder of their own first: those that are there stay until all are computed and written."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as drafts:
        draft = Path(drafts) / "resnet_spectra.npz"
        values = run(read, draft)
        draft.replace(folder / draft.name)
    return values


def _agreed(yes: bool) -> bool:
    """Whether files may be fetched: shows where from and under which licences first."""
    print(f"Files to fetch:\n{licences()}\nThey are used on this machine and not redistributed.")
    return yes or input("Fetch them? [y/N] ").strip().lower() in ("y", "yes")
