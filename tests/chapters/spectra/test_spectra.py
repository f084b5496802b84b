"""Spectra of small networks: scans against fits, convolutions written out, trainings, and the page's tails."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra import DensityOptions, fit_power_law
from chapters.kit.stored import stored
from chapters.shared.resnets import stored_networks
from chapters.spectra import convolutions, experiment, study, tails
from chapters.spectra.experiment import (
    Snapshot,
    Training,
    outcomes,
    train_network,
    trained_outcomes,
    training_path,
    wrong_labels,
)
from tests.strategies import seeds


@given(seeds, st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(3, 4))
def test_the_matrix_is_the_convolution(seed, n_out, n_in, length, grid):
    """Against a sum of shifted images."""
    rng = np.random.default_rng(seed)
    kernel, image = rng.normal(size=(n_out, n_in, length, length)), rng.normal(size=(n_in, grid, grid))
    expected = sum(
        np.einsum("oi,ixy->oxy", kernel[:, :, i, j], np.roll(image, (-i, -j), axis=(1, 2)))
        for i in range(length)
        for j in range(length)
    )
    np.testing.assert_allclose(convolutions.circular_matrix(kernel, grid) @ image.ravel(), expected.ravel(), atol=1e-12)


@given(seeds, st.integers(1, 4), st.integers(1, 4))
def test_operator_norm_and_bounds(seed, n_out, n_in):
    kernel = np.random.default_rng(seed).normal(size=(n_out, n_in, 3, 3))
    written_out = np.linalg.svd(convolutions.circular_matrix(kernel, 4), compute_uv=False) ** 2
    assert convolutions.gap(convolutions.eigenvalues(kernel, "operator", 4)[0], written_out) < 1e-12
    assert convolutions.norm_kept(kernel) < 1e-12
    low, middle, high = convolutions.norm_bounds(kernel, 4)
    assert low * (1 - 1e-12) <= middle <= high * (1 + 1e-12)
    assert middle == pytest.approx(np.sqrt(written_out[0]), rel=1e-10)


@given(seeds, st.integers(2, 6), st.integers(2, 6))
def test_rotated_taps_keep_every_slice_and_the_unfolded_kernel(seed, n_out, n_in):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n_out, n_in))
    equal, rotated = convolutions.equal_taps(matrix), convolutions.rotated_taps(matrix, rng)
    for arrangement in ("slices", "unfolded"):
        one, other = (convolutions.eigenvalues(kernel, arrangement) for kernel in (rotated, equal))
        assert max(map(convolutions.gap, one, other)) < 1e-10
    _, middle, high = convolutions.norm_bounds(equal)
    assert middle == pytest.approx(high)  # all taps pull together


def test_one_tap_is_its_own_map():
    kernel = np.random.default_rng(0).normal(size=(3, 4, 1, 1))
    low, middle, high = convolutions.norm_bounds(kernel)
    assert low == pytest.approx(middle) and middle == pytest.approx(high)


def test_bounds_fail_where_they_should(monkeypatch):
    monkeypatch.setattr(convolutions, "norm_bounds", lambda kernel, grid: (2.0, 1.0, 3.0))
    assert not convolutions.bounds_hold(1, np.random.default_rng(0))


SMALL = Training(width=12, depth=2, epochs=4, rate=1e-2)


@given(seeds, st.integers(1, 200), st.floats(0, 0.99))
def test_exactly_the_share_of_labels_is_wrong(seed, n, noise):
    rng = np.random.default_rng(seed)
    labels = rng.integers(10, size=n)
    before = labels.copy()
    changed = wrong_labels(labels, noise, rng)
    assert (changed != labels).sum() == round(noise * n) and set(changed) <= set(range(10))
    np.testing.assert_array_equal(labels, before)


def test_a_path_ends_where_the_training_does_and_begins_at_random():
    path = list(training_path(SMALL, [0, 1, 4]))
    end = train_network(SMALL)
    assert [one.epoch for one in path] == [0, 1, 4]
    for name, weights in end.weights.items():
        np.testing.assert_array_equal(path[-1].weights[name], weights)
    assert path[-1].train_accuracy == end.train_accuracy > 0.7 > 0.35 > path[0].train_accuracy
    bound = np.sqrt(6 / (64 + 12))  # uniform, as scikit-learn draws them
    assert 0.95 * bound < abs(path[0].weights["layer1"]).max() <= bound


def test_the_start_is_that_of_the_same_network():
    """An epoch at a rate of 1e-12 stays there."""
    slow = Training(width=12, depth=2, epochs=1, rate=1e-12)
    start, end = training_path(slow, [0, 1])
    for name, weights in end.weights.items():
        np.testing.assert_allclose(start.weights[name], weights, atol=1e-9)


def test_what_becomes_of_a_layer():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(40, 40))
    heavy = noise * (1 + rng.pareto(1.0, size=(40, 1)))
    shots = [Snapshot(0, {"layer1": noise}, 0.5, 0.4), Snapshot(3, {"layer1": heavy}, 0.9, 0.8)]
    (row,) = experiment.outcomes({"heavy": shots}, 7).to_dict("records")
    before, after = (experiment.analysed(shot.weights).spectra[0] for shot in shots)
    assert (row["start"], row["alpha"], row["spikes"]) == (before.alpha, after.alpha, after.n_spikes)
    assert row["moved"] == pytest.approx(np.sqrt(((heavy - noise) ** 2).sum() / (noise**2).sum()))
    names = ("network", "seed", "layer", "shape", "test")
    assert [row[name] for name in names] == ["heavy", 7, "layer1", (40, 40), 0.8]
    still = experiment.outcomes({"still": shots[:1]}, 0)
    assert still["moved"].item() == 0 and still["alpha"].item() == still["start"].item()


def test_stored_seeds_are_read_and_others_trained(monkeypatch):
    content = {"settings": experiment.QUICK, "values": json.loads(json.dumps(experiment.run(experiment.QUICK)))}
    training, asked = Training(32, 2, epochs=1, seed=4), []
    expected = trained_outcomes({"one": training}, 4)
    monkeypatch.setattr(study, "trained_outcomes", lambda trainings, seed: asked.append(seed) or expected)
    pd.testing.assert_frame_equal(study.all_outcomes({4: {"one": training}}, content), expected)
    assert len(study.all_outcomes({2: experiment.networks(256, 60, 1.0, 1e-2, seed=2)}, stored("layer_seeds"))) == 12
    assert asked == []
    changes = [{"epochs": 2}, {"noise": 1.0}, {"decay": 0.1}, {"seed": 3}, {"width": 33}]
    for other in [{"another": training}, *({"one": replace(training, **change)} for change in changes)]:
        study.all_outcomes({4: other}, content)
    study.all_outcomes({5: {"one": replace(training, seed=5)}}, content)
    assert asked == [4] * 6 + [5]


@given(seeds, st.integers(3, 60))
def test_the_plain_loop_finds_what_the_pruned_scan_does(seed, n):
    values = np.random.default_rng(seed).pareto(2.0, n) + 1
    scan, fit = study.TailScan(values), fit_power_law(values)
    best = scan.best
    assert scan.x_min[best] == fit.x_min and scan.n_tail[best] == fit.n_tail
    assert scan.alpha[best] == pytest.approx(fit.alpha, rel=1e-12)
    assert scan.distance[best] == pytest.approx(fit.distance, abs=1e-12)


def test_sums_by_both_routes():
    rng = np.random.default_rng(0)
    report = experiment.analysed({"a": rng.normal(size=(40, 50)), "b": rng.normal(size=(64, 33)), "c": np.ones((9, 9))})
    assert study.exhaustive_sum(report) == pytest.approx(report.model.sum_alpha_hat, rel=1e-12)
    assert list(report.failures) == ["c"] and len(report.spectra) == 2


def test_networks_differ_in_one_thing_each():
    result = experiment.networks(256, 5, 1.0, 1e-2)
    base = vars(result.pop("right labels"))
    for name, training in result.items():
        assert sum(base[key] != value for key, value in vars(training).items()) == 1, name


@pytest.fixture
def table():
    """Two networks, two layers, three seeds: network a is smaller in layer 1 on two seeds, never in layer 2."""
    alphas = {
        ("a", "layer1"): [2, 2, 9],
        ("a", "layer2"): [5, 5, 5],
        ("b", "layer1"): [3, 4, 3],
        ("b", "layer2"): [4, 4.96, 2],
    }
    rows = [(*names, seed, (64, 64), alpha) for names, values in alphas.items() for seed, alpha in enumerate(values)]
    return pd.DataFrame(rows, columns=["network", "layer", "seed", "shape", "alpha"])


def test_below_chance_is_below_all_but_one_in_forty(table):
    chance = {(64, 64): np.linspace(2, 4, 1001)}
    below = study.below_chance(table, chance)
    assert below.tolist() == (table["alpha"] < 2.05).tolist() and below.sum() == 3
    assert study.layers_of(table)["b"][0] == ((64, 64), 3.0) and len(study.layers_of(table)["b"]) == 6


def test_random_layers_are_seldom_below_chance():
    rng = np.random.default_rng(1)
    drawn = outcomes({"noise": [Snapshot(0, {f"layer{i}": rng.normal(size=(40, 40)) for i in range(40)}, 0, 0)]}, 0)
    assert study.below_chance(drawn, {(40, 40): study.chance_exponents((40, 40), 200, rng)}).mean() < 0.15


@pytest.fixture(scope="module")
def spectra():
    return {one["name"]: one for one in stored("tails")["values"]["spectra"]}


def test_exponents_of_every_beginning_are_those_of_the_fit(rng):
    values = np.sort(rng.pareto(2.0, (3, 40)) + 1)
    result = tails.top_exponents(values)
    expected = [[fit_power_law(row, x_min=x_min, threshold=0).alpha for x_min in row[:-1]] for row in values]
    np.testing.assert_allclose(result, expected, rtol=1e-10)


def test_what_the_page_is_given_of_a_spectrum(rng):
    others = np.sort(rng.pareto(2.0, (30, 20)) + 1)
    others[0, :3] = 0.0  # not resolved
    values = np.sort(rng.pareto(1.0, 20) + 1)
    description = tails.described(tails.Spectrum("a", "A", values, others, "draws"), 20, rng)
    np.testing.assert_allclose(description["eigenvalues"], values, rtol=1e-7)
    for k in range(3, 19):
        alphas = [fit_power_law(row, x_min=row[k], threshold=0).alpha for row in others]
        assert description["smaller"][k] == sum(
            alpha <= fit_power_law(values, x_min=values[k]).alpha for alpha in alphas
        )
        assert description["alpha_low"][k] == pytest.approx(np.percentile(alphas, 2.5), rel=1e-3)
        assert description["high"][k] == pytest.approx(np.percentile(others[:, k], 97.5), rel=1e-3)
    own = [fit_power_law(row).alpha for row in others]
    assert description["own"]["smaller"] == sum(alpha <= fit_power_law(values).alpha for alpha in own)
    assert description["own"]["high"] == pytest.approx(np.percentile(own, 97.5))
    assert np.isfinite(np.concatenate([description[name] for name in ("low", "high", "alpha_low", "alpha_high")])).all()


def test_trained_layers_have_the_exponents_of_the_chapter(spectra):
    rows = pd.DataFrame(stored("layer_seeds")["values"])
    rows = rows[(rows["seed"] == 0) & (rows["layer"] == "layer2")].set_index("network")
    alphas = {name: fit_power_law(spectra[name]["eigenvalues"]).alpha for name in ("trained", "untrained", "decay")}
    assert alphas["trained"] == pytest.approx(rows["alpha"]["right labels"], rel=1e-3)
    assert alphas["untrained"] == pytest.approx(rows["start"]["right labels"], rel=1e-3)
    assert alphas["decay"] == pytest.approx(rows["alpha"]["weight decay"], rel=1e-3)


def test_published_layers_are_those_that_the_book_ships(spectra):
    network, layers = tails.SETTINGS["published"]
    densities = stored_networks()[network].densities(DensityOptions("pooled"))
    shipped = {density.layer: np.sort(density.eigenvalues) for density in densities}
    for layer in layers:
        np.testing.assert_allclose(spectra[layer]["eigenvalues"], shipped[layer], rtol=1e-7)


def test_draws_from_a_law_are_as_often_smaller_as_they_are_counted(spectra):
    for spectrum, alpha in zip(tails.laws(tails.SETTINGS), tails.SETTINGS["laws"], strict=True):
        result = spectra[spectrum.name]
        values = np.array(result["eigenvalues"])
        np.testing.assert_allclose(values, spectrum.eigenvalues, rtol=1e-7)
        for k in (0, 100, 250):
            own = fit_power_law(values, x_min=values[k]).alpha
            others = [fit_power_law(row, x_min=row[k]).alpha for row in spectrum.others]
            assert result["smaller"][k] == sum(other <= own for other in others)
        assert result["smaller"][0] == result["n_others"] // 2, "the one shown is in the middle"
        assert np.mean([fit_power_law(row, x_min=1.0).alpha for row in spectrum.others]) == pytest.approx(
            alpha, abs=0.03
        )
