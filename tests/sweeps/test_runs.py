"""Runs as real processes: what they may take, how they end, and that nothing of them goes on."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest

import capcore as cc
from capcore.sweeps import canonical
from chapters.__main__ import main
from chapters.hierarchical import random_starts
from chapters.sweeps import engine
from chapters.sweeps import runner as runners
from chapters.sweeps.command import for_parquet
from chapters.sweeps.runner import Runner
from tests.sweeps.cluster import SWEEP, until

pytestmark = pytest.mark.ci

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits and forks are Linux's")
TOYS = "tests.sweeps.toys"


@pytest.fixture(scope="module")
def runner():
    runner = Runner()
    yield runner
    runner.close()


def done(runner, function, settings, stop=lambda: False, **limits):
    (job,) = engine.plan(f"{TOYS}:{function}", [settings], **limits)
    return json.loads(runner.perform(job, stop))["found"]


def descendants():
    """What runs are forked from, and the runs; kernels of other tests have a process of their own."""
    alive = [each for each in psutil.Process().children(recursive=True) if each.status() != psutil.STATUS_ZOMBIE]
    return [each for each in alive if any("nursery" in word for word in each.cmdline())]


def test_a_function_is_run(runner):
    found = done(runner, "square", {"n": 3})
    assert found["values"] == {"square": 9, "parts": [0, 1]} and found["error"] == ""
    assert found["seconds"] >= 0 and found["memory_mb"] > 5 and found["versions"]["numpy"]


@pytest.mark.parametrize(
    ("what", "message"),
    [("raise", "ValueError: found trouble"), ("odd", "TypeError: .*found list"), ("gone", "Killed: .*signal 9")],
)
@linux
def test_an_error_is_an_answer(runner, what, message):
    assert re.match(message, done(runner, "troubled", {"what": what})["error"].replace(f"{TOYS}:troubled: ", ""))
    assert done(runner, "troubled", {})["values"] == {"fine": True}


@linux
def test_a_run_that_never_returns_is_stopped(runner):
    before = time.monotonic()
    assert done(runner, "troubled", {"what": "endless"}, seconds=0.5)["error"].startswith(
        "TimeLimit: stopped after 0.5"
    )
    assert time.monotonic() - before < 60
    assert len(descendants()) == 1  # what runs are forked from


@linux
@pytest.mark.parametrize("detached", [True, False])
@pytest.mark.parametrize("how", ["ends", "endless", "gone", "stops"])
def test_what_a_run_has_started_ends_with_it(how, detached, tmp_path, monkeypatch):
    """Also in a session of its own; and where the process that runs are forked from is stopped."""
    monkeypatch.setenv("CAPCORE_TOY_LOG", str(tmp_path / "log"))
    monkeypatch.setattr(runners, "GRACE", 1.0 if how == "stops" else 3.0)  # all of which a stopped process takes
    runner, before = Runner(), time.monotonic()
    try:
        found = done(runner, "parent", {"how": how, "detached": detached}, seconds=2)
        assert time.monotonic() - before < 60
        assert found["error"].startswith({"ends": "", "gone": "Killed"}.get(how, "TimeLimit: stopped after 2 seconds"))
        (child,) = re.findall(r"child (\d+)", (tmp_path / "log").read_text())
        until(lambda: not psutil.pid_exists(int(child)), 5)
        assert done(runner, "square", {"n": 3})["values"]["square"] == 9
    finally:
        runner.close()


@linux
def test_a_run_waits_for_no_process_that_is_stopped_before(monkeypatch):
    monkeypatch.setattr(runners, "GRACE", 2.0)
    runner = Runner()
    try:
        done(runner, "square", {})
        os.kill(runner._mother.pid, signal.SIGSTOP)
        assert done(runner, "square", {}, seconds=1)["error"].startswith("Killed: the process that runs are forked")
        stop = threading.Event()
        done(runner, "square", {})
        os.kill(runner._mother.pid, signal.SIGSTOP)
        threading.Timer(0.2, stop.set).start()
        assert done(runner, "square", {}, stop.is_set)["error"].startswith("Killed")
        assert done(runner, "square", {"n": 3})["values"]["square"] == 9
    finally:
        runner.close()


@linux
def test_how_a_run_ended_is_said_truly(runner):
    assert "ended itself with status 5, without" in done(runner, "troubled", {"what": "exits"})["error"]
    assert "ended with signal 9 (SIGKILL), without" in done(runner, "troubled", {"what": "gone"})["error"]


@linux
def test_a_full_temporary_folder_is_named(tmp_path, monkeypatch):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path], capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here")
    runner = Runner()
    try:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        assert re.match(r"Killed: .*No space left on device", done(runner, "troubled", {"what": "fills"})["error"])
        assert "No space left on device" in done(runner, "square", {})["error"]
        (tmp_path / "full").unlink()
        assert done(runner, "square", {"n": 3})["values"]["square"] == 9
    finally:
        runner.close()
        subprocess.run(["umount", tmp_path], check=True)


@linux
def test_folders_of_the_killed_are_reclaimed_and_of_the_living_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "capcore-of-something-else").mkdir()
    program = f"""
import tempfile, time
tempfile.tempdir = {str(tmp_path)!r}
from chapters.sweeps import engine, runner
one = runner.Runner()
(job,) = engine.plan("{TOYS}:square", [{{}}])
one.perform(job)
print(one._mother.pid, flush=True)
time.sleep(600)
"""
    root = Path(__file__).resolve().parents[2]
    killed, living = (
        subprocess.Popen([sys.executable, "-P", "-c", program], stdout=subprocess.PIPE, cwd=root) for _ in range(2)
    )
    mothers = [int(each.stdout.readline()) for each in (killed, living)]
    try:
        assert len(list(tmp_path.glob("capcore-*"))) == 3
        os.kill(mothers[0], signal.SIGSTOP)  # so that it cannot remove its folder
        killed.kill()
        killed.wait()
        os.kill(mothers[0], signal.SIGKILL)
        runner = Runner()
        done(runner, "square", {})
        left = list(tmp_path.glob("capcore-*"))
        assert len(left) == 3 and tmp_path / "capcore-of-something-else" in left  # the living one's, and ours
        runner.close()
        assert len(list(tmp_path.glob("capcore-*"))) == 2
    finally:
        for process in (killed, living):
            process.kill()
            process.wait()
            process.stdout.close()


@linux
def test_a_run_is_stopped_with_the_sweep(runner):
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    assert done(runner, "troubled", {"what": "endless"}, stop.is_set)["error"].startswith("Stopped")


@linux
def test_a_run_has_its_memory_and_no_more(runner):
    assert "MemoryError" in done(runner, "troubled", {"what": "greedy"}, memory_mb=500)["error"]
    assert done(runner, "square", {}, memory_mb=500)["error"] == ""


@linux
def test_runs_draw_different_numbers(runner):
    first, second = (done(runner, "drawn", {"i": i})["values"] for i in range(2))
    assert first["theirs"] != second["theirs"] and first["own"] != second["own"]


@linux
def test_what_runs_are_forked_from_may_be_killed(runner):
    done(runner, "square", {})
    (mother,) = descendants()
    below = []
    threading.Timer(0.5, lambda: (below.extend(mother.children()), mother.kill())).start()
    assert done(runner, "square", {"pause": 30.0})["error"].startswith("Killed")
    assert len(below) == 1 and psutil.wait_procs(below, timeout=10)[1] == []
    assert done(runner, "square", {"n": 4})["values"]["square"] == 16
    assert len(descendants()) == 1


@linux
def test_nothing_goes_on_where_the_supervisor_is_killed(tmp_path):
    """Not even compiled code that never looks up."""
    grid, log = tmp_path / "grid.yml", tmp_path / "log"
    grid.write_text("product: {what: [endless]}")
    command = [*SWEEP, f"{TOYS}:troubled", "--grid", grid, "-o", tmp_path / "results"]
    environment = {**os.environ, "CAPCORE_TOY_LOG": str(log), "TMPDIR": str(tmp_path)}
    driver = subprocess.Popen([*command, "--quiet"], env=environment, cwd=Path(__file__).resolve().parents[2])
    until(log.exists, 120)
    below = psutil.Process(driver.pid).children(recursive=True)
    assert len(below) == 2
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    _, alive = psutil.wait_procs(below, timeout=60)
    assert alive == []
    assert not list(tmp_path.glob("capcore-*"))


def test_the_command_sweeps_resumes_and_draws(tmp_path, capsys):
    grid = tmp_path / "grid.yml"
    grid.write_text("product: {n: [1, 2, 3]}")
    command = ["sweep", f"{TOYS}:square", "--grid", str(grid), "-o", str(tmp_path / "results")]
    assert main([*command, "--dry-run"]) == 0
    assert "3 settings, 0 with a result, 3 to run" in capsys.readouterr().out
    assert main([*command, "--workers", "1"]) == 0
    assert "3 runs, 0 failed" in capsys.readouterr().out
    grid.write_text("product: {n: [1, 2, 3, 4]}")
    assert main([*command, "--dry-run"]) == 0 and "3 with a result, 1 to run" in capsys.readouterr().out
    assert (tmp_path / "results" / "table.csv").read_text().count("\n") == 4


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


def test_many_models_are_allocated(tmp_path):
    """The grid in the page on reproducing, over processes that name their parameters differently."""
    models = [{"process": "PowerLaw"}, {"process": "AR1", "parameter": "phi", "value": 0.9}]
    grid = {"list": models, "product": {"n_layers": [3], "channels": [1, 2]}}
    table = engine.sweep("chapters.five_families.experiment:one_model", grid, tmp_path, workers=1)
    assert table["error"].eq("").all() and len(table) == 4
    for _, row in table.iterrows():
        assert row["generic"] == cc.Hierarchical(row["channels"], 3).generic_capacity()


def test_parquet_holds_columns_of_several_types(tmp_path):
    """A parameter that is 2 here and [1, 2] there; a column of mappings is text already."""
    table = pd.DataFrame({"channels": [2, "[1,2]", None], "total": [1.0, None, 3.0], "name": ["a", "b", "c"]})
    written = for_parquet(table)
    assert written["channels"].tolist()[:2] == ["2", "[1,2]"] and pd.isna(written["channels"][2])
    pd.testing.assert_frame_equal(written[["total", "name"]], table[["total", "name"]])
    pytest.importorskip("pyarrow")
    written.to_parquet(tmp_path / "table.parquet", index=False)
    assert pd.read_parquet(tmp_path / "table.parquet")["channels"].tolist()[:2] == ["2", "[1,2]"]


@pytest.mark.slow
def test_pictures_are_drawn(tmp_path):
    grid = tmp_path / "grid.yml"
    grid.write_text("product: {n: [1, 2, 3], pause: [0.0, 0.1]}")
    assert main(["sweep", f"{TOYS}:square", "--grid", str(grid), "-o", str(tmp_path / "results"), "--plot"]) == 0
    assert (tmp_path / "results" / "plots" / "square.png").stat().st_size > 1000


def test_the_command_refuses(tmp_path, capsys):
    grid = tmp_path / "grid.yml"
    grid.write_text("product: {m: [1]}")
    assert main(["sweep", f"{TOYS}:square", "--grid", str(grid), "-o", str(tmp_path / "results")]) == 2
    assert "m: not a parameter of" in capsys.readouterr().err and not (tmp_path / "results").exists()
