"""Functions that tests sweep: quick, wrong, endless, greedy, gone; a log, if one is named, says which began."""

import os
import random
import subprocess
import time

import numpy as np
from numpy import random as shared  # with its generator, from the time of its import


def note(word, n):
    """Append a line to the log that the environment names."""
    if path := os.environ.get("CAPCORE_TOY_LOG"):
        with open(path, "a") as file:
            file.write(f"{word} {n} {os.getpid()}\n")


def square(n=2, pause=0.0):
    """n², after a pause."""
    note("begin", n)
    time.sleep(pause)
    note("end", n)
    return {"square": n**2, "parts": np.arange(2)}


def troubled(what="none"):
    """As it says."""
    if what == "raise":
        raise ValueError("found trouble, expected none.")
    if what == "endless":
        note("begin", 0)
        sum(iter(int, 1))  # compiled code that never looks up
    if what == "greedy":
        return {"size": np.ones(2**28).size}
    if what == "gone":
        os.kill(os.getpid(), 9)
    if what == "escapes":
        raise ValueError("\x1b[31m\x1b]0;title\x07\x9b2J\u202e red\ud800")
    if what == "exits":
        os._exit(5)
    if what == "odd":
        return [1]
    return {"fine": True}


def drawn(i=0):
    """Numbers from the generators that a process has of its own."""
    theirs = shared.rand()  # noqa: NPY002
    return {"theirs": float(theirs), "own": random.random()}


def parent(how="ends", detached=True):
    """Leaves a process behind, in a session of its own or not, in one of several ways."""
    child = subprocess.Popen(["sleep", "600"], start_new_session=detached)
    note("child", child.pid)
    if how == "endless":
        sum(iter(int, 1))
    if how == "gone":
        os.kill(os.getpid(), 9)
    return {"fine": True}
