"""Sweeps on a Dask cluster of separate processes, of which any may be killed; and on a cluster object."""

import json
import pickle
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from chapters.sweeps import engine, workers
from chapters.sweeps.workers import only_data
from tests.sweeps.cluster import Cluster

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="what is killed takes what is below it with it on Linux only"),
]
SQUARE = "tests.sweeps.toys:square"


def test_a_run_that_never_returns_and_one_that_kills_itself(cluster):
    driver = cluster.sweep("tests.sweeps.toys:troubled", "product: {what: [endless, gone, none]}", "--seconds", "3")
    said, _ = driver.communicate(timeout=200)
    assert driver.returncode == 1 and "3 runs, 2 failed" in said and "TimeLimit" in said and "status -9" in said


HOWS = ["error", "cause", "result", "type", "warn", "print", "event"]


def test_a_hostile_worker_runs_nothing_in_the_driver(tmp_path, monkeypatch):
    """By errors, their causes, results, types of results that lie in the driver's folder, events; nor on a terminal."""
    mark, here = tmp_path / "harm", tmp_path / "here"
    here.mkdir()
    (tmp_path / "lying_about.py").write_text("class Answer(str): pass")
    (here / "lying_about.py").write_text(f"import os; open({str(mark)!r}, 'a').write(f'{{os.getpid()}}\\n')")
    monkeypatch.setenv("CAPCORE_HOSTILE", str(mark))
    monkeypatch.setattr(Cluster, "options", ["--preload", "tests.sweeps.hostile"])
    cluster = Cluster(tmp_path)
    cluster.environment["PYTHONPATH"] = f"{cluster.environment['PYTHONPATH']}:{here}"  # the driver's alone, from here
    try:
        driver = cluster.sweep("tests.sweeps.toys:troubled", f"product: {{what: {HOWS}}}", cwd=here)
        listening = set()
        while driver.poll() is None:
            with suppress(psutil.Error):
                connections = psutil.Process(driver.pid).net_connections()
                listening |= {one.laddr for one in connections if one.status == psutil.CONN_LISTEN}
            time.sleep(0.1)
        said = driver.stdout.read()
        assert driver.returncode == 1 and "7 runs, 6 failed" in said, said  # a text of another type is text
        assert all(sign.isprintable() or sign in "\r\n\t" for sign in said)
        harmed = mark.read_text().split()
        assert harmed and str(driver.pid) not in harmed  # the worker's own process is, so that the harm is real
        assert not listening
    finally:
        assert cluster.close() == []


def test_while_answers_are_data_no_pickle_names_code(tmp_path):
    """As a message as a whole, which Dask reads as a pickle whatever its options are."""
    from distributed import protocol
    from distributed.core import clean_exception

    frames = protocol.dumps(protocol.ToPickle(Path(tmp_path)))
    harm = pickle.dumps(ValueError("x"))
    with only_data():
        with pytest.raises(TypeError, match="reads data only"):
            protocol.loads(frames)
        assert type(clean_exception(harm, harm)[1]) is Exception and clean_exception(harm, harm)[2] is None
        assert pickle.loads(pickle.dumps({"plain": [1, 2.0, b"x"]})) == {"plain": [1, 2.0, b"x"]}
    assert protocol.loads(frames) == tmp_path


def test_an_error_of_the_worker_crosses_as_text():
    findings = json.loads(workers.perform_task("no job"))["findings"]
    assert findings["error"].startswith("ValueError: ") and "values" not in findings


def test_other_versions_are_not_warned_of(monkeypatch):
    """The words are the scheduler's."""
    from distributed import LocalCluster, versions

    monkeypatch.setattr(versions, "error_message", lambda *_: {"warning": "others' words", "error": ""})
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster,
        warnings.catch_warnings(action="error"),
    ):
        workers.Dask(cluster).close()


def test_a_cluster_object(tmp_path):
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        table = engine.sweep(SQUARE, {"product": {"n": [1, 2, 3]}}, tmp_path, cluster=cluster)
    assert table["square"].tolist() == [1, 4, 9]
