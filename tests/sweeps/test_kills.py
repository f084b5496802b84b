"""What happens to a sweep in the worst of worlds: processes killed at random, two sweeps at once."""

import random
import sys
import time
from collections import Counter

import psutil
import pytest

from tests.sweeps.cluster import kill, tree, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="what is killed takes what is below it with it on Linux only"),
]
SQUARE = "tests.sweeps.toys:square"
KILLS, RUNS = 12, 80


def runs_of(*processes):
    """Processes that do a run: below those they are forked from."""
    members = [member for process in processes for member in tree(process.pid)]
    mothers = [member for member in members if any("forking.py" in part for part in safe(member.cmdline))]
    return [child for mother in mothers for child in safe(mother.children)]


def safe(question):
    try:
        return question()
    except psutil.Error:
        return []


@pytest.mark.parametrize("local", [True, False], ids=["here", "dask"])
def test_random_kills_lose_nothing_and_count_nothing_twice(cluster, local):
    """Twelve kills on this machine and as many on a cluster, each while something is under way."""
    rng, killed, below, seen = random.Random(int(local)), 0, [], set()
    whom = ["run"] * 5 + (["driver"] * 3 if local else ["worker"] * 3 + ["driver", "scheduler"])
    grid = f"product: {{n: {list(range(RUNS))}, pause: [0.4]}}"
    driver = cluster.sweep(SQUARE, grid, local=local)

    while killed < KILLS and len(seen) < RUNS:
        if driver.poll() is not None:  # with errors: killed runs are tried again
            driver = cluster.sweep(SQUARE, grid, local=local)
        until(lambda at=driver: cluster.revive() or runs_of(at, *cluster.workers) or at.poll() is not None)
        places = [driver] if local else cluster.workers
        time.sleep(rng.uniform(0.1, 1.0))
        before, seen = seen, set(cluster.kept())
        assert before <= seen  # what was there stays
        chosen = rng.choice(whom)
        if chosen == "run":
            for run in runs_of(*places)[:1]:
                safe(run.kill)
        elif chosen == "worker":
            below += kill(rng.choice(cluster.workers))
        elif chosen == "driver":
            below += kill(driver)
        else:
            kill(cluster.scheduler)
            cluster.start_scheduler()
        killed += 1
    cluster.revive()
    while driver.wait(300) != 0 or len(cluster.kept()) < RUNS:
        driver = cluster.sweep(SQUARE, grid, local=local)
    _, alive = psutil.wait_procs(below, timeout=60)
    table = cluster.table()
    assert killed == KILLS and cluster.logged("begin").total() > cluster.logged("end").total()
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
