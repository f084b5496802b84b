"""Shares of models in which a statement holds, on sweeps whose answer is known."""

import math

import pandas as pd
import pytest

from chapters.five_families import experiment, study
from chapters.kit.stored import stored
from chapters.shared import survey
from chapters.sweeps.engine import sweep

SETTINGS = {
    "families": {"A": {"x": [1.0, 2.0]}},
    "n_layers": [3],
    "channels": [1, 2],
    "seeds": {"Hierarchical": [0, 1]},
}


def table(**columns):
    given = {name: [1.0] * 8 for name in experiment.COLUMNS} | columns
    return study.table_of({"settings": SETTINGS, "values": given})


def statement(text):
    return next(each for each in study.STATEMENTS if each.text == text)


def test_a_share_counts_models_and_not_starts():
    count = study.STATEMENTS[0]
    found = study.shares(table(total=[4] * 8, generic=[4, 3] + [4] * 6), count)
    one, two = found.itertuples()
    assert (one.channels, one.share, one.n) == (1, 0.75, 2) and (two.share, two.n) == (1.0, 2)
    assert 0 <= one.low < one.share < one.high <= 1
    assert study.exceptions(table(total=[4] * 8, generic=[4, 3] + [4] * 6), count) == {"A": [1]}
    told = study.summary(table(total=[4] * 8, generic=[4, 3] + [4] * 6))
    assert told.loc[count.text].tolist() == ["88%", "A with 1"]


def test_what_cannot_be_asked_is_not_counted():
    full = table(total=[8] * 8, generic=[8] * 8, recent=[0.5] * 8)
    assert study.shares(full, study.STATEMENTS[1]).empty
    assert study.shares(table(attained=[1] * 8), statement("all starts, one loss")).empty
    assert study.shares(table(short_lags=[None] * 8), statement("correlation errs least at short lags")).empty
    assert study.shares(full, statement("recurrent: more on the recent half")).empty


def test_a_model_has_one_loss_if_all_its_starts_end_at_the_best():
    found = table(loss=[1.0, 1.0 + 1e-9, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0], attained=[0] * 8)
    assert study.same_loss(found).tolist() == [True, True, False, False, *[True] * 4]


@pytest.mark.parametrize("architecture", ["Hierarchical", "Recurrent"])
def test_starts_of_one_model_differ(architecture, monkeypatch):
    """The usual starts are one and the same, whatever the seed; then the losses of all starts could not but agree."""
    begun = []

    def case(*args, **options):
        found = survey.case(*args, **options)
        begun.append(found.fit.history[0])
        return found

    monkeypatch.setattr(experiment, "case", case)
    for seed in (0, 1):
        experiment.one_model(architecture, n_layers=4, seed=seed)
    assert abs(begun[0] / begun[1] - 1) > 1e-3


def test_live_models_are_those_that_were_stored():
    """Mean lags to a millionth, as they are kept, beside the tolerance of a fit; one optimum of many apart."""
    content = stored("five_families")
    kept = study.table_of(content).iloc[::400]
    assert set(kept["architecture"]) == {"Hierarchical", "Recurrent"}
    names = ["architecture", "process", "parameter", "value", "n_layers", "channels", "seed"]
    live = pd.DataFrame([{**row, **experiment.one_model(**row)} for row in kept[names].to_dict("records")])
    assert study.largest_gap(kept, live) < 1e-4
    assert math.isnan(study.largest_gap(kept, live.assign(seed=99)))
    assert study.largest_gap(kept, live.assign(mean_lag=1.001 * live["mean_lag"])) > 5e-4
    one_of_many = (kept["attained"] == 1) & (kept["total"] < kept["generic"])
    assert one_of_many.sum() < len(kept) / 4


@pytest.mark.slow
def test_a_quick_sweep():
    found = experiment.run(experiment.SETTINGS | experiment.QUICK, sweep)
    assert set(found) == set(experiment.COLUMNS) and {len(column) for column in found.values()} == {8}
