"""What happens to a sweep in the worst of worlds: processes killed at random, two sweeps at once."""

import random
import sys
import time
from collections import Counter

import psutil
import pytest

from tests.sweeps.cluster import Cluster, kill, tree, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="what is killed takes what is below it with it on Linux only"),
]
SQUARE = "tests.sweeps.toys:square"
KILLS, RUNS = 25, 100


@pytest.fixture
def cluster(tmp_path):
    cluster = Cluster(tmp_path)
    yield cluster
    assert cluster.close() == []


def runs_of(process):
    """Processes that do a run: below those they are forked from."""
    mothers = [member for member in tree(process.pid) if any("forking.py" in part for part in safe(member.cmdline))]
    return [child for mother in mothers for child in safe(mother.children)]


def safe(question):
    try:
        return question()
    except psutil.Error:
        return []


@pytest.mark.parametrize("local", [True, False], ids=["here", "dask"])
def test_random_kills_lose_nothing_and_count_nothing_twice(cluster, local, capsys):
    """Twenty-five kills on this machine and as many on a cluster."""
    rng, killed, below, seen = random.Random(int(local)), Counter(), [], set()
    whom = ["run"] * 5 + (["driver"] * 2 if local else ["worker"] * 3 + ["driver"] + ["scheduler"])
    grid = f"product: {{n: {list(range(RUNS))}, pause: [0.4]}}"
    driver = cluster.sweep(SQUARE, grid, local=local)
    end = time.monotonic() + 500
    while killed.total() < KILLS and time.monotonic() < end:
        time.sleep(rng.uniform(0.1, 1.0))
        kept = set(cluster.kept())
        assert seen <= kept  # what was there stays
        seen = kept
        if len(kept) == RUNS:
            break
        if driver.poll() is not None:  # with errors: killed runs are tried again
            driver = cluster.sweep(SQUARE, grid, local=local)
        cluster.revive()
        chosen = rng.choice(whom)
        if chosen == "run":
            under_way = [run for at in ([driver] if local else cluster.workers) for run in runs_of(at)]
            if not under_way:
                continue
            safe(rng.choice(under_way).kill)
        elif chosen == "worker":
            below += kill(rng.choice(cluster.workers))
        elif chosen == "driver":
            below += kill(driver)
        else:
            kill(cluster.scheduler)
            cluster.start_scheduler()
        killed[chosen] += 1
    cluster.revive()
    while driver.wait(300) != 0 or len(cluster.kept()) < RUNS:
        driver = cluster.sweep(SQUARE, grid, local=local)
    _, alive = psutil.wait_procs(below, timeout=60)
    table, ends = cluster.table(), cluster.logged("end")
    with capsys.disabled():
        place = "here" if local else "dask"
        print(
            f"\n{place}: {killed.total()} kills ({dict(killed)}); {len(table)} of {RUNS} results, "
            f"{table['key'].duplicated().sum()} twice; {cluster.logged('begin').total()} begun, {ends.total()} ended; "
            f"{len(alive)} orphans"
        )
    assert killed.total() >= KILLS * 0.8
    assert sorted(table["n"]) == list(range(RUNS)) and (table["square"] == table["n"] ** 2).all()
    assert (table["error"] == "").all() and alive == []
    results = cluster.folder / "results"
    assert not list(results.glob("*/*/.draft-*")) and not list(results.glob("failed/*/*"))


def test_two_sweeps_into_one_folder_repeat_nothing(cluster):
    grid = f"product: {{n: {list(range(12))}, pause: [0.3]}}"
    first, second = (cluster.sweep(SQUARE, grid, local=True) for _ in range(2))
    assert first.communicate(timeout=300) and second.communicate(timeout=300)
    assert first.returncode == second.returncode == 0
    assert cluster.logged("begin") == Counter(range(12)) and len(cluster.kept()) == 12


def test_an_interrupted_sweep_says_so_and_goes_on(cluster):
    grid = f"product: {{n: {list(range(12))}, pause: [0.5]}}"
    driver = cluster.sweep(SQUARE, grid, local=True)
    until(lambda: len(cluster.kept()) >= 2)
    driver.send_signal(2)
    said, _ = driver.communicate(timeout=60)
    assert driver.returncode == 130 and "interrupted" in said
    assert cluster.sweep(SQUARE, grid, local=True).wait(300) == 0 and len(cluster.kept()) == 12
    assert set(cluster.logged("end").values()) == {1}
