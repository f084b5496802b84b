"""The process that runs are forked from: ``python nursery.py FOLDER MODULE…``.

It imports the modules, and then answers every job, a line of JSON on its input that also names a folder below FOLDER,
with two lines: the number of the process that does it, and how that ended, after which it kills whatever the run has
left behind. When its input ends, because whoever asked is no more, it kills what it has started and ends itself.
Without modules it is what a plain run starts from. Where there is no fork but Linux's, it does the job itself.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

NEVER = ("jax", "torch")
"""They start threads and read the environment when they are imported: each run imports them itself."""

SLOW = "rfc3987_syntax"
"""Half of what importing papermill takes, for addresses that no notebook has; a run that wants it can import it."""


def main(folder: Path, modules: list[str]) -> None:
    """Import, then serve until the input ends."""
    _import(folder, modules)
    from chapters.sweeps.job import Job
    from chapters.sweeps.limits import adopt_orphans

    adopt_orphans()
    while line := sys.stdin.buffer.readline():
        own, text = json.loads(line)
        job = Job.from_json(text)
        if sys.platform != "linux":
            _say(pid=os.getpid())
            _perform(job, Path(own))
            _say(status=0, said="")
            continue
        parent, (read, write) = os.getpid(), os.pipe()
        if (pid := os.fork()) == 0:
            os.close(read)
            _child(job, Path(own), parent, write)
        os.close(write)
        _say(pid=pid)
        status = _wait(pid, folder)
        _say(status=status, said=_what_was_said(read))
    shutil.rmtree(folder, ignore_errors=True)


def _say(**what: object) -> None:
    print(json.dumps(what), flush=True)


def _what_was_said(read: int) -> str:
    """Why a run could not even write its answer; nobody may be there any more to say it."""
    os.set_blocking(read, False)
    try:
        return os.read(read, 4096).decode(errors="replace")
    except BlockingIOError:
        return ""
    finally:
        os.close(read)


def _import(folder: Path, modules: list[str]) -> None:
    """Import them; without one that brings what must not be there, from the beginning."""
    sys.modules.setdefault(SLOW, None)  # type: ignore[arg-type]
    for number, name in enumerate(modules):
        with suppress(Exception):
            import_module(name)
        if any(each in sys.modules for each in NEVER):
            rest = modules[:number] + modules[number + 1 :]
            os.execv(sys.executable, [sys.executable, __file__, str(folder), *rest])
    sys.modules.pop(SLOW)
    if "pandas" in sys.modules:  # which takes what it finds at its import, no kernel, for a terminal
        sys.modules["pandas"].set_option("display.max_columns", 20)


def _wait(pid: int, folder: Path) -> int:
    """How the process ended: its status, or minus a signal's number. With our input gone, it and we end here."""
    ended = os.pidfd_open(pid)
    while True:
        ready, _, _ = select.select([ended, sys.stdin.buffer], [], [])
        if ended in ready:
            os.close(ended)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            kill_children()
            return status
        if not sys.stdin.buffer.peek(1):  # type: ignore[union-attr]
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            kill_children()
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(0)


def kill_children(seconds: float = 10.0) -> None:
    """Kill all that this process has started, or adopted from those: of a run that ended, what it left behind."""
    from chapters.sweeps.limits import children_of

    end = time.monotonic() + seconds  # what multiplies faster than it is killed is left to the runner
    while time.monotonic() < end:
        for pid in children_of(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:  # there are none
            return
        time.sleep(0.005)


def _child(job: object, folder: Path, parent: int, write: int) -> None:
    """The run, in a session of its own; what it prints goes nowhere."""
    status = 0
    try:
        from chapters.sweeps.limits import end_with

        end_with(parent)
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        if "numpy.random" in sys.modules:  # else all runs would draw the same from the generator that all share
            sys.modules["numpy.random"].seed()
        _perform(job, folder)
    except BaseException as error:  # such as a full disk, on which there is no room for an answer
        status = 1
        os.write(write, f"{type(error).__name__}: {error}".encode(errors="backslashreplace")[:4000])
    finally:
        os._exit(status)


def _perform(job: object, folder: Path) -> None:
    from chapters.sweeps.performing import perform

    perform(job, folder)  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])  # in place of this folder
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as kernels do
    main(Path(sys.argv[1]), sys.argv[2:])
