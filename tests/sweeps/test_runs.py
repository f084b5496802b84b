"""Runs as real processes: what they may take, how they end, and that nothing of them goes on."""

import os
import re
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from chapters.hierarchical import random_starts
from chapters.sweeps import engine, runs
from chapters.sweeps.job import canonical, read_answer
from tests.sweeps.conftest import toy
from tests.sweeps.processes import ROOT, SWEEP, tree, until

pytestmark = pytest.mark.ci

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits and forks are Linux's")
TOYS = "tests.sweeps.toys"


def done(function, settings, stop=lambda: False, **limits):
    (job,) = engine.plan(f"{TOYS}:{function}", [settings], **limits)
    return read_answer(job, runs.perform(job, stop))[0]


def mothers():
    """What runs are forked from, with all that they have forked."""
    own = [child for child in psutil.Process().children() if any("forking.py" in word for word in child.cmdline())]
    return [(mother, mother.children(recursive=True)) for mother in own]


def test_a_function_is_run():
    row = done("square", {"n": 3})
    assert row.values == {"square": 9, "parts": [0, 1]} and row.error == ""
    assert row.seconds >= 0 and row.memory_mb > 5 and row.versions["numpy"]


@linux
@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("raise", "ValueError: found trouble"),
        ("odd", "TypeError: .*found list"),
        ("gone", "Killed: .* status -9, without"),
        ("exits", "Killed: .* status 5, without"),
    ],
)
def test_an_error_is_an_answer_and_says_truly_how_a_run_ended(what, message):
    assert re.match(message, done("troubled", {"what": what}).error)
    assert done("troubled", {}).values == {"fine": True}


@linux
@pytest.mark.parametrize("detached", [True, False])
@pytest.mark.parametrize("how", ["ends", "endless", "gone"])
def test_what_a_run_has_started_ends_with_it(how, detached, tmp_path, monkeypatch):
    """Also in a session of its own."""
    monkeypatch.setenv("CAPCORE_TOY_LOG", str(tmp_path / "log"))
    before = time.monotonic()
    error = done("parent", {"how": how, "detached": detached}, seconds=3).error
    assert error.startswith({"ends": "", "gone": "Killed"}.get(how, "TimeLimit: stopped after 3 seconds"))
    (child,) = re.findall(r"child (\d+)", (tmp_path / "log").read_text())
    until(lambda: not psutil.pid_exists(int(child)), 10)
    assert time.monotonic() - before < 90


@linux
def test_a_run_is_stopped_with_the_sweep():
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    assert done("troubled", {"what": "endless"}, stop.is_set).error.startswith("Stopped")


@linux
def test_a_run_has_its_memory_and_no_more():
    assert "MemoryError" in done("troubled", {"what": "greedy"}, memory_mb=500).error
    assert done("square", {}, memory_mb=500).error == ""


@linux
def test_runs_draw_different_numbers():
    first, second = (done("drawn", {"i": i}).values for i in range(2))
    assert first["theirs"] != second["theirs"] and first["own"] != second["own"]


@linux
def test_what_runs_are_forked_from_may_be_killed():
    done("square", {})
    below = []

    def kill():
        for mother, children in mothers():
            below.extend(children)
            mother.kill()

    threading.Timer(1.0, kill).start()
    assert done("square", {"pause": 60.0}).error.startswith("Killed")
    assert len(below) == 1 and psutil.wait_procs(below, timeout=10)[1] == []
    assert done("square", {"n": 4}).values["square"] == 16


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
def test_nothing_goes_on_where_the_driver_is_killed(number, tmp_path):
    """Not even compiled code that never looks up."""
    grid, log = tmp_path / "grid.yml", tmp_path / "log"
    grid.write_text("product: {what: [endless]}")
    command = [*SWEEP, f"{TOYS}:troubled", "--grid", grid, "-o", tmp_path / "results"]
    environment = {**os.environ, "CAPCORE_TOY_LOG": str(log), "TMPDIR": str(tmp_path)}
    driver = subprocess.Popen([*command, "--quiet"], env=environment, cwd=ROOT)
    until(log.exists, 180)
    below = tree(driver.pid)[1:]
    assert len(below) == 2
    driver.send_signal(number)
    driver.wait()
    assert psutil.wait_procs(below, timeout=60)[1] == []
    assert not list(tmp_path.glob("capcore-*"))


def test_the_experiment_of_a_stored_result_is_swept_over_seeds_and_settings(tmp_path):
    """What ``python -m chapters run`` does with one setting; each row is the experiment with these."""
    settings = {"max_iterations": 20, "n_layers": 3}
    grid = {"product": {"channels": [[1], [2]], "n_starts": [1, 2]}, "list": [settings]}
    table = engine.sweep("random_starts", grid, tmp_path, workers=1)
    assert table["error"].eq("").all() and len(table) == 4
    row = table[(table["channels"] == "[2]") & (table["n_starts"] == 2)].iloc[0]
    direct = random_starts.run({**random_starts.SETTINGS, **settings, "channels": [2], "n_starts": 2})
    assert {name: row[name] for name in direct} == {
        name: canonical(value) if isinstance(value, list | dict) else value for name, value in direct.items()
    }


@pytest.mark.slow
def test_a_failed_cell_leaves_its_notebook_and_the_others_go_on(notebook, tmp_path):
    grid = {"product": {"word": ["plain", "fancy"], "n": [3, 4]}}
    table = engine.sweep(str(notebook), grid, tmp_path / "results")
    assert set(table.loc[table["word"] == "fancy", "error"]) == {"RuntimeError: no fancy things"} and len(table) == 4
    assert set(table.loc[table["word"] == "plain", "error"]) == {""}
    assert table["total"].dropna().tolist() == [3.0, 4.0] == table["P9.01.gap"].dropna().tolist()
    left = list((tmp_path / "results").glob("failed/*/*.ipynb"))
    assert len(left) == 2 and "no fancy things" in left[0].read_text()
    assert {"n", "scale", "sizes", "either", "series", "word_found", "seconds", "memory_mb"} < set(table.columns)


PORTS = """
import os
from pathlib import Path
mine = {os.readlink(link) for link in Path("/proc/self/fd").iterdir() if os.path.lexists(link)}
rows = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/self/net", name).read_text().splitlines()[1:]]
listening = [row[1].split(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine]
assert listening in ([], ["0100007F"]), listening  # 127.0.0.1
"""
TROUBLE = """
import numpy as np
if word == "fancy":
    os.kill(os.getpid(), 9)
if n == 4:
    np.ones(2**28)
if n == 5:
    sum(iter(int, 1))
"""


@pytest.mark.slow
@linux
def test_a_kernel_opens_no_port_beyond_loopback_and_may_die_or_take_too_much_or_never_return(tmp_path):
    """One port at most, for what its own child processes print."""
    path = toy(tmp_path / "toy.ipynb", work=PORTS + TROUBLE)
    settings = [{"word": "fancy"}, {"n": 4}, {"n": 5}, {"n": 6}]
    table = engine.sweep(str(path), settings, tmp_path / "results", memory_mb=1000, seconds=60)
    errors = table.set_index(["word", "n"])["error"]
    assert "DeadKernelError" in errors["fancy", 3] and "MemoryError" in errors["plain", 4]
    assert errors["plain", 5].startswith("TimeLimit") and errors["plain", 6] == ""
    until(lambda: all(below == [] for _, below in mothers()), 10)
