"""Spectra of layers step by step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra import fit_power_law
from chapters.spectra import layer_spectra as study
from chapters.spectra.trained_networks import Snapshot
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
    report = study.analysed({"a": rng.normal(size=(40, 50)), "b": rng.normal(size=(64, 33)), "c": np.ones((9, 9))})
    assert study.exhaustive_sum(report) == pytest.approx(report.model.sum_alpha_hat, rel=1e-12)
    assert list(report.failures) == ["c"] and len(report.spectra) == 2


def test_chance_has_no_units_and_depends_on_the_shape():
    rng = np.random.default_rng(0)
    square, flat = (study.chance_exponents(shape, 40, rng) for shape in ((64, 64), (512, 64)))
    assert np.median(square) < np.median(flat)
    assert np.mean((square >= 2) & (square <= 5)) > 0.4  # 72 % of many draws
    table = study.chance_table({(64, 64): square})
    assert table.index.tolist() == ["64 × 64"] and table.iloc[0, 2].endswith("%")


def test_networks_differ_in_one_thing_each():
    found = study.networks(256, 5, 1.0, 1e-2)
    base = vars(found.pop("right labels"))
    for name, training in found.items():
        assert sum(base[key] != value for key, value in vars(training).items()) == 1, name
    with pytest.raises(ValueError, match="width: found 64, expected a whole number of at least 128"):
        study.networks(64, 5, 1.0, 1e-2)


def test_paths_and_tables():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(40, 40))
    heavy = noise * (1 + rng.pareto(1.0, size=(40, 1)))
    shots = [Snapshot(epoch, {"layer1": w}, 0.5, 0.4) for epoch, w in ((0, noise), (1, heavy), (2, noise), (4, heavy))]
    path = study.path_exponents(shots)
    assert path["epoch"].tolist() == [0, 1, 2, 4] and path["alpha"][1] == path["alpha"][3] < path["alpha"][0]
    options = {"n_resamples": 20, "n_simulations": 19, "null": "shuffled", "n_null": 2}
    reports = {
        "heavy": study.analysed({"layer1": heavy}, **options),
        "noise": study.analysed({"layer1": noise}, **options),
    }
    assert study.trust_table(reports).index.tolist() == [("heavy", "layer1"), ("noise", "layer1")]


def test_epochs_end_at_the_end():
    assert study.epochs_shown(60)[-2:] == [45, 60] and study.epochs_shown(1) == [0, 1]
