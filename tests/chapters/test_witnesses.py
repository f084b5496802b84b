"""Pieces of stored results made again: what the present code gives is what is stored.

``make test`` makes a fixed piece of those results that have one of less than a second. ``.ci/run`` draws one piece of
each result by the commit, so that in time all are made; ``CAPCORE_COMMIT`` chooses another draw. With
``CAPCORE_PIECES=all`` each result is made again as a whole, once a week.
"""

import json
import os
import subprocess
from pathlib import Path
from random import Random

import pytest

from chapters.kit.running import Experiment, sweep_here
from chapters.kit.stored import load, paths

TIMINGS = {"benchmarks"}
WHOLE = os.environ.get("CAPCORE_PIECES") == "all"


def commit():
    named = os.environ.get("CAPCORE_COMMIT")
    ask = ["git", "rev-parse", "HEAD"]
    return named or subprocess.run(ask, cwd=Path(__file__).parent, capture_output=True, text=True, check=False).stdout


def witnessed(name):
    """The experiment of a stored result, its witness, and what is stored."""
    experiment = Experiment.of(paths()[name])
    return experiment, experiment.module.WITNESS, load(paths()[name])


def assert_stored(name, settings, places, label):
    experiment, witness, content = witnessed(name)
    values = experiment.values(settings, progress=False, workers=1, sweep=sweep_here)
    values = json.loads(json.dumps(values))
    differences = list(witness.differences(values, content["values"], places))
    more = f" and {len(differences) - 5} more" if len(differences) > 5 else ""
    assert not differences, (
        f"{name}, piece {label}: {'; '.join(differences[:5])}{more}. If the numbers are meant to change, make the "
        f"result again: {content['command']}"
    )


RESULTS = sorted(set(paths()) - TIMINGS)
QUICK = [name for name in RESULTS if witnessed(name)[1].quick]


@pytest.mark.parametrize("name", QUICK)
def test_a_small_piece_is_as_stored(name):
    experiment, witness, _ = witnessed(name)
    assert_stored(name, *witness.pieces(experiment.settings)[witness.quick], witness.quick)


@pytest.mark.ci
@pytest.mark.parametrize("name", RESULTS)
def test_a_piece_drawn_by_the_commit_is_as_stored(name):
    experiment, witness, _ = witnessed(name)
    if missing := [path for path in witness.needs if not path.exists()]:
        pytest.skip(f"needs {missing[0]}, which is absent")
    if WHOLE:
        assert_stored(name, experiment.settings, (), "of all")
    elif not witness.kinds:
        pytest.skip(witness.reason)
    else:
        pieces = witness.pieces(experiment.settings)
        label = Random(f"{commit().strip()} {name}").choice(sorted(pieces))
        assert_stored(name, *pieces[label], label)


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_pieces_or_says_why_not(name):
    experiment, witness, content = witnessed(name)
    assert {key: content["settings"][key] for key in experiment.settings} == json.loads(json.dumps(experiment.settings))
    assert witness.reason or (witness.kinds and not (set(witness.tolerance) - {"seconds"}))
    assert bool(witness.pieces(experiment.settings)) == bool(witness.kinds)
