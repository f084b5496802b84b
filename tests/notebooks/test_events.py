"""The page on events with other parameters."""

import re

from tests.notebooks.conftest import said

VARIANTS = {
    "a small event for two channels": {"channels": 2, "size": 0.01, "process": "DampedCosine"},
    "saturated": {"channels": 4},
    "an attained target": {"process": "AR1"},
}
DRAWN = {"channels": 2, "size": 0.5}


def test_it_runs_with_other_parameters(run, parameters):
    text = said(run(**parameters))
    assert ("rank correlation of" in text) or "the event costs more (rank correlation" in text
    worst = re.search(r"the worst event costs (\d+)%", text)
    assert "channels" not in parameters or parameters["channels"] < 4 or int(worst[1]) <= 5
