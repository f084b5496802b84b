"""Shares of layers against counts by hand, intervals against a case with a known answer, and the two pictures."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from chapters.kit.stored import stored
from chapters.pretrained_spectra import study
from chapters.pretrained_spectra.questions import QUESTIONS


@pytest.fixture(scope="module")
def networks():
    return stored("pretrained_spectra")["values"]["networks"]


def columns(networks, keys=None):
    """Column → values of all layers, from the lists as they are stored."""
    names = next(iter(networks.values()))["layers"]
    return {name: [v for key in keys or networks for v in networks[key]["layers"][name]] for name in names}


def passing(found, prefix=""):
    others = ("lognormal", "exponential", "truncated power law")
    signs = [found[f"{prefix}{name}"] for name in others]
    return {
        "fits": sum(p > 0.1 for p in found[f"{prefix}p_value"]),
        "no_other": sum(min(row) >= 0 for row in zip(*signs, strict=True)),
        "exponential": sum(sign == 1 for sign in found[f"{prefix}exponential"]),
    }


def test_the_answers_about_power_laws_are_those_counted_by_hand(networks):
    found, values = columns(networks), study.of_power_laws(study.layer_table())
    n, own, law = len(found["alpha"]), passing(found), passing(found, "law ")
    for name in own:
        assert values[f"pretrained_{name}_ratio"] == pytest.approx(own[name] / law[name])
    assert values["pretrained_fits"] * n == pytest.approx(own["fits"])
    assert values["pretrained_no_other"] * n == pytest.approx(own["no_other"])
    assert values["pretrained_power"] * n == pytest.approx(min(law["fits"], law["no_other"]))
    assert values["pretrained_noise"] * n == pytest.approx(n - passing(found, "noise ")["fits"])
    assert values["pretrained_entries"] * n == pytest.approx(passing(found, "entries ")["fits"])
    assert values["pretrained_span"] == pytest.approx(np.median(found["span"]))
    language = columns(networks, ("minilm", "mpnet", "antiberty"))
    few, true = passing(language), passing(language, "law ")
    assert values["pretrained_language"] == pytest.approx(min(few[name] / true[name] for name in few))
    assert values.keys() == QUESTIONS["P3.01"].keys()


def test_the_answers_about_the_range_are_those_counted_by_hand(networks):
    found = columns(networks)
    values = study.of_range(study.layer_table(), study.slice_table())
    n, alphas = len(found["alpha"]), found["alpha"]
    assert values["pretrained_pooled"] * n == pytest.approx(sum(2 <= a <= 5 for a in alphas))
    assert values["pretrained_wide"] * n == pytest.approx(sum(2 <= a <= 6 for a in alphas))
    assert values["pretrained_control"] * n == pytest.approx(sum(2 <= a <= 5 for a in found["spread alpha"]))
    triples = zip(alphas, found["null_median"], found["null_p_value"], strict=True)
    assert values["pretrained_below"] * n == pytest.approx(sum(a < m and p <= 0.05 for a, m, p in triples))
    large = [i for i in range(n) if min(found["rows"][i], found["columns"][i]) >= 256]
    inside = [sum(2 <= found[name][i] <= 5 for i in large) / len(large) for name in ("alpha", "null_median")]
    assert values["pretrained_chance"] == pytest.approx(inside[0] - inside[1])
    counted = 0
    for one in networks.values():
        linear = [a for a, kind in zip(one["layers"]["alpha"], one["layers"]["kind"], strict=True) if kind == "linear"]
        counted += sum(2 <= a <= 5 for a in [*linear, *one["slices"]])
    assert values["pretrained_slices"] == pytest.approx(counted / len(study.slice_table()))
    enough = [np.mean([2 <= a <= 5 for a in one["layers"]["alpha"]]) >= 0.9 for one in networks.values()]
    assert values["pretrained_networks"] == pytest.approx(np.mean(enough))
    assert values.keys() == QUESTIONS["P3.02"].keys()


def test_an_interval_of_networks_that_agree_is_a_point_and_of_those_that_differ_is_wide():
    keys = pd.Series(np.repeat([f"network {i}" for i in range(10)], 20))
    ones = pd.DataFrame({"all": np.ones(200)})
    alike = pd.DataFrame({"half": np.tile([0, 1], 100)})
    assert study.upper_end(keys, alike, ones) == 0.5
    apart = pd.DataFrame({"half": np.repeat([0, 1], 100)})
    assert 0.7 < study.upper_end(keys, apart, ones) < 0.9  # binomial: 0.5 + 2 · 0.16
    both = pd.concat([apart, alike], axis=1)
    assert study.upper_end(keys, both, pd.concat([ones, ones], axis=1)) == 0.5  # the least of the two
    with pytest.raises(ValueError, match="found 1 network, expected at least 2"):
        study.upper_end(keys[:20], alike[:20], ones[:20])


def test_every_network_has_a_row_with_its_licence(networks):
    table = study.network_table(study.layer_table())
    assert len(table) == len(networks) and table["licence"].str.len().gt(0).all()
    assert table["layers"].sum() == len(columns(networks)["alpha"])
    assert table.loc["MiniLM-L6", "licence"] == "MIT; model card: Apache-2.0"


def test_the_pictures_show_every_layer_and_test():
    table = study.layer_table()
    _, axes = plt.subplots(1, 2)
    study.plot_networks(table, axes[0])
    chance, trained = (line.get_xdata() for line in axes[0].lines)
    assert np.array_equal(trained, np.minimum(table["alpha"], 20)) and len(chance) == len(table)
    assert next(label.get_text() for label in axes[0].get_yticklabels()) == "MiniLM-L6"
    study.plot_tests(table, axes[1])
    assert list(axes[1].lines[0].get_xdata()) == pytest.approx(list(study.passed(table).mean()[list(study.TESTS)]))
    assert [line.get_label() for line in axes[1].lines] == list(study.KINDS.values())
