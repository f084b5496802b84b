"""Where runs are done: on this machine, or by a Dask cluster. Either takes jobs, and says which have been answered."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import FunctionType, SimpleNamespace
from typing import Any, Protocol

from chapters.sweeps import job as jobs
from chapters.sweeps.declared import NotebookError
from chapters.sweeps.job import Job
from chapters.sweeps.runner import Runner

CONNECT = 10.0  # seconds for a scheduler to answer
AS_TEXT = ["msgpack", "error"]
"""How answers may be written. Dask's other ways name types or code, which reading them would import or call."""
PLAIN = {("builtins", "bytes"), ("builtins", "str")}
"""What Dask's own messages name beside data."""
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
        if count is not None and count < 1:
            raise NotebookError(f"workers: found {count}, expected at least 1, or none at all: one for each processor.")
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
    """A Dask cluster: the address of a scheduler, or an object such as ``LocalCluster``.

    Its workers need this package. What comes from an address is read as data: while this object is open, the process
    unpickles nothing that names code (:class:`_OnlyData`). An object's scheduler is part of this process; Dask lets its
    workers run code there, so they are trusted. Where the scheduler is gone, another one is waited for at the same
    address.
    """

    def __init__(self, cluster: Any, patience: float = 300.0) -> None:
        self._cluster, self._patience = cluster, patience
        self._only_data = _OnlyData() if isinstance(cluster, str) else None
        try:
            self._client = self._connect()
        except Exception as error:
            self._trust_again()
            found = cluster if isinstance(cluster, str) else type(cluster).__name__
            raise NotebookError(
                f"scheduler: found {found}, which cannot be reached ({str(error) or type(error).__name__}), expected "
                "one that runs, such as tcp://127.0.0.1:8786."
            ) from None

    def slots(self) -> int:
        """How many runs are done at once."""
        return max(1, sum(self._client.nthreads().values()))

    def submit(self, job: Job) -> Any:
        """Queue a run."""
        try:
            return self._client.submit(perform_task, job.to_json(), key=f"run-{job.key}", pure=False)
        except Exception:
            self._reconnect()
            return None

    def answered(self, run: Any) -> bytes | None:
        """Its answer, or None."""
        if run is None or run.status in ("cancelled", "lost"):
            self._reconnect()
            raise LostError
        if run.status == "pending":
            if (listening := getattr(self._client, "_handle_report_task", None)) is not None and listening.done():
                raise NotebookError("scheduler: sent what cannot be read as data. Start it and its workers anew.")
            return None
        if run.status == "error":  # Dask's own, as a pickle, which stays closed: a run's errors are in its answer
            return jobs.answer(
                {"error": "Killed: Dask gave the run up, because its workers ended or lack this package"}
            )
        try:
            answer = run.result(timeout=30)
        except Exception:
            raise LostError from None
        return answer.encode(errors="replace") if isinstance(answer, str) else b""

    def close(self) -> None:
        """Stop everything."""
        try:
            self._client.close(timeout=5)
        finally:
            self._trust_again()

    def _trust_again(self) -> None:
        if self._only_data:
            self._only_data.end()

    def _connect(self) -> Any:
        from distributed import Client

        connecting, mute = Client._ensure_connected, SimpleNamespace(warn=lambda *_: None)

        class Deaf(Client):
            """One that prints nothing that workers or the scheduler say. The table has the versions of each run."""

            _ensure_connected = FunctionType(  # Dask's, which warns of other versions in the scheduler's words
                connecting.__code__,
                {**connecting.__globals__, "warnings": mute},
                argdefs=connecting.__defaults__,
                closure=connecting.__closure__,
            )

            def subscribe_topic(self, topic: str, handler: object) -> None:
                """Not even the topics that Dask subscribes to by itself."""

        if self._only_data:
            logging.getLogger("distributed.protocol").setLevel(logging.CRITICAL + 1)  # which logs all that is refused
        return Deaf(self._cluster, timeout=CONNECT, set_as_default=False, name="capcore-sweep", deserializers=AS_TEXT)

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
                    raise NotebookError(
                        f"scheduler: gone, and not back within {self._patience:g} seconds. What was finished is kept; "
                        "start it again, then call the sweep again."
                    ) from None
                time.sleep(0.5)


class _OnlyData:
    """From here to :meth:`end`, this process refuses every pickle that names code; one of mere data does no harm.

    A message of Dask's can be a pickle in many places: errors, tracebacks, types of results, events, the message as a
    whole. Its options close some of them. All go through one gate of the interpreter, which asks before a name is
    looked up. Other Dask clients of this process cannot read objects meanwhile, either.
    """

    _open = 0
    _hooked = False

    def __init__(self) -> None:
        if not _OnlyData._hooked:
            sys.addaudithook(_OnlyData._refuse)  # for good: the interpreter lets none be removed
            _OnlyData._hooked = True
        _OnlyData._open += 1

    def end(self) -> None:
        """Once."""
        _OnlyData._open -= 1

    @staticmethod
    def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "pickle.find_class" and _OnlyData._open and arguments not in PLAIN:
            raise TypeError(f"a pickle names {arguments!r}, which a sweep does not look up: it reads data only")


def perform_task(text: str) -> str:
    """What a Dask worker does: supervise one run, and stop it where nobody waits for it any more.

    Whatever goes wrong is an answer, too, so that no exception crosses to the driver.
    """
    try:
        from distributed import get_worker

        worker, job = get_worker(), Job.from_json(text)
        runner = getattr(_OWN, "runner", None)
        if runner is None:
            runner = _OWN.runner = Runner()
        return runner.perform(job, _unwanted(worker, f"run-{job.key}")).decode()
    except BaseException as error:
        return jobs.answer({"error": f"{type(error).__name__}: {error}"[:2000]}).decode()


def _unwanted(worker: Any, key: str) -> Callable[[], bool]:
    def unwanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled" or worker.status.name in ("closing", "closed")

    return unwanted
