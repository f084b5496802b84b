"""The process that runs are forked from: ``python nursery.py FOLDER MODULE…``.

It imports the modules, and then answers every job, a line of JSON on its input, with two lines: the number of the
process that does it, and how that ended. When its input ends, because whoever asked is no more, it kills what it has
started and ends itself. Without modules it is what a plain run starts from. Where there is no fork but Linux's, it does
the job itself.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
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

    while line := sys.stdin.buffer.readline():
        job, own = Job.from_json(line.decode()), folder
        if sys.platform != "linux":
            print(json.dumps({"pid": os.getpid()}), flush=True)
            _perform(job, own)
            print(json.dumps({"status": 0}), flush=True)
            continue
        parent = os.getpid()
        if (pid := os.fork()) == 0:
            _child(job, own, parent)
        print(json.dumps({"pid": pid}), flush=True)
        print(json.dumps({"status": _wait(pid, folder)}), flush=True)
    shutil.rmtree(folder, ignore_errors=True)


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
    """How the process ended: 0, or minus the number of a signal. With our input gone it is killed, and we end."""
    ended = os.pidfd_open(pid)
    while True:
        ready, _, _ = select.select([ended, sys.stdin.buffer], [], [])
        if ended in ready:
            os.close(ended)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if not sys.stdin.buffer.peek(1):  # type: ignore[union-attr]
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(0)


def _child(job: object, folder: Path, parent: int) -> None:
    """The run, in a session of its own; what it prints goes nowhere."""
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
    finally:
        os._exit(0)


def _perform(job: object, folder: Path) -> None:
    from chapters.sweeps.performing import perform

    perform(job, folder)  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])  # in place of this folder
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as kernels do
    main(Path(sys.argv[1]), sys.argv[2:])
