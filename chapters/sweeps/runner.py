"""Having a run done under supervision: whatever becomes of it, there is an answer, and nothing of it goes on.

A run is forked here, on Dask's workers as well, because Dask has no process for each task. It gives a fresh one only by
restarting a worker, which took 0.49 s where a fork took 0.013 s, and submits a task that ends its process three times
more. So local runs through Dask would need the same supervision, and a scheduler besides.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from chapters.sweeps import job as jobs
from chapters.sweeps import nursery, performing
from chapters.sweeps.job import Job
from chapters.sweeps.limits import children_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

POLL = 0.1  # seconds between looks at whether to stop
START = 300.0  # seconds for the imports that runs are forked with
GRACE = 30.0  # seconds for what takes none: to fork, to be killed
WITH_NOTEBOOKS = ("papermill", "ipykernel.kernelapp", "chapters.sweeps.rerun", "chapters.sweeps.kernels")
PREFIX, LOCK = "capcore-", ".owner"


class Runner:
    """Runs jobs one after another, each in a fresh process; used by one thread, and closed at the end."""

    def __init__(self) -> None:
        self._mother: subprocess.Popen[bytes] | None = None
        self._preload: tuple[str, ...] = ()
        self._folder = Path()
        self._owner = -1
        self._read = b""
        self._answered = False

    def perform(self, job: Job, stop: Callable[[], bool] = lambda: False) -> bytes:
        """The answer of a run, an error's where it ended without one, took too long, or ``stop()`` became true."""
        preload = (*(WITH_NOTEBOOKS if job.source else ()), *job.preload) if job.warm else ()
        if self._mother is None or self._mother.poll() is not None or preload != self._preload:
            self._start(preload)
        try:
            found = self._supervised(job, stop)
        except (OSError, ValueError, KeyError) as error:  # the process to fork from is no more, or answers no more
            found = jobs.answer({"error": f"Killed: {error}"})
            self.close(at_once=True)
        if not job.warm:
            self.close()
        return found

    def close(self, at_once: bool = False) -> None:
        """End the process that runs are forked from, and with it what it has started."""
        if self._mother is not None:
            below = _below(self._mother.pid) if at_once else []
            for stream in (self._mother.stdin, self._mother.stdout):
                with suppress(OSError):
                    stream.close()  # type: ignore[union-attr]
            try:
                self._mother.wait(0 if at_once else 5)
            except subprocess.TimeoutExpired:
                below += _below(self._mother.pid)
                self._mother.kill()
                self._mother.wait()
            for pid in below:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._mother = None
            shutil.rmtree(self._folder, ignore_errors=True)
            os.close(self._owner)

    def __del__(self) -> None:
        """A Dask worker that ends says so to none of its threads."""
        self.close()

    def _start(self, preload: tuple[str, ...]) -> None:
        self.close()
        self._preload, self._read, self._answered = preload, b"", False
        reclaim()
        self._folder, self._owner = _own_folder()
        self._mother = subprocess.Popen(
            [sys.executable, nursery.__file__, str(self._folder), *preload],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env={**os.environ, **jobs.threads()},
        )

    def _supervised(self, job: Job, stop: Callable[[], bool]) -> bytes:
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=self._folder))
        try:
            self._send(json.dumps([str(folder), job.to_json()]) + "\n", stop)
            pid = self._line(time.monotonic() + (GRACE if self._answered else START), stop)["pid"]
            self._answered = True
            end = time.monotonic() + (job.seconds or float("inf"))
            reason = self._until(end, stop)
            if reason:
                if reason == "late":
                    reason = f"TimeLimit: stopped after {job.seconds:g} seconds"
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            try:
                ended = self._line(time.monotonic() + GRACE)
            except OSError:
                if not reason:
                    raise
                self.close(at_once=True)  # stopped, or busy with what the run has left
                return jobs.answer({"error": reason})
            answer = folder / performing.ANSWER
            if answer.is_file() and not reason:
                return answer.read_bytes()
            return jobs.answer({"error": reason or _how(ended["status"], ended["said"])})
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _until(self, end: float, stop: Callable[[], bool]) -> str:
        """Wait for a line; empty once there is one, and else why it is waited for no longer."""
        while not self._ready(POLL):
            if stop():
                return "Stopped: with the sweep"
            if time.monotonic() > end:
                return "late"
        return ""

    def _send(self, text: str, stop: Callable[[], bool]) -> None:
        """Write to the process that runs are forked from, which may not read."""
        stream, left, end = self._mother.stdin.fileno(), text.encode(), time.monotonic() + START  # type: ignore[union-attr]
        os.set_blocking(stream, False)
        while left:
            if select.select([], [stream], [], POLL)[1]:
                left = left[os.write(stream, left) :]
            elif stop() or time.monotonic() > end:
                raise OSError("the process that runs are forked from takes none")

    def _line(self, end: float, stop: Callable[[], bool] = lambda: False) -> dict[str, Any]:
        """The next line of answer; ``OSError`` where it has not come at the ``end``."""
        while not self._ready(POLL):
            if stop() or time.monotonic() > end:
                raise OSError("the process that runs are forked from does not answer")
        line, _, self._read = self._read.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def _ready(self, seconds: float) -> bool:
        """Whether there is a line, after so long at most."""
        output = self._mother.stdout.fileno()  # type: ignore[union-attr]
        if b"\n" not in self._read and select.select([output], [], [], seconds)[0]:
            if not (more := os.read(output, 4096)):
                raise OSError("the process that runs are forked from has ended")
            self._read += more
        return b"\n" in self._read


def reclaim() -> None:
    """Remove the folders of runners that were killed together with what they would have been removed by."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            owner = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if os.fstat(owner).st_uid == os.getuid():
                    fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)  # which the system lets go of with its process
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(owner)


def _own_folder() -> tuple[Path, int]:
    """A new folder, and the lock that says that its owner is alive."""
    draft = Path(tempfile.mkdtemp(prefix=f".{PREFIX}"))
    owner = os.open(draft / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    if fcntl is not None:
        fcntl.flock(owner, fcntl.LOCK_EX)
    folder = draft.with_name(draft.name[1:])  # a name that others look at only once it is locked
    draft.rename(folder)
    return folder, owner


def _below(pid: int) -> list[int]:
    """What a process has started, and what that has."""
    return [each for child in children_of(pid) for each in (child, *_below(child))]


def _how(status: int, said: str) -> str:
    """The end of a run without a result, in words."""
    if said:
        return f"Killed: the run could not write its answer ({said})"
    if status >= 0:
        return f"Killed: the run's process ended itself with status {status}, without a result"
    name = signal.Signals(-status).name if -status in set(signal.Signals) else "unknown"
    return f"Killed: the run's process ended with signal {-status} ({name}), without a result"
