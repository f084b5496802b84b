"""What the system does for a process: ends it with its parent, keeps it within its memory. Linux alone does both."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LINUX = sys.platform == "linux"
_LIBC = ctypes.CDLL(None, use_errno=True) if LINUX else None


def end_with(parent: int) -> None:
    """Have this process killed when the thread of ``parent`` that started it ends. Nothing happens but on Linux."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before
            os._exit(1)


def adopt_orphans() -> None:
    """Make this process the parent of whatever its children leave behind, in whatever session that is. Linux's."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)


def children_of(pid: int) -> list[int]:
    """The processes that a process is the parent of; none where the system does not list them."""
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def limit_memory(megabytes: float | None) -> None:
    """Let this process have so much more memory than it has now: what it may write to, not what it maps for reading."""
    if megabytes is None or not LINUX:
        return
    import resource

    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    now = int(status["VmData"].split()[0]) * 1024
    most = now + int(megabytes * 2**20)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
