"""Processes forked from one that has imported what notebooks import, since importing it takes them seconds each.

For the runs of a sweep, the kernels of tests and those of the book's build. ``fork`` asks that process for another one,
which calls a function. Run as a script, this file is that process: for every line of JSON on its standard input it
forks, and answers with the number of the new process. It adopts what those leave behind, in whatever session, and kills
it; when its input ends, because whoever asked is no more, it kills all that it has forked, and ends. Only where forking
is sound, on Linux; elsewhere, processes are started as ever.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache, partialmethod
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[2]
LINUX = sys.platform == "linux"
ENDED = "ended"
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
_ONE_AT_A_TIME = Lock()


class Forked(psutil.Process):
    """A process with as much of ``subprocess.Popen`` as Jupyter uses. How it ended is not known."""

    stdin = stdout = stderr = None

    def poll(self) -> int | None:
        """None while it runs."""
        return None if psutil.pid_exists(self.pid) else 0

    def send_signal(self, sig: int) -> None:
        """Nothing happens if it has ended."""
        with suppress(psutil.NoSuchProcess):
            super().send_signal(sig)

    terminate = partialmethod(send_signal, signal.SIGTERM)
    kill = partialmethod(send_signal, signal.SIGKILL)


def fork(call: str, modules: tuple[str, ...], **request: Any) -> Forked | None:
    """A process that calls ``module:function``, from one that has imported ``modules``; None where there is no fork.

    request : its ``arguments``, ``env`` and ``cwd``, whether it is ``quiet``, and a ``folder`` to note its status in.
    """
    for _ in range(2 if LINUX else 0):
        with _ONE_AT_A_TIME, suppress(OSError, ValueError, psutil.Error):
            mother = _mother(modules)
            mother.stdin.write(json.dumps({"call": call, **request}).encode() + b"\n")
            return Forked(int(mother.stdout.readline()))
        _mother.cache_clear()  # it was killed
    return None


def one_thread() -> dict[str, str]:
    """The environment, with one thread of linear algebra unless it says otherwise."""
    return {**dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"), **os.environ}


def with_chapters() -> str:
    """A ``PYTHONPATH`` by which the chapters are found from every folder."""
    return os.pathsep.join(dict.fromkeys(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])))


@cache
def _mother(modules: tuple[str, ...]) -> Any:
    """The process that forks, in a group of its own: Ctrl-C reaches what it forks through their owners alone."""
    command, pipe = [sys.executable, __file__, *modules], subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0, start_new_session=True, env=one_thread())


def _children() -> dict[str, Any]:
    """What each child was asked for; the parent stays here until its input ends."""
    folders: dict[int, str] = {}
    while True:
        if select.select([0], [], [], 0.01 if _bury(folders) else None)[0]:
            if not (line := sys.stdin.buffer.readline()):
                break
            request = dict(json.loads(line))
            if (pid := os.fork()) == 0:
                return request
            folders[pid] = request.get("folder", "")
            print(pid, flush=True)
    left = [folder for folder in folders.values() if folder]
    folders.clear()  # so that all is killed
    while _bury(folders):
        time.sleep(0.005)
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit()


def _bury(folders: dict[int, str]) -> bool:
    """Note how children ended in their folders, and kill what they left behind; whether there is still something."""
    this = os.getpid()
    for pid in map(int, Path(f"/proc/{this}/task/{this}/children").read_text().split()):
        if pid not in folders:
            os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if folder := folders.pop(ended[0], ""):
                with suppress(OSError):
                    Path(folder, ENDED).write_text(str(os.waitstatus_to_exitcode(ended[1])))
        return True
    return False


def _become(request: dict[str, Any], parent: int) -> None:
    """Do what is asked for; the system kills this process when its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before
        os._exit(1)
    os.setsid()
    os.environ.clear()
    os.environ.update(request["env"], JPY_PARENT_PID=str(parent))
    os.chdir(request["cwd"])
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing if request["quiet"] else 2, 2)
    os.dup2(2, 1)  # the answers' pipe is the parent's
    module, name = request["call"].split(":")
    getattr(import_module(module), name)(**request["arguments"])


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as kernels do
    for imported in sys.argv[1:]:
        with suppress(ImportError):
            import_module(imported)
    if "pandas" in sys.modules:  # which takes what it finds at its import, no kernel, for a terminal
        sys.modules["pandas"].set_option("display.max_columns", 20)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    mother = os.getpid()
    _become(_children(), mother)
