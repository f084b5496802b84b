"""Where runs are done: on this machine, or by a Dask cluster. Either has so many ``slots``, and ``perform`` blocks."""

import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from chapters.sweeps import runs
from chapters.sweeps.job import Job, answer
from chapters.sweeps.notebooks import NotebookError

CONNECT = 10.0  # seconds for a scheduler to answer
PATIENCE = 300.0  # seconds for a scheduler that has gone to come back
LOSSES = 5  # how often a run is submitted again
AS_TEXT = ["msgpack", "error"]
"""How answers may be written. Dask's other ways name types or code, which reading them would import or call."""
PLAIN = {("builtins", "bytes"), ("builtins", "str")}
"""What Dask's own messages name beside data."""


class Here:
    """This machine."""

    def __init__(self, count: int | None = None) -> None:
        if count is not None and count < 1:
            raise NotebookError(f"workers: found {count}, expected at least 1, or none at all: one for each processor.")
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.slots = count or usable
        self._stop = threading.Event()

    def perform(self, job: Job) -> str:
        """The answer of a run."""
        return runs.perform(job, self._stop.is_set)

    def close(self) -> None:
        """Stop everything."""
        self._stop.set()


class Dask:
    """A Dask cluster: the address of a scheduler, or an object such as ``LocalCluster``.

    Its workers need this package. What comes from an address is read as data: while this object is open, the process
    unpickles nothing that names code (:func:`only_data`). An object's scheduler is part of this process; Dask lets its
    workers run code there, so they are trusted. Where the scheduler is gone, another one is waited for at the same
    address.
    """

    def __init__(self, cluster: Any) -> None:
        self._cluster, self._gate = cluster, ExitStack()
        self._closed, self._connecting = False, threading.Lock()
        if isinstance(cluster, str):
            self._gate.enter_context(only_data())
        try:
            self._client = self._connect()
        except Exception as error:
            self._gate.close()
            hint = "expected one that runs, such as tcp://127.0.0.1:8786"
            raise NotebookError(f"scheduler: found {cluster}, which cannot be reached ({error!r}), {hint}.") from None
        self.slots = 3 * max(1, sum(self._client.nthreads().values()))  # two wait for each that is done

    def perform(self, job: Job) -> str:
        """The answer of a run, which is submitted again where it is lost with its worker or scheduler."""
        for _ in range(LOSSES + 1):
            with suppress(Exception):
                run = self._client.submit(perform_task, job.model_dump_json(), key=f"run-{job.key}", pure=False)
                text = self._result(run)
                return text if isinstance(text, str) else ""
            time.sleep(0.5)  # until the client has heard of it
            self._reconnect()
        return answer(error=f"Lost: {LOSSES + 1} times, with its worker or scheduler")

    def close(self) -> None:
        """Stop everything."""
        self._closed = True
        with self._gate:
            self._client.close(timeout=5)

    def _result(self, run: Any) -> Any:
        while True:
            try:
                return run.result(timeout=2)
            except TimeoutError:
                if run.client._handle_report_task.done():
                    return answer(error="Killed: the scheduler sent what cannot be read as data")
            except Exception:
                if run.status != "error":
                    raise
                return answer(error="Killed: Dask gave the run up, because its workers ended or lack this package")

    def _connect(self) -> Any:
        from distributed import Client

        class Mute(Client):
            """One that prints nothing that workers say, not even on the topics that Dask subscribes to by itself."""

            def subscribe_topic(self, topic: str, handler: object) -> None:
                """Nothing."""

        logging.getLogger("distributed.protocol").setLevel(logging.CRITICAL + 1)  # which logs all that is refused
        options: dict[str, Any] = {"set_as_default": False, "name": "capcore-sweep", "deserializers": AS_TEXT}
        with warnings.catch_warnings(action="ignore"):  # of other versions, in the scheduler's words
            return Mute(self._cluster, timeout=CONNECT, **options)

    def _reconnect(self) -> None:
        """Another client where this one's scheduler has gone; waits for it."""
        end = time.monotonic() + PATIENCE
        with self._connecting:
            while self._client.status != "running" and not self._closed:
                if time.monotonic() > end:
                    raise NotebookError(f"scheduler: gone for {PATIENCE:g} seconds. Start it, then the sweep, again.")
                time.sleep(0.5)
                with suppress(Exception):
                    self._client.close(timeout=1)
                    self._client = self._connect()


@contextmanager
def only_data() -> Iterator[None]:
    """Meanwhile, this process refuses every pickle that names code; one of mere data does no harm.

    A message of Dask's can be a pickle in many places: errors, tracebacks, types of results, events, the message as a
    whole. Its options close some of them. All go through one gate of the interpreter, which asks before a name is
    looked up. Other Dask clients of this process cannot read objects meanwhile, either.
    """
    if not _GATE:
        sys.addaudithook(_refuse_code)  # for good: the interpreter lets none be removed
    _GATE["open"] = _GATE.get("open", 0) + 1
    try:
        yield
    finally:
        _GATE["open"] -= 1


_GATE: dict[str, int] = {}
"""How many need it."""


def _refuse_code(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "pickle.find_class" and _GATE["open"] and arguments not in PLAIN:
        raise TypeError(f"a pickle names {arguments!r}, which a sweep does not look up: it reads data only")


def perform_task(text: str) -> str:
    """What a Dask worker does: have one run done, and stopped where nobody waits for it any more.

    Whatever goes wrong is an answer, too, so that no exception crosses to the driver.
    """
    try:
        from distributed import get_worker

        worker, job = get_worker(), Job.model_validate_json(text)

        def unwanted() -> bool:
            task = worker.state.tasks.get(f"run-{job.key}")
            return task is None or task.state == "cancelled" or worker.status.name in ("closing", "closed")

        return runs.perform(job, unwanted)
    except BaseException as error:
        return answer(error=f"{type(error).__name__}: {error}"[:2000])
