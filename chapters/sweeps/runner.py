"""Having a run done under supervision: whatever becomes of it, there is an answer, and nothing of it goes on."""

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

POLL = 0.1  # seconds between looks at whether to stop
WITH_NOTEBOOKS = ("papermill", "ipykernel.kernelapp", "chapters.sweeps.rerun", "chapters.sweeps.kernels")


class Runner:
    """Runs jobs one after another, each in a fresh process; used by one thread, and closed at the end."""

    def __init__(self) -> None:
        self._mother: subprocess.Popen[bytes] | None = None
        self._preload: tuple[str, ...] = ()
        self._folder = Path()
        self._read = b""

    def perform(self, job: Job, stop: Callable[[], bool] = lambda: False) -> bytes:
        """The answer of a run, an error's where it ended without one, took too long, or ``stop()`` became true."""
        preload = (*(WITH_NOTEBOOKS if job.source else ()), *job.preload) if job.warm else ()
        if self._mother is None or self._mother.poll() is not None or preload != self._preload:
            self._start(preload)
        try:
            found = self._supervised(job, stop)
        except (OSError, ValueError) as error:  # the process to fork from is no more
            found = jobs.answer({"error": f"Killed: {error}"})
            self.close()
        if not job.warm:
            self.close()
        return found

    def close(self) -> None:
        """End the process that runs are forked from, and with it what it has started."""
        if self._mother is not None:
            for stream in (self._mother.stdin, self._mother.stdout):
                with suppress(OSError):
                    stream.close()  # type: ignore[union-attr]
            try:
                self._mother.wait(5)
            except subprocess.TimeoutExpired:
                self._mother.kill()
                self._mother.wait()
            self._mother = None
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, preload: tuple[str, ...]) -> None:
        self.close()
        self._preload, self._read = preload, b""
        self._folder = Path(tempfile.mkdtemp(prefix="capcore-"))
        self._mother = subprocess.Popen(
            [sys.executable, nursery.__file__, str(self._folder), *preload],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env={**os.environ, **jobs.threads()},
        )

    def _supervised(self, job: Job, stop: Callable[[], bool]) -> bytes:
        for left in self._folder.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        text = (job.to_json() + "\n").encode()
        while text:
            text = text[self._mother.stdin.write(text) :]  # type: ignore[union-attr]
        pid = self._line(lambda: None)["pid"]
        end, reason = time.monotonic() + (job.seconds or float("inf")), ""

        def look() -> None:
            nonlocal reason
            late = time.monotonic() > end
            if not reason and (late or stop()):
                reason = f"TimeLimit: stopped after {job.seconds:g} seconds" if late else "Stopped: with the sweep"
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

        status = self._line(look)["status"]
        answer = self._folder / performing.ANSWER
        if answer.is_file() and not reason:
            return answer.read_bytes()
        ended = f"Killed: the run's process ended with signal {-status}, without a result"
        return jobs.answer({"error": reason or ended})

    def _line(self, look: Callable[[], None]) -> dict[str, Any]:
        """The next line of answer; ``look()`` is called meanwhile."""
        output = self._mother.stdout.fileno()  # type: ignore[union-attr]
        while b"\n" not in self._read:
            look()
            if select.select([output], [], [], POLL)[0]:
                if not (more := os.read(output, 4096)):
                    raise OSError("the process that runs are forked from has ended")
                self._read += more
        line, _, self._read = self._read.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found
