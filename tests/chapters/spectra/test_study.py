"""Spectra of layers step by step, and the same networks from several seeds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra import fit_power_law
from chapters.spectra import experiment, study
from chapters.spectra.experiment import Snapshot, Training, outcomes, run, trained_outcomes
from tests.strategies import seeds


@given(seeds, st.integers(3, 60))
def test_the_plain_loop_finds_what_the_pruned_scan_does(seed, n):
    values = np.random.default_rng(seed).pareto(2.0, n) + 1
    scan, fit = study.scan_tails(values), fit_power_law(values)
    best = scan.best
    assert scan.x_min[best] == fit.x_min and scan.n_tail[best] == fit.n_tail
    assert scan.alpha[best] == pytest.approx(fit.alpha, rel=1e-12)
    assert scan.distance[best] == pytest.approx(fit.distance, abs=1e-12)


def test_sums_by_both_routes():
    rng = np.random.default_rng(0)
    report = experiment.analysed({"a": rng.normal(size=(40, 50)), "b": rng.normal(size=(64, 33)), "c": np.ones((9, 9))})
    assert study.exhaustive_sum(report) == pytest.approx(report.model.sum_alpha_hat, rel=1e-12)
    assert list(report.failures) == ["c"] and len(report.spectra) == 2


def test_chance_has_no_units_and_depends_on_the_shape():
    rng = np.random.default_rng(0)
    square, flat = (study.chance_exponents(shape, 40, rng) for shape in ((64, 64), (512, 64)))
    assert np.median(square) < np.median(flat)
    assert np.mean((square >= 2) & (square <= 5)) > 0.4  # 72 % of many draws


def test_networks_differ_in_one_thing_each():
    found = experiment.networks(256, 5, 1.0, 1e-2)
    base = vars(found.pop("right labels"))
    for name, training in found.items():
        assert sum(base[key] != value for key, value in vars(training).items()) == 1, name
    with pytest.raises(ValueError, match="width: found 64, expected a whole number of at least 128"):
        experiment.networks(64, 5, 1.0, 1e-2)


def test_paths_and_tables():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(40, 40))
    heavy = noise * (1 + rng.pareto(1.0, size=(40, 1)))
    shots = [Snapshot(epoch, {"layer1": w}, 0.5, 0.4) for epoch, w in ((0, noise), (1, heavy), (2, noise), (4, heavy))]
    path = study.path_exponents(shots)
    assert path["epoch"].tolist() == [0, 1, 2, 4] and path["alpha"][1] == path["alpha"][3] < path["alpha"][0]


def test_epochs_end_at_the_end():
    assert study.epochs_shown(60)[-2:] == [45, 60] and study.epochs_shown(1) == [0, 1]


def test_other_seeds_are_trained_and_compared_with_their_own_start():
    networks = {seed: {"right labels": Training(32, 2, epochs=1, seed=seed)} for seed in (3, 4)}
    found = study.all_outcomes(networks, {"settings": {"seeds": []}, "values": {}})
    assert found["layer"].tolist() == 2 * ["layer1", "layer2"] and found["seed"].tolist() == [3, 3, 4, 4]
    assert found["shape"].tolist() == 2 * [(32, 64), (32, 32)] and found.index.is_unique
    assert set(found["network"]) == {"true labels"} and found["alpha"][0] != found["alpha"][2]
    assert ((found["moved"] > 0) & (found["moved"] < 1)).all()


def test_stored_seeds_are_read_and_others_trained(monkeypatch):
    settings = {"networks": {"one": {"width": 32, "epochs": 0}}, "seeds": [3, 4]}
    content = {"settings": settings, "values": run(settings)}
    trained = []
    monkeypatch.setattr(study, "trained_outcomes", lambda *found: trained.append(found[1]) or trained_outcomes(*found))
    table = study.all_outcomes({seed: {"one": Training(32, 2, epochs=0, seed=seed)} for seed in (3, 4, 5)}, content)
    assert table["seed"].tolist() == [3, 3, 4, 4, 5, 5] and trained == [5] and table.index.is_unique


@pytest.fixture
def table():
    """Two networks, two layers, three seeds: network a is smaller in layer 1 on two seeds, never in layer 2."""
    alphas = {
        ("a", "layer1"): [2, 2, 9],
        ("a", "layer2"): [5, 5, 5],
        ("b", "layer1"): [3, 4, 3],
        ("b", "layer2"): [4, 4.96, 2],
    }
    rows = [
        {
            "network": network,
            "layer": layer,
            "seed": seed,
            "shape": (64, 64),
            "alpha": alpha,
            "moved": 0.5,
            "spikes": seed,
        }
        for (network, layer), values in alphas.items()
        for seed, alpha in enumerate(values)
    ]
    return pd.DataFrame(rows)


def test_below_chance_is_below_all_but_one_in_forty(table):
    chance = {(64, 64): np.linspace(2, 4, 1001)}
    below = study.below_chance(table, chance)
    assert below.tolist() == (table["alpha"] < 2.05).tolist() and below.sum() == 3
    assert study.layers_of(table)["b"][0] == ((64, 64), 3.0) and len(study.layers_of(table)["b"]) == 6


def test_random_layers_are_seldom_below_chance():
    rng = np.random.default_rng(1)
    drawn = outcomes({"noise": [Snapshot(0, {f"layer{i}": rng.normal(size=(40, 40)) for i in range(40)}, 0, 0)]}, 0)
    assert study.below_chance(drawn, {(40, 40): study.chance_exponents((40, 40), 200, rng)}).mean() < 0.15
