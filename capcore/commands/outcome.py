"""How a command ends: with one line for each reason, and files that are written whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STREAMS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))
"""Folders whose entries may stand for a file that another program writes to as well."""


def say(prog: str, line: str) -> None:
    """A line on standard error, whose control characters are replaced."""
    from capcore.checkpoints.tensors import shown

    print(f"{prog}: {shown(line)}", file=sys.stderr)


def refuse(lines: Sequence[str]) -> None:
    """Raise ``ValueError`` if there are reasons."""
    if lines:
        raise ValueError("\n".join(lines))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically, so that an interruption leaves no partial file.

    A pipe or a device is written into, and the target of a link replaced. Raises ``ValueError`` where this fails.
    """
    place = path.resolve()
    draft = place.with_name(f".capcore-{os.getpid()}")
    try:
        if path.parent in STREAMS or (path.exists() and not path.is_file()):
            path.write_bytes(content)
            return
        try:
            draft.write_bytes(content)
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise ValueError(f"{path}: cannot be written ({error.strerror}). Choose another place.") from None


def write_figure(path: Path, figure: Figure) -> None:
    """Write a figure of matplotlib in the format of the file's name, as :func:`write_whole` does."""
    drawn = BytesIO()
    figure.savefig(drawn, format=path.suffix[1:].lower())
    write_whole(path, drawn.getvalue())
