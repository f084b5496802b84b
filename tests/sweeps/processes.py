"""Sweeps as processes, which tests kill."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

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


class Sweeps:
    """Sweeps as processes that keep their results in one folder."""

    def __init__(self, folder):
        self.folder, self.log, self.started = Path(folder), Path(folder) / "log", []
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        own = {"CAPCORE_TOY_LOG": str(self.log), "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}
        self.environment = {**os.environ, **dict.fromkeys(names, "1"), **own}

    def start(self, target, grid):
        """A sweep as a process; its results are in ``results``."""
        path = self.folder / "grid.yml"
        path.write_text(grid)
        command = [*SWEEP, target, "--grid", path, "-o", self.folder / "results", "--quiet", "--workers", "2"]
        pipe, error = subprocess.PIPE, subprocess.STDOUT
        process = subprocess.Popen(command, env=self.environment, cwd=ROOT, stdout=pipe, stderr=error, text=True)
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
