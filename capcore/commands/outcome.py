"""How a command ends: exit statuses and one line for each reason; and files that are written whole or not at all."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STREAMS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))
"""Folders whose entries may stand for a file that another program writes to as well."""


def exit_status(
    run: Callable[[argparse.Namespace, str], int], arguments: argparse.Namespace, prog: str, plain: Callable[[str], str]
) -> int:
    """What ``run(arguments, prog)`` returns, or the status of what it raises, told on standard error.

    plain : replaces names of parameters in a message by the options that set them.
    """
    try:
        return run(arguments, prog)
    except (ValueError, ModuleNotFoundError) as error:  # one line for each reason
        if arguments.traceback:
            raise
        for line in str(error).splitlines() or [type(error).__name__]:
            say(prog, plain(line))
        return 2
    except BrokenPipeError:  # the reader of our output, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        say(prog, "interrupted; nothing was written.")
        return 130
    except Exception as error:
        if arguments.traceback:
            raise
        said = plain(f"{type(error).__name__}: {error}"[:300])
        say(prog, f"an error in this program, not in your file ({said}). Please report it; --traceback shows where.")
        return 3


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
