"""Pieces of stored results made again: what the present code gives is what is stored.

``make test`` makes a fixed piece of those results that have one of less than a second. ``.ci/run`` draws one piece of
each result by the commit, so that in time all are made; ``CAPCORE_DRAW`` chooses another draw. Once a week all results
are made again as a whole (``.github/workflows/extended.yml``).
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from chapters.kit.running import Experiment
from chapters.kit.stored import load, path_of, paths, versions
from chapters.kit.witness import Witness, check, main

ROOT = Path(__file__).parents[2]


QUICK = {
    "audio_scale": "lengths=6",
    "eigenvalue_counts": "channels=1",
    "five_families": "families=PowerLaw.exponent.0.5 n_layers=3 channels=1 seeds=Hierarchical.0",
    "lbfgs_sweep": "families=PowerLaw seeds=2",
    "missed_events": "channels=2 lags=32",
    "multidimensional": "channels=PowerLaw.1.2",
    "octaves": "layers=6 channels=2",
    "optimum_responses": "channels=2",
    "recurrent_lbfgs": "families=PowerLaw channels=2 seeds=0",
    "residual_signals": "exponents=0.5 depths=8",
}
"""Pieces of less than a second."""


@pytest.mark.parametrize("name", QUICK)
def test_a_small_piece_is_as_stored(name):
    assert check(path_of(name), QUICK[name]) == (QUICK[name], [])


@pytest.mark.ci
def test_every_result_has_pieces_or_says_why_not():
    for name in set(paths()) - {"benchmarks"}:
        experiment = Experiment.of(path_of(name))
        witness = experiment.module.WITNESS
        pieces = witness.pieces(experiment.settings)
        assert witness.reason or (pieces and not (witness.volatile or witness.elsewhere)), name


@pytest.mark.ci
def test_pieces_drawn_by_the_commit_are_as_stored():
    """In a process of its own, where XLA compiles as it did for the results."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    draw = os.environ.get("CAPCORE_DRAW", commit.strip())
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("XLA", "JAX"))}
    command = [sys.executable, "-P", "-W", "ignore", "-m", "chapters", "check", "--draw", draw]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


SETTINGS = {"families": ["a", "b"], "seeds": [3, 4, 5], "inner": {"sizes": {"x": [1], "y": [2, 3]}, "n": 9}}
STORED = {
    "by family": {"a": [[1.0, 2.0, 3.0], [7]], "b": [[4.0, 5.0, 6.0], [8]]},
    "rows": [{"seed": seed, "n": n} for seed, n in ((3, 10), (4, 11), (5, 12))],
    "columns": {"seed": [3, 4, 5], "n": [10, 11, 12]},
    "group": {"first": [1.0], "seeds": {"runs": [4.0, 5.0, 6.0]}, "last": [2.0]},
    "seconds": 5.0,
}


def test_pieces_take_one_item_of_each_setting_and_leave_the_others_empty():
    witness = Witness(["families seeds", "inner.sizes"], fixed={"seeds": [4, 5]})
    pieces = witness.pieces(SETTINGS)
    assert len(pieces) == 2 * 2 + 3
    inner = {"sizes": {}, "n": 9}
    assert pieces["families=b seeds=5"] == (
        {"families": ["b"], "seeds": [5], "inner": inner},
        ((1, 2, "families"), (2, 3, "seeds")),
    )
    assert pieces["inner.sizes=y.3"][0] == {"families": [], "seeds": [], "inner": {"sizes": {"y": [3]}, "n": 9}}


@pytest.mark.parametrize(
    ("values", "differences"),
    [
        ({"by family": {"b": [[5.0], [8]]}}, []),
        ({"by family": {"b": [[5.0 + 1e-7], [8]]}}, [r"by family\.b\[0\]\[1\]: found 5\.0000001, stored is 5\.0"]),
        ({"by family": {"b": [[6.0], [9]]}}, ["found 6.0, stored is 5.0", "found 9, stored is 8"]),
        ({"by family": {"c": []}}, ["by family.c: found in the piece, not stored"]),
        ({"rows": [{"seed": 4, "n": 11}]}, []),
        ({"rows": [{"seed": 4, "n": 12}]}, ["n: found 12, stored is 11"]),
        ({"columns": {"seed": [4], "n": [12]}}, ["found 12, stored is 11"]),
        ({"columns": {"seed": [3, 4], "n": [10, 11]}}, []),
        ({"seconds": 9.0}, []),
        ({"group": {"seeds": {"runs": [5.0]}}}, []),  # a setting's own name is no item, although it is second of three
        ({"group": {"seeds": {"runs": [6.0]}}}, [r"runs\[1\]: found 6\.0, stored is 5\.0"]),
    ],
)
def test_one_number_that_is_not_as_stored_is_noticed(values, differences):
    witness = Witness(["seeds"], volatile=["seconds"])
    shown = list(witness.differences(values, STORED, [(1, 3, "seeds")]))
    assert len(shown) == len(differences)
    assert all(re.search(expected, text) for expected, text in zip(differences, shown, strict=True))


def test_under_other_arithmetic_the_tolerance_is_wider_but_not_that_of_whole_numbers():
    witness = Witness(elsewhere={"loss": 0.1})
    stored = {"loss": 1.0, "total": 5, "gain": 2.0}
    assert not list(witness.differences({"loss": 1.05, "total": 5, "gain": 2.000001}, stored, alike=False))
    assert len(list(witness.differences({"loss": 1.05, "total": 6, "gain": 2.1}, stored, alike=False))) == 2


def test_the_command_says_what_differs_and_how_to_make_it_again(capsys, monkeypatch):
    piece = ["optimum_responses", "--piece", "channels=1"]
    assert main(piece, "check") == 0
    monkeypatch.setattr(
        "chapters.gaussian_prediction.experiment.plain", lambda values: (2 * np.asarray(values)).tolist()
    )
    assert main(piece, "check") == 1
    assert re.search(r"found .*, stored is .*\n.*make it again: python -m chapters run", capsys.readouterr().out)
    assert main(["optimum_responses", "--piece", "channels=3"], "check") == 2


def test_what_xla_compiled_for_another_processor_is_no_other_result(monkeypatch):
    """Each number may be off there: the piece is made, and only what chance does not magnify is compared."""
    path, here = path_of("expressivity_ranks"), versions([])
    assert "jax" in load(path)["versions"]
    alike = []
    values = "chapters.kit.witness.Experiment.values"
    monkeypatch.setattr(values, lambda *_, **__: {})
    monkeypatch.setattr(Witness, "differences", lambda *arguments: alike.append(arguments[4]) or [])
    for processor in (here["processor"], "another"):
        content = load(path) | {"versions": {**versions(load(path)["versions"]), "processor": processor}}
        monkeypatch.setattr("chapters.kit.witness.load", lambda _, content=content: content)
        check(path, draw="one")
    assert alike == [True, False]
