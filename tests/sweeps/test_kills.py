"""What happens to a sweep in the worst of worlds: processes killed at random, two sweeps at once."""

import random
import sys
import time
from collections import Counter

import psutil
import pytest

from tests.sweeps.processes import kill, tree, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="what is killed takes what is below it with it on Linux only"),
]
SQUARE = "tests.sweeps.toys:square"
KILLS, RUNS = 12, 80


def runs_of(process):
    """Processes that do a run: below those they are forked from."""
    members = tree(process.pid)
    mothers = [member for member in members if any("forking.py" in part for part in safe(member.cmdline))]
    return [child for mother in mothers for child in safe(mother.children)]


def safe(question):
    try:
        return question()
    except psutil.Error:
        return []


def test_random_kills_lose_nothing_and_count_nothing_twice(sweeps):
    """Twelve kills of runs and of the sweep, each while something is under way."""
    rng, killed, below, seen = random.Random(1), 0, [], set()
    grid = f"product: {{n: {list(range(RUNS))}, pause: [0.4]}}"
    driver = sweeps.start(SQUARE, grid)

    while killed < KILLS and len(seen) < RUNS:
        if driver.poll() is not None:  # with errors: killed runs are tried again
            driver = sweeps.start(SQUARE, grid)
        until(lambda at=driver: runs_of(at) or at.poll() is not None)
        time.sleep(rng.uniform(0.1, 1.0))
        before, seen = seen, set(sweeps.kept())
        assert before <= seen  # what was there stays
        if rng.choice(["run"] * 5 + ["driver"] * 3) == "driver":
            below += kill(driver)
        else:
            for run in runs_of(driver)[:1]:
                safe(run.kill)
        killed += 1
    while driver.wait(300) != 0 or len(sweeps.kept()) < RUNS:
        driver = sweeps.start(SQUARE, grid)
    _, alive = psutil.wait_procs(below, timeout=60)
    table = sweeps.table()
    assert killed == KILLS and sweeps.logged("begin").total() > sweeps.logged("end").total()
    assert sorted(table["n"]) == list(range(RUNS)) and (table["square"] == table["n"] ** 2).all()
    assert (table["error"] == "").all() and alive == []
    results = sweeps.folder / "results"
    assert not list(results.glob("*/*/.draft-*")) and not list(results.glob("failed/*/*"))


def test_two_sweeps_into_one_folder_repeat_nothing(sweeps):
    grid = f"product: {{n: {list(range(12))}, pause: [0.3]}}"
    first, second = (sweeps.start(SQUARE, grid) for _ in range(2))
    assert first.communicate(timeout=300) and second.communicate(timeout=300)
    assert first.returncode == second.returncode == 0
    assert sweeps.logged("begin") == Counter(range(12)) and len(sweeps.kept()) == 12


def test_an_interrupted_sweep_says_so_and_goes_on(sweeps):
    grid = f"product: {{n: {list(range(12))}, pause: [0.5]}}"
    driver = sweeps.start(SQUARE, grid)
    until(lambda: len(sweeps.kept()) >= 2)
    driver.send_signal(2)
    said, _ = driver.communicate(timeout=60)
    assert driver.returncode == 130 and "interrupted" in said
    assert sweeps.start(SQUARE, grid).wait(300) == 0 and len(sweeps.kept()) == 12
    assert set(sweeps.logged("end").values()) == {1}
