"""A Dask scheduler and its workers as processes on loopback, which tests kill; and sweeps as processes."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import ClassVar

import pandas as pd
import psutil

ROOT = Path(__file__).resolve().parents[2]
SWEEP = [sys.executable, "-P", "-m", "chapters", "sweep"]


def until(condition, seconds=180.0):
    """Wait for it, and fail where it does not come."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.05)


def tree(pid):
    """A process and all below it."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def kill(process):
    """SIGKILL, to this process alone; what is below it is left to itself."""
    below = tree(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return below


class Cluster:
    """Scheduler and two workers, each of which can be killed and started again; ``options`` are of the workers."""

    options: ClassVar[list[str]] = []

    def __init__(self, folder):
        self.folder, self.log = Path(folder), Path(folder) / "log"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        self.environment = {
            **os.environ,
            **dict.fromkeys(names, "1"),
            "CAPCORE_TOY_LOG": str(self.log),
            "TMPDIR": str(folder),
            "PYTHONPATH": str(ROOT),
            "DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION": "1.0",
        }
        self.started = []
        self.scheduler = self.start_scheduler()
        self.workers = [self.start_worker() for _ in range(2)]

    def start_scheduler(self):
        self.scheduler = self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"
        )
        return self.scheduler

    def start_worker(self):
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1", "--memory-limit", "0"]
        place = ["--local-directory", str(self.folder / "dask")]
        return self._start("dask_worker", self.address, *options, *place, *self.options)

    def revive(self):
        """Start again those workers that have ended."""
        self.workers = [worker if worker.poll() is None else self.start_worker() for worker in self.workers]

    def _start(self, program, *arguments):
        command = [sys.executable, "-P", "-m", f"distributed.cli.{program}", *arguments]
        process = subprocess.Popen(
            command, env=self.environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.started.append(process)
        return process

    def sweep(self, target, grid, *options, local=False, cwd=ROOT):
        """A sweep as a process; its results are in ``results``."""
        path = self.folder / "grid.yml"
        path.write_text(grid)
        place = ["--workers", "2"] if local else ["--scheduler", self.address]
        command = [*SWEEP, target, "--grid", path, "-o", self.folder / "results"]
        process = subprocess.Popen(
            [*command, "--quiet", *place, *options],
            env=self.environment,
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process

    def table(self):
        """What the last sweep wrote."""
        return pd.read_csv(self.folder / "results" / "table.csv", keep_default_na=False)

    def kept(self):
        """Names of the results that there are."""
        return [path.stem for path in (self.folder / "results" / "runs").glob("*/*.json")]

    def logged(self, word):
        """How often each run has noted a word."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return Counter(int(line.split()[1]) for line in lines if line.startswith(word))

    def close(self):
        below = [member for process in self.started for member in tree(process.pid)]
        for process in self.started:
            if process.poll() is None:
                process.kill()
        for process in self.started:
            process.wait()
            if process.stdout:
                process.stdout.close()
        _, alive = psutil.wait_procs(below, timeout=60)
        for process in alive:
            process.kill()
        return alive
