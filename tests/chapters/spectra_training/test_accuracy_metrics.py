"""What goes with accuracy among the stored networks, and that the file says what the code does."""

import numpy as np
import pytest

from chapters.claims.registry import load
from chapters.spectra_training import accuracy_metrics as study
from chapters.spectra_training import accuracy_tables as tables
from chapters.spectra_training.trained_spectra import SETTINGS, trainings
from chapters.stored import stored


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
    assert [len(layers) for layers in content["values"]["alpha"]] == table["depth"].tolist()


def test_a_small_network_is_measured_again_as_stored(content, table):
    again = study.trained_again(content, [4])
    assert study.largest_gap(table, again) < 1e-4  # rounding, and the arithmetic of another processor
    assert study.largest_gap(table, again.assign(alpha=again["alpha"] + 1)) > 0.1


def test_metrics_are_means_over_layers(content, table):
    values = content["values"]
    i = next(i for i, depth in enumerate(table["depth"]) if depth == 3)
    alpha, log_spectral = np.array(values["alpha"][i]), np.array(values["log_spectral"][i])
    row = table.loc[i]
    assert row["alpha_hat"] == pytest.approx(np.mean(alpha * log_spectral))
    width = row["width"]
    undivided = log_spectral + np.log10([max(64, width), width, width])  # λ of WᵀW
    assert row["alpha_hat_undivided"] == pytest.approx(np.mean(alpha * undivided))
    assert row["gap"] == pytest.approx(row["train"] - row["test"])


def test_checks_are_those_of_the_claim(table):
    names = {check.name for check in load()["P3.08"].checks}
    found = study.registered_checks(table, n_resamples=50)
    assert set(found) == set(tables.CHECKS)
    of_alpha = {"alpha_" + name for name in ("without_decay", "with_decay", "given_norms", "norm_instead")}
    assert names == set(found) | of_alpha


def test_checks_pass_for_a_metric_that_is_accuracy_itself(table):
    """Each check can hold, and each can fail."""
    perfect = table.assign(
        alpha_hat=-table["test"], shuffled_alpha_hat=np.arange(len(table)) % 7, log_frobenius=np.arange(len(table)) % 5
    )
    perfect["log_spectral"] = np.arange(len(table)) % 11
    found = study.registered_checks(perfect, n_resamples=100)
    below = ("without_decay", "with_decay", "given_norms", "labels_fixed", "unregularised")
    assert all(found[name] <= -0.9 for name in below) and found["norm_instead"] == 0
    assert all(found[name] > 0 for name in ("norms_fail", "shuffled", "baseline"))
    reverse = study.registered_checks(
        perfect.assign(alpha_hat=table["test"], log_spectral=-table["test"]), n_resamples=100
    )
    assert (
        all(reverse[name] > 0 for name in ("without_decay", "with_decay", "labels_fixed"))
        and reverse["norm_instead"] == 2
    )
    assert reverse["norms_fail"] < -1 and reverse["shuffled"] < 0


def test_tables_and_numbers(content, table):
    brief = {"n_resamples": 20}
    found = tables.checks_table(table, {"alpha": "α"}, **brief)
    assert found.columns.tolist() == ["should be", "α"] and len(found) == 9
    numbers = tables.prose(study.metric_estimates(table, **brief), study.controlled(table, "alpha", **brief))
    assert numbers["training_hat_without"] == "−0.26" and len(numbers) == 16
    exponents = study.layer_exponents(content)
    assert [len(values) for values in exponents.values()] == [324, 324, 648]


def test_exponents_by_noise_are_means_over_the_networks_of_a_family(content, table):
    found = study.exponents_by_noise(content, table, "2 × 64", "with")
    assert found.index.tolist() == [0, 0.15, 0.3] and found.columns.tolist() == ["layer1", "layer2"]
    part = table[(table["family"] == "2 × 64") & (table["half"] == "with")]
    assert found.to_numpy().mean() == pytest.approx(part["alpha"].mean())
    assert found["layer1"].iloc[2] == pytest.approx(
        np.mean([content["values"]["alpha"][i][0] for i in part[part["noise"] == 0.3].index])
    )


def test_upper_ends(table):
    assert tables.ends(study.controlled(table, "alpha", n_resamples=2000, seed=0)["norms fixed"]) == "−0.30 and −0.02"
