"""A run, in a process of its own: a notebook through papermill, or a function.

``perform`` has it done and ended; whatever becomes of it, there is an answer. What it leaves behind ends with it
(``forking``).
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from chapters.kit.stored import PACKAGES, versions
from chapters.sweeps import forking
from chapters.sweeps.job import Job, answer

POLL = 0.01  # seconds between looks at whether a run has ended
IMPORTED = ("papermill", "pandas", "scipy.optimize", "scipy.stats", "capcore.verbs", "chapters.sweeps.runs")
JOB, ANSWER = "job.json", "answer.json"


def perform(job: Job, stop: Callable[[], bool] = lambda: False) -> str:
    """The answer of a run, an error's where it ended without one, took too long, or ``stop()`` became true."""
    with tempfile.TemporaryDirectory(prefix="capcore-", ignore_cleanup_errors=True) as folder:
        Path(folder, JOB).write_text(job.model_dump_json(), "utf8")
        process = _start(folder)
        end = time.monotonic() + (job.seconds or float("inf"))
        while process.poll() is None and time.monotonic() < end and not stop():
            time.sleep(POLL)
        if process.poll() is None:
            process.kill()
            process.wait()
            late = f"TimeLimit: stopped after {job.seconds:g} seconds" if time.monotonic() >= end else ""
            return answer(error=late or "Stopped: with the sweep")
        with suppress(FileNotFoundError):
            return Path(folder, ANSWER).read_text("utf8")
        ended = Path(folder, forking.ENDED)
        status = ended.read_text() if ended.exists() else "unknown"
    return answer(error=f"Killed: the run's process ended with status {status}, without a result")


def _start(folder: str) -> forking.Forked | subprocess.Popen[bytes]:
    env = {**forking.one_thread(), "PYTHONPATH": forking.with_chapters()}
    request: dict[str, Any] = {"arguments": {"folder": folder}, "folder": folder, "quiet": True}
    forked = forking.fork("chapters.sweeps.runs:run", IMPORTED, env=env, cwd=os.getcwd(), **request)
    command = [sys.executable, "-P", "-m", "chapters.sweeps.runs", folder]
    return forked or subprocess.Popen(command, env=env, start_new_session=True)


def run(folder: str) -> None:
    """Do it in this process, and write the answer; an error of whatever kind is an answer, too."""
    if "numpy.random" in sys.modules:  # else all runs would draw the same from the generator that all share
        sys.modules["numpy.random"].seed()
    job = Job.model_validate_json(Path(folder, JOB).read_text("utf8"))
    begin, notebook, tempfile.tempdir = time.perf_counter(), "", folder
    limit_memory(job.memory_mb)
    try:
        if job.source:
            findings, notebook = _notebook(job, Path(folder))
        else:
            findings = {"values": _function(job)}
    except BaseException as error:
        findings = {"error": f"{type(error).__name__}: {error}"[:2000]}
    findings |= {
        "seconds": round(time.perf_counter() - begin, 3),
        "memory_mb": memory(),
        "versions": versions(PACKAGES),
    }
    Path(folder, ANSWER).write_text(answer(notebook if findings.get("error") else "", **findings), "utf8")
    os._exit(0)


def limit_memory(megabytes: float | None) -> None:
    """Let this process, and any below, have so much more memory than it has now to write to. Linux's."""
    if megabytes is not None and forking.LINUX:
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        most = int(status["VmData"].split()[0]) * 1024 + int(megabytes * 2**20)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def memory() -> float:
    """Most memory, in MB, that the largest of this process and its children has had; the kernel, for a notebook."""
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return round(most / 2**10 if forking.LINUX else most / 2**20, 1)


def _notebook(job: Job, folder: Path) -> tuple[dict[str, Any], str]:
    import nbformat

    from chapters.sweeps import outcome
    from chapters.sweeps.rerun import execute

    source, target, error = folder / "source.ipynb", folder / "executed.ipynb", ""
    source.write_text(job.source, "utf8")
    cwd = job.folder if job.folder and Path(job.folder).is_dir() else folder
    try:
        executed = execute(source, target, job.given or {}, cwd=cwd, request_save_on_cell_execute=False)
    except Exception as problem:  # the kernel died
        if not target.is_file():
            raise
        executed, error = nbformat.read(target, as_version=4), f"{type(problem).__name__}: {problem}"[:2000]
    findings = {"values": outcome.published(executed), "claims": outcome.claimed(executed)}
    return {**findings, "error": outcome.error_of(executed) or error}, target.read_text("utf8")


def _function(job: Job) -> dict[str, Any]:
    """The values of a function, each a number, a text or a list of them."""
    module, _, name = job.target.partition(":")
    function = getattr(import_module(module), name)
    known = signature(function).parameters
    values = function(settings=job.settings) if "settings" in known else function(**job.settings)
    if not isinstance(values, Mapping):
        raise TypeError(f"{job.target}: found {type(values).__name__}, expected a mapping of values.")
    return dict(json.loads(json.dumps(dict(values), default=lambda value: value.tolist())))


if __name__ == "__main__":
    run(sys.argv[1])
