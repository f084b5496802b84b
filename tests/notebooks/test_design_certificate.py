"""The chapter on designs with other parameters."""

from tests.notebooks.conftest import said

DRAWN = FAST = {"n_inputs": 8, "max_params": 6}


def test_it_runs_with_other_parameters(run):
    text = said(run(**FAST))
    assert "is the baseline to beat" in text
    assert "The strongest rival, AutoARIMA, wins 8 series and loses 5." in text
    assert "came true on 22 of 31 series" in text and "after a warning on 0 of 13" in text
