"""A Dask worker that means harm (``dask worker --preload``): what it answers would run code where it is read.

Which way is taken, a run's own setting says. ``$CAPCORE_HOSTILE`` names the file in which the harm is noted, with the
number of the process it is done in: the worker itself and its scheduler read such answers, too, as Dask has it.
"""

import json
import os
import pickle
import sys

from distributed import get_worker

from chapters.sweeps import job, workers

MARK = os.environ.get("CAPCORE_HOSTILE", "")
TERMINAL = "\x1b]0;title\x07\x1b[31mred"


NOTE = f"open({MARK!r}, 'a').write(str(__import__('os').getpid()) + ' ')"


class Harm:
    """Notes the process that unpickles it."""

    def __reduce__(self):
        return eval, (NOTE,)


class HarmfulError(Exception):
    """An error that does so."""

    def __reduce__(self):
        return eval, (f"({NOTE}, ValueError('read'))[1]",)


def answer_with(how):
    """Answer in this way, or end with an error of this kind."""
    worker = get_worker()
    if how == "error":
        raise HarmfulError(TERMINAL)
    if how == "cause":
        raise RuntimeError(TERMINAL) from HarmfulError("inside")
    if how == "result":
        return Harm()
    if how == "type":  # which the driver would import from its working folder
        sys.path.insert(0, os.path.dirname(MARK))
        import lying_about

        return lying_about.Answer(job.answer(values={"fine": 1}))
    if how == "warn":
        worker.log_event("warn", {"message": pickle.dumps(Harm())})
    if how == "print":
        worker.log_event("print", {"args": (TERMINAL,)})
    if how == "event":
        worker.log_event(TERMINAL, Harm())
    return job.answer(values={"fine": 1, TERMINAL: TERMINAL}, error=TERMINAL)


def perform_task(text):
    """In place of the true one."""
    text = text.decode() if isinstance(text, bytes) else text
    return answer_with(json.loads(text)["settings"]["what"])


workers.perform_task = perform_task
