"""Spectra along training: a table and a picture of what each epoch's report says."""

import numpy as np
import pytest

import capcore as cc


@pytest.fixture(scope="module")
def networks():
    rng = np.random.default_rng(0)
    first = {"fc1.weight": rng.normal(size=(30, 40)), "fc2.weight": rng.normal(size=(20, 30))}
    spike = np.outer(np.ones(30), np.ones(40)) * np.linspace(0.5, 2, 30)[:, None]
    return [first, {**first, "fc1.weight": first["fc1.weight"] + spike}]


@pytest.fixture(scope="module")
def history(networks):
    found = cc.spectra.History(n_null=19)
    for epoch, network in enumerate(networks):
        found.add(network, epoch)
    return found


def test_every_epoch_is_its_own_report(history, networks):
    table = history.table()
    assert table.index.tolist() == [(i, f"fc{j}.weight") for i in (0, 1) for j in (1, 2)]
    for epoch, network in enumerate(networks):
        expected = cc.spectra.report(network, n_null=19, n_resamples=0)
        assert history.reports[epoch].details.spectra == expected.details.spectra
        assert table.loc[epoch, "alpha"].tolist() == expected.table()["alpha"].tolist()
        assert table.loc[epoch, "null_p_value"].tolist() == expected.table()["null_p_value"].tolist()
    assert table.equals(history.to_dataframe())
    assert table.loc[(0, "fc2.weight"), "null_low"] == table.loc[(1, "fc2.weight"), "null_low"]  # drawn once


def test_weights_that_change_later_change_nothing(networks):
    weights = {name: values.copy() for name, values in networks[0].items()}
    found = cc.spectra.History(fast=True)
    found.add(weights, 0)
    weights["fc1.weight"][:] = 0.0
    assert found.table().loc[(0, "fc1.weight"), "alpha"] > 1 and found.reports[0].checkpoint is None
    assert found.reports[0].details.source.sha256 == cc.read_checkpoint(networks[0]).sha256


def test_layers_that_come_later_have_a_gap(networks):
    found = cc.spectra.History(fast=True, layers="fc*")
    found.add({"fc1.weight": networks[0]["fc1.weight"]}, 0.5)
    found.add(networks[1], 1.0)
    assert found.table().index.tolist() == [(0.5, "fc1.weight"), (1.0, "fc1.weight"), (1.0, "fc2.weight")]
    pytest.importorskip("matplotlib").use("Agg")
    lines = {line.get_label(): line.get_ydata() for line in found.plot().lines}
    assert np.isnan(lines["fc2.weight"][0]) and lines["fc2.weight"][1] > 1


def test_the_picture(history, ax):
    assert history.plot(ax) is ax
    assert [line.get_label() for line in ax.lines] == ["fc1.weight", "fc2.weight"]
    table = history.table()["alpha"].unstack()
    for line in ax.lines:
        np.testing.assert_array_equal(line.get_ydata(), table[line.get_label()])
    assert "range of nulls" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_times_are_numbers_of_their_own(history, networks):
    with pytest.raises(ValueError, match="time: found 0, which was added before"):
        history.add(networks[0], 0)
    with pytest.raises(ValueError, match="time: found 'first'"):
        history.add(networks[0], "first")
    assert len(history.reports) == 2


def test_it_is_shown_in_a_line_and_as_a_table(history):
    assert repr(history) == "History(2 times, 2 spectra)"
    assert "mean alpha" in history._repr_html_()
    assert repr(cc.spectra.History()) == "History(0 times, 0 spectra)" and cc.spectra.History().table().empty
