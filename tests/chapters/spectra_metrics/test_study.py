"""Eq. 6 of paper 3 where α is known, networks compared layer by layer, and one with batch normalisation rescaled."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra import fit_power_law, spectrum_norms
from chapters.spectra_metrics import study
from chapters.spectra_resnets.networks import stored_networks
from tests.strategies import seeds


@given(seeds, st.floats(0.5, 50))
def test_in_one_unit_it_is_the_log_stable_rank(seed, n):
    values = np.random.default_rng(seed).pareto(1.5, 12) + 2
    assert study.log_ratio(values) == pytest.approx(spectrum_norms(values).log_stable_rank, rel=1e-12)
    assert study.log_ratio(values, n, n) == pytest.approx(spectrum_norms(values / n).log_stable_rank, rel=1e-9)


@pytest.mark.parametrize("entries", study.ENTRIES)
def test_entries_have_the_tail_that_was_asked_for(entries):
    found = np.sort(np.abs(study.heavy_tailed(1.2, 400, entries, np.random.default_rng(0))).ravel())
    counts = [(found > x).mean() for x in (10.0, 100.0)]
    assert np.log10(counts[0] / counts[1]) == pytest.approx(1.2, abs=0.12)  # 600 beyond 100: 4 % of a count


def test_norms_grow_as_derived():
    """Σλ and λ_max of WᵀW both grow as n^(4/μ), whence the limit (4/μ)/(4/μ − 1); medians of 400 extremes: ± 0.16."""
    rng, medians = np.random.default_rng(0), []
    for n in (20, 80):
        draws = [study.heavy_tailed(1.0, n, "both signs", rng) for _ in range(400)]
        spectra = [np.linalg.svd(weights, compute_uv=False) ** 2 for weights in draws]
        medians.append([np.median([np.log(part(values)) for values in spectra]) for part in (np.sum, np.max)])
    growth = np.subtract(*medians[::-1]) / np.log(4)
    np.testing.assert_allclose(growth, 4.0, atol=0.4)
    assert growth[0] == pytest.approx(growth[1], abs=0.1)  # one eigenvalue carries the sum
    assert study.entries_limit(1.0) == pytest.approx(4 / (4 - 1))


def test_simulated_units_are_those_of_the_definition():
    found = study.simulated([1.0], 30, 3, "both signs", np.random.default_rng(0))
    rng = np.random.default_rng(0)
    values = np.linalg.svd(study.heavy_tailed(1.0, 30, "both signs", rng), compute_uv=False) ** 2
    assert found["alpha"][0, 0] == fit_power_law(values).alpha and found["limit"][0, 0] == 1.5
    expected = {
        "printed": study.log_ratio(values, 1, 30),
        "W": study.log_ratio(values),
        "W/√N": study.log_ratio(values / 30),
        "half": study.log_ratio(values / 4, 1, 30),
        "double": study.log_ratio(values * 4, 1, 30),
    }
    for unit, value in expected.items():
        assert found[unit][0, 0] == pytest.approx(value, rel=1e-12)
    assert study.deviation(found) == pytest.approx(abs(found["printed"].mean() / found["alpha"].mean() - 1))


@pytest.mark.parametrize(("alpha", "limit"), [(1.3, 1.3), (1.6, 1.6), (3.0, 4.0), (4.0, 6.0)])
def test_pure_power_laws_tend_to_their_limits(alpha, limit):
    far = [abs(study.pure_ratio(alpha, 10**k) - limit) for k in (2, 6)]
    assert far[1] < far[0] and far[1] < 0.08 * limit


def test_a_pure_power_law_directly():
    n, alpha = 50, 1.8
    values = ((np.arange(n) + 0.5) / n) ** (-1 / (alpha - 1))
    assert study.pure_ratio(alpha, n) == pytest.approx(np.log(n * values.sum()) / np.log(values[0]), rel=1e-12)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match=r"alpha: found 1\.0"):
        study.pure_ratio(1.0, 10)
    with pytest.raises(ValueError, match="entries: found 'negative'"):
        study.heavy_tailed(1.0, 4, "negative", np.random.default_rng(0))


@pytest.fixture(scope="module")
def nets():
    return stored_networks()


def values(seed, n):
    rng = np.random.default_rng(seed)
    return tuple({str(i): float(x) for i, x in enumerate(rng.normal(size=n))} for _ in range(2))


@given(seeds, st.integers(2, 14))
def test_a_pair_is_its_mirror(seed, n):
    first, second = values(seed, n)
    one, other = (study.compare(a, b, np.random.default_rng(0), 99) for a, b in ((first, second), (second, first)))
    assert one.mean == pytest.approx(-other.mean) and one.n_larger + other.n_larger == one.n == n
    assert one.wilcoxon_p == pytest.approx(other.wilcoxon_p)
    tail = sum(comb(n, k) for k in range(one.n_larger, n + 1)) / 2**n
    assert one.sign_p == pytest.approx(tail, rel=1e-12) and one.share == one.n_larger / n


def test_only_common_layers_count():
    first, second = {"a": 1.0, "b": 4.0, "x": 99.0}, {"b": 1.0, "y": -99.0, "a": 0.0}
    pair = study.compare(first, second, np.random.default_rng(0), 99)
    assert (pair.n, pair.n_larger, pair.mean) == (2, 2, 2.0)
    with pytest.raises(ValueError, match="found 1 layers in common"):
        study.compare(first, {"a": 0.0}, np.random.default_rng(0))


def test_intervals_cover_the_mean():
    rng = np.random.default_rng(0)
    ends = [study.mean_interval(rng.normal(size=16), rng, 399) for _ in range(200)]
    inside = np.mean([low < 0 < high for low, high in ends])
    assert 0.86 < inside < 0.97  # 95 % by design, known to be some percent short at 16 layers
    assert study.mean_interval(np.full(3, 2.0), rng) == (2.0, 2.0)


def test_norms_of_layers_are_those_of_their_weights(nets):
    norms, network = study.layer_norms(nets["dense"]), nets["dense"]
    for layer, deviation in network.deviations.items():
        if layer in norms[study.NORMS[0]]:
            size = np.prod(network.tensors[layer].shape)
            mass = 10 ** norms[study.NORMS[0]][layer]
            assert mass >= size * deviation**2 * (1 - 1e-6)  # Σw² = n(σ² + mean²)
            assert mass < 1.1 * size * deviation**2  # means of weights are small


def test_removed_layers_have_no_value(nets):
    removed = nets["layers_removed"]
    assert len(study.layer_norms(removed)[study.NORMS[1]]) == 16
    assert len(study.layer_alphas(removed, study.POOLED)) == 17
    assert "layer2.2.conv2.weight" not in study.layer_alphas(removed)
    assert study.zeros_counted(study.layer_alphas(removed, study.POOLED), 22) == pytest.approx(3.0, abs=0.01)


def test_layer_means_are_means_over_slices(nets):
    by_layer, slices = study.layer_alphas(nets["dense"]), study.slice_alphas(nets["dense"])
    counts = {name: 1 if "fc" in name or "downsample" in name else 9 for name in by_layer}
    total = sum(by_layer[name] * counts[name] for name in by_layer)
    assert total == pytest.approx(slices.sum(), rel=1e-12) and sum(counts.values()) == len(slices)


def test_the_convolution_is_circular():
    rng = np.random.default_rng(0)
    x, kernel = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 3, 3, 3))
    found = study._circular(x, kernel)
    for m, o, h, w in np.ndindex(2, 2, 4, 5):
        expected = sum(
            kernel[o, c, i, j] * x[m, c, (h + i - 1) % 4, (w + j - 1) % 5] for c, i, j in np.ndindex(3, 3, 3)
        )
        assert found[m, o, h, w] == pytest.approx(expected, abs=1e-12)


@given(seeds, st.floats(1e-3, 1e3))
def test_outputs_do_not_depend_on_the_factor(seed, factor):
    rng = np.random.default_rng(seed)
    weights, inputs = study.random_weights(3, 3, 4, rng), rng.normal(size=(5, 3, 4, 4))
    before, after = study.outputs(weights, inputs), study.outputs(study.rescaled(weights, factor), inputs)
    np.testing.assert_allclose(after, before, atol=1e-10 * np.abs(before).max())


def test_without_normalised_variance_they_do():
    rng = np.random.default_rng(0)
    weights, inputs = study.random_weights(3, 3, 4, rng), rng.normal(size=(5, 3, 4, 4))
    before, after = (study.outputs(w, inputs, epsilon=1.0) for w in (weights, study.rescaled(weights, 10.0)))
    assert np.abs(after - before).max() > 0.01


def test_alpha_stays_and_alpha_hat_moves_by_the_law():
    weights = study.random_weights(12, 3, 10, np.random.default_rng(0))
    before, after = study.report(weights), study.report(study.rescaled(weights, 10.0))
    kernels = sum(row.alpha for row in before.spectra if row.layer.startswith("conv"))
    assert after.model.sum_alpha_hat - before.model.sum_alpha_hat == pytest.approx(2 * kernels, abs=1e-9)
    assert after.model.mean_alpha == pytest.approx(before.model.mean_alpha, abs=1e-12)
    assert len(before.spectra) == 19  # 2 · 9 slices and the linear layer


def test_it_wants_whole_numbers():
    with pytest.raises(ValueError, match="channels: found 0"):
        study.random_weights(0, 3, 2, np.random.default_rng(0))
