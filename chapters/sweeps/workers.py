"""Where runs are done: on this machine, or by a Dask cluster. Either takes jobs, and says which have been answered."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from chapters.sweeps import job as jobs
from chapters.sweeps.job import Job
from chapters.sweeps.runner import Runner

AS_DATA = ["dask", "msgpack", "error"]
"""How answers may be written: not as objects, whose reading could run a worker's code here."""
_OWN = threading.local()


class Workers(Protocol):
    """What a sweep asks of them."""

    def slots(self) -> int:
        """How many runs are done at once."""

    def submit(self, job: Job) -> Any:
        """Begin, or queue, a run; what stands for it."""

    def answered(self, run: Any) -> bytes | None:
        """Its answer; None while it is under way. Raises :class:`LostError` where it has to be submitted again."""

    def close(self) -> None:
        """Stop everything."""


class LostError(RuntimeError):
    """A run without an answer."""


class Here:
    """This machine: each thread supervises a process at a time."""

    def __init__(self, count: int | None = None) -> None:
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._count = count or usable
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(self._count)
        self._runners: list[Runner] = []

    def slots(self) -> int:
        """How many runs are done at once."""
        return self._count

    def submit(self, job: Job) -> Future[bytes]:
        """Queue a run."""
        return self._pool.submit(self._perform, job)

    def answered(self, run: Future[bytes]) -> bytes | None:
        """Its answer, or None."""
        return run.result() if run.done() else None

    def close(self) -> None:
        """Stop everything."""
        self._stop.set()
        self._pool.shutdown(cancel_futures=True)
        for runner in self._runners:
            runner.close()

    def _perform(self, job: Job) -> bytes:
        runner = getattr(_OWN, "runner", None)
        if runner is None:
            runner = _OWN.runner = Runner()
            self._runners.append(runner)
        return runner.perform(job, self._stop.is_set)


class Dask:
    """A Dask cluster: an object such as ``LocalCluster``, or the address of a scheduler.

    Its workers need this package; to connect to a scheduler means to trust it. Answers are bytes, and the only thing
    that is taken from workers. Where the scheduler is gone, another one is waited for at the same address.
    """

    def __init__(self, cluster: Any, patience: float = 300.0) -> None:
        self._cluster, self._patience = cluster, patience
        self._client = self._connect()

    def slots(self) -> int:
        """How many runs are done at once."""
        return max(1, sum(self._client.nthreads().values()))

    def submit(self, job: Job) -> Any:
        """Queue a run."""
        try:
            return self._client.submit(perform_task, job.to_json().encode(), key=f"run-{job.key}", pure=False)
        except Exception:
            self._reconnect()
            return None

    def answered(self, run: Any) -> bytes | None:
        """Its answer, or None."""
        if run is None or run.status in ("cancelled", "lost"):
            self._reconnect()
            raise LostError
        if run.status == "pending":
            return None
        if run.status == "error":
            return jobs.answer({"error": f"Killed: {run.exception()!r}"[:2000]})
        try:
            answer: bytes = run.result(timeout=30)
            return answer
        except Exception:
            raise LostError from None

    def close(self) -> None:
        """Stop everything."""
        self._client.close(timeout=5)

    def _connect(self) -> Any:
        from distributed import Client

        return Client(self._cluster, timeout=10, set_as_default=False, name="capcore-sweep", deserializers=AS_DATA)

    def _reconnect(self) -> None:
        """Another client where this one's scheduler has gone; waits for it."""
        if self._client.status == "running":
            return
        end = time.monotonic() + self._patience
        while True:
            try:
                self._client.close(timeout=1)
                self._client = self._connect()
                return
            except Exception:
                if time.monotonic() > end:
                    raise
                time.sleep(0.5)


def perform_task(text: bytes) -> bytes:
    """What a Dask worker does: supervise one run, and stop it where nobody waits for it any more."""
    from distributed import get_worker

    worker, job = get_worker(), Job.from_json(text.decode())
    runner = getattr(_OWN, "runner", None)
    if runner is None:
        runner = _OWN.runner = Runner()
    return runner.perform(job, _unwanted(worker, f"run-{job.key}"))


def _unwanted(worker: Any, key: str) -> Callable[[], bool]:
    def unwanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled" or worker.status.name in ("closing", "closed")

    return unwanted
