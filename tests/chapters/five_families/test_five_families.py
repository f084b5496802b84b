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
    return next(statement for statement in study.STATEMENTS if statement.text == text)


def test_a_share_counts_models_and_not_starts():
    count = study.STATEMENTS[0]
    result = study.shares(table(total=[4] * 8, generic=[4, 3] + [4] * 6), count)
    one, two = result.itertuples()
    assert (one.channels, one.share, one.n) == (1, 0.75, 2) and (two.share, two.n) == (1.0, 2)
    assert 0 <= one.low < one.share < one.high <= 1
    assert study.exceptions(table(total=[4] * 8, generic=[4, 3] + [4] * 6), count) == {"A": [1]}
    summary = study.summary(table(total=[4] * 8, generic=[4, 3] + [4] * 6))
    assert summary.loc[count.text].tolist() == ["88%", "A with 1"]


@pytest.mark.parametrize("architecture", ["Hierarchical", "Recurrent"])
def test_starts_of_one_model_differ(architecture, monkeypatch):
    """The usual starts are one and the same, whatever the seed; then the losses of all starts could not but agree."""
    begun = []

    def case(*args, **options):
        result = survey.case(*args, **options)
        begun.append(result.fit.history[0])
        return result

    monkeypatch.setattr(experiment, "case", case)
    for seed in (0, 1):
        experiment.one_model(architecture, n_layers=4, seed=seed)
    assert abs(begun[0] / begun[1] - 1) > 1e-3


def test_live_models_are_those_that_were_stored():
    """Mean lags to a millionth, as they are kept, beside the tolerance of a fit; one optimum of many apart."""
    content = stored("five_families")
    stored_values = study.table_of(content).iloc[::400]
    assert set(stored_values["architecture"]) == {"Hierarchical", "Recurrent"}
    names = ["architecture", "process", "parameter", "value", "n_layers", "channels", "seed"]
    live = pd.DataFrame([{**row, **experiment.one_model(**row)} for row in stored_values[names].to_dict("records")])
    assert study.largest_gap(stored_values, live) < 1e-4
    assert math.isnan(study.largest_gap(stored_values, live.assign(seed=99)))
    assert study.largest_gap(stored_values, live.assign(mean_lag=1.001 * live["mean_lag"])) > 5e-4
    one_of_many = (stored_values["attained"] == 1) & (stored_values["total"] < stored_values["generic"])
    assert one_of_many.sum() < len(stored_values) / 4


@pytest.mark.slow
def test_a_quick_sweep():
    values = experiment.run(experiment.SETTINGS | experiment.QUICK, sweep)
    assert set(values) == set(experiment.COLUMNS) and {len(column) for column in values.values()} == {8}
