"""What the system does for a process: ends it with its parent, keeps it within its memory. Linux alone does both."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
LINUX = sys.platform == "linux"
_LIBC = ctypes.CDLL(None, use_errno=True) if LINUX else None


def end_with(parent: int) -> None:
    """Have this process killed when the thread of ``parent`` that started it ends. Nothing happens but on Linux."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before
            os._exit(1)


def limit_memory(megabytes: float | None) -> None:
    """Let this process have so much more memory than it has now: what it may write to, not what it maps for reading."""
    if megabytes is None or not LINUX:
        return
    import resource

    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    now = int(status["VmData"].split()[0]) * 1024
    most = now + int(megabytes * 2**20)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
