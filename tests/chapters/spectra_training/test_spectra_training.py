"""Correlations within architectures against scipy and another route, and the checks of the claim."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from capcore.spectra import analyse_spectra
from chapters.kit.stored import stored
from chapters.spectra.experiment import Training, train_network
from chapters.spectra_training import study
from chapters.spectra_training.experiment import LAYER, QUICK, SETTINGS, measure, trainings
from chapters.spectra_training.study import within
from tests.strategies import seeds


@pytest.fixture(scope="module")
def content():
    return stored("trained_spectra")


@pytest.fixture(scope="module")
def table(content):
    return study.network_table(content)


def test_the_stored_networks_are_the_planned_ones(content, table):
    assert content["settings"] == SETTINGS
    assert len(table) == len(trainings()) == 324 and (table.groupby("family")["half"].value_counts() == 18).all()
    assert set(content["values"]) >= {"train", "test", "alpha", "null_alpha", "null_alpha_hat"}
    assert [len(layers) for layers in content["values"]["alpha"]] == [training.depth for training in trainings()]


def test_metrics_are_means_over_layers(content, table):
    values = content["values"]
    i, width = next((i, training.width) for i, training in enumerate(trainings()) if training.depth == 3)
    alpha, log_spectral = np.array(values["alpha"][i]), np.array(values["log_spectral"][i])
    row = table.loc[i]
    assert row["alpha_hat"] == pytest.approx(np.mean(alpha * log_spectral))
    undivided = log_spectral + np.log10([max(64, width), width, width])  # λ of WᵀW
    assert row["alpha_hat_undivided"] == pytest.approx(np.mean(alpha * undivided))


def test_checks_pass_for_a_metric_that_is_accuracy_itself(table):
    """Each check can hold, and each can fail."""
    perfect = table.assign(
        alpha_hat=-table["test"], shuffled_alpha_hat=np.arange(len(table)) % 7, log_frobenius=np.arange(len(table)) % 5
    )
    perfect["log_spectral"] = np.arange(len(table)) % 11
    result = study.registered_checks(perfect, n_resamples=100)
    below = ("without_decay", "with_decay", "given_norms", "labels_fixed", "unregularised")
    assert all(result[name] <= -0.9 for name in below) and result["norm_instead"] == 0
    assert all(result[name] > 0 for name in ("norms_fail", "shuffled", "baseline"))
    turned = perfect.assign(alpha_hat=table["test"], log_spectral=-table["test"])
    reverse = study.registered_checks(turned, n_resamples=100)
    assert all(reverse[name] > 0 for name in ("without_decay", "with_decay", "labels_fixed"))
    assert reverse["norm_instead"] == 2
    assert reverse["norms_fail"] < -1 and reverse["shuffled"] < 0


def networks(seed, n=7, families=3):
    rng = np.random.default_rng(seed)
    size = n * families
    columns = {name: rng.normal(size=size) for name in ("test", "alpha", "one", "two")}
    columns["one"] = columns["one"].round(1)  # with ties
    return pd.DataFrame({**columns, "family": np.repeat(list("abcdef")[:families], n)})


@given(seeds, st.integers(4, 12))
def test_the_mean_of_the_families_is_scipys(seed, n):
    table = networks(seed, n)
    expected = np.mean([spearmanr(part["one"], part["test"])[0] for _, part in table.groupby("family")])
    assert within(table, "one", n_resamples=1).value == pytest.approx(expected, abs=1e-12)


@given(seeds)
def test_monotone_maps_change_nothing_and_signs_turn(seed):
    table = networks(seed)
    first = within(table, "alpha", n_resamples=20)
    table["other"] = np.exp(table["alpha"])
    table["turned"] = -table["alpha"]
    np.testing.assert_allclose(within(table, "other", n_resamples=20).draws, first.draws)
    np.testing.assert_allclose(within(table, "turned", n_resamples=20).draws, -first.draws)


def test_what_a_metric_shares_with_what_is_fixed_is_taken_out():
    table = networks(0, 60)
    table["alpha"] = table["two"] + 0.01 * table["alpha"]
    table["test"] = table["two"] + 0.3 * table["test"]
    assert within(table, "alpha", n_resamples=1).value > 0.8
    assert abs(within(table, "alpha", given=("two",), n_resamples=1).value) < 0.25
    assert within(table, "two", given=("two",), n_resamples=1).value == 0.0


def test_intervals_of_independent_columns_hold_zero_about_as_often_as_they_say():
    hits = [one.low <= 0 <= one.high for one in (within(networks(s, 30), "alpha", n_resamples=200) for s in range(60))]
    assert 0.85 <= np.mean(hits) <= 1.0  # 0.95 by design; four standard errors of 60 are 0.11


def test_differences_are_paired():
    table = networks(1, 30)
    table["near"] = table["alpha"] + 1e-3 * table["two"]
    first, second = within(table, "alpha", n_resamples=200), within(table, "near", n_resamples=200)
    difference = first - second
    assert difference.high - difference.low < 0.2 * (first.high - first.low)


def test_the_summary_takes_its_numbers_from_both_chapters(table):
    published = study.published_sources(stored("published_metrics")["values"])
    own = study.own_sources(table, n_resamples=5)
    assert list(published) == list(own) == list(study.SUMMARY)
    missing = {label: [pair is None for pair in (*published[label], *own[label])] for label in study.SUMMARY}
    assert missing["α̂ of shuffled weights"] == [True, True, False, False] and not any(missing["α̂"])
    assert missing["number of parameters"] == [False, False, True, True]
    assert missing["norm"] == [False, False, False, True]
    plain = [within(part, "alpha", n_resamples=5).value for part in study.halves(table).values()]
    assert own["α"][0][0] == pytest.approx(-np.mean(plain)), "of the error, where the other figures have accuracy"


TINY = SETTINGS | QUICK


def test_a_network_is_measured_layer_by_layer():
    training = Training(40, 2, epochs=2)
    result = measure(training, TINY)
    snapshot = train_network(training)
    report = analyse_spectra(snapshot.weights)
    for i, name in enumerate(("layer1", "layer2")):
        values = np.linalg.svd(snapshot.weights[name], compute_uv=False) ** 2 / max(snapshot.weights[name].shape)
        assert result["log_spectral"][i] == pytest.approx(np.log10(values[0]), rel=1e-6)
        assert result["log_frobenius"][i] == pytest.approx(np.log10(values.sum()), rel=1e-6)
        assert result["alpha"][i] == pytest.approx(report.spectra[i].alpha, rel=1e-6)
    assert all(len(result[name]) == 2 for name in (*LAYER, "null_alpha", "null_alpha_hat"))  # not the output layer
    assert result["test"] == pytest.approx(snapshot.test_accuracy)


def test_nulls_are_other_draws_for_other_networks():
    training = Training(40, 1, epochs=1)
    first, again, other = (measure(training, TINY, draw_from=draw) for draw in (0, 0, 3))
    assert first == again and first["null_alpha"] != other["null_alpha"] and first["alpha"] == other["alpha"]


def test_both_halves_differ_in_decay_alone():
    plain = [vars(t) for t in trainings() if not t.decay]
    decayed = [vars(t) for t in trainings() if t.decay]
    key = lambda values: tuple(value for name, value in values.items() if name != "decay")  # noqa: E731
    assert sorted(map(key, plain)) == sorted(map(key, decayed))
