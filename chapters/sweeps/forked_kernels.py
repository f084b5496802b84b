"""Kernels forked from a process that has imported what notebooks import, since importing it takes them seconds each.

For the tests of notebooks, for the book's build, and (``Forked``, ``become``) for the warm runs of a sweep.
``fork`` asks that process for a kernel. Run as a script, this file is that process: for every line of JSON on its
standard input it forks, answers with the number of the new process, and ends with its input. Only where forking is
sound, on Linux; elsewhere, and where anything is unusual, kernels are started as ever.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from importlib import import_module
from threading import Lock
from typing import Any

IMPORTED = (
    "ipykernel.kernelapp",
    "matplotlib.pyplot",
    "pandas",
    "scipy.optimize",
    "scipy.stats",
    "seaborn",
    "sklearn.datasets",
)
"""Not JAX: it reads the environment when it is imported, and starts threads, which do not survive a fork."""
LAUNCHER = "ipykernel_launcher"
_ONE_AT_A_TIME = Lock()


class Forked:
    """A kernel that is not a child of this process, with as much of ``subprocess.Popen`` as Jupyter uses."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        """None while it runs. How it ended is not known."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Until it has ended."""
        while self.poll() is None:
            time.sleep(0.01)
        return 0

    def send_signal(self, number: int) -> None:
        """Nothing happens if it has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def fork(command: list[str], env: dict[str, str], cwd: str | None, quiet: bool) -> Forked | None:
    """A kernel as ``command`` would start it, or None where it has to be started so."""
    if sys.platform != "linux" or command[0] != sys.executable or LAUNCHER not in command:
        return None
    request = {"argv": command[command.index(LAUNCHER) :], "env": env, "cwd": str(cwd or os.getcwd()), "quiet": quiet}
    with _ONE_AT_A_TIME, suppress(OSError, ValueError):
        mother = _mother()
        mother.stdin.write(json.dumps(request) + "\n")
        mother.stdin.flush()
        return Forked(int(mother.stdout.readline()))
    return None


@cache
def _mother() -> Any:
    """The process that forks, in a group of its own, so that Ctrl-C reaches kernels through their managers alone."""
    return subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def _children() -> dict[str, Any]:
    """What each child was asked for; the parent stays here until its input ends."""
    for line in sys.stdin:
        if pid := os.fork():
            print(pid, flush=True)
        else:
            return json.loads(line)
    sys.exit()


def become(request: dict[str, Any]) -> None:
    """The kernel asked for: what ``python -m ipykernel_launcher …`` does."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.environ.clear()
    os.environ.update(request["env"], JPY_PARENT_PID=str(os.getppid()))
    os.chdir(request["cwd"])
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing if request["quiet"] else 2, 2)
    os.dup2(2, 1)  # the answers' pipe is the parent's
    sys.argv = request["argv"]
    parent = f"--IPKernelApp.parent_handle={os.getppid()}"  # whose end is the kernel's; read when it was imported
    import_module("ipykernel.kernelapp").launch_new_instance(argv=[*sys.argv[1:], parent])


if __name__ == "__main__":
    del sys.path[0]  # this folder
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as kernels do
    for name in IMPORTED:
        with suppress(ImportError):
            import_module(name)
    if "pandas" in sys.modules:  # which takes what it finds at its import, no kernel, for a terminal
        sys.modules["pandas"].set_option("display.max_columns", 20)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system keeps no record of kernels that have ended
    become(_children())
