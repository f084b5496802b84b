"""Sweeps on a Dask cluster of separate processes, of which any may be killed; and on a cluster object."""

import re
import sys

import pytest

import capcore
from chapters.sweeps import engine
from tests.sweeps.cluster import Cluster, kill, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="what is killed takes what is below it with it on Linux only"),
]
SQUARE = "tests.sweeps.toys:square"


@pytest.fixture
def cluster(tmp_path):
    cluster = Cluster(tmp_path)
    yield cluster
    assert cluster.close() == []


def check(cluster, driver, n):
    """All runs have a result, each one, and the sweep says so."""
    said, _ = driver.communicate(timeout=300)
    assert driver.returncode == 0, said
    table = capcore.load_sweep(cluster.folder / "results")
    assert sorted(table["n"]) == list(range(n)) and (table["error"] == "").all()
    assert table["square"].tolist() == [i * i for i in table["n"]]
    assert not list((cluster.folder / "results").glob("*/*/.draft-*"))
    assert re.search(rf"{n} runs, 0 failed", said)


def grid(n, pause=0.5):
    return f"product: {{n: {list(range(n))}, pause: [{pause}]}}"


def test_a_worker_is_killed(cluster):
    driver = cluster.sweep(SQUARE, grid(16))
    until(lambda: len(cluster.kept()) >= 2)
    kill(cluster.workers[0])
    check(cluster, driver, 16)
    assert max(cluster.logged("end").values()) == 1  # what was finished was not done again


def test_the_driver_is_killed_and_started_again(cluster):
    driver = cluster.sweep(SQUARE, grid(16))
    until(lambda: len(cluster.kept()) >= 3)
    kill(driver)
    kept = set(cluster.kept())
    before = cluster.logged("begin")
    check(cluster, cluster.sweep(SQUARE, grid(16)), 16)
    assert kept <= set(cluster.kept()) and len(kept) < 16
    again = [n for n, times in cluster.logged("begin").items() if times > 1]
    assert len(again) <= sum(before.values()) - len(kept)  # only what was under way


def test_the_scheduler_is_killed_and_started_again(cluster):
    driver = cluster.sweep(SQUARE, grid(16))
    until(lambda: len(cluster.kept()) >= 3)
    kill(cluster.scheduler)
    for worker in cluster.workers:
        worker.wait(60)
    cluster.start_scheduler()
    cluster.revive()
    check(cluster, driver, 16)


def test_a_run_that_never_returns_and_one_that_kills_itself(cluster):
    driver = cluster.sweep("tests.sweeps.toys:troubled", "product: {what: [endless, gone, none]}", "--seconds", "3")
    said, _ = driver.communicate(timeout=200)
    assert driver.returncode == 1 and "3 runs, 2 failed" in said and "TimeLimit" in said and "signal 9" in said


def test_a_cluster_object(tmp_path):
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        table = engine.sweep(SQUARE, {"product": {"n": [1, 2, 3]}}, tmp_path, cluster=cluster)
    assert table["square"].tolist() == [1, 4, 9]
