"""Metrics of layers and networks: what they do not depend on, what they do, and what is never averaged in."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from capcore.checkpoints import read_checkpoint
from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra, fit_power_law, weightwatcher_details
from tests.spectra.whole_networks import spectral_densities
from tests.strategies import seeds

PLAIN = SpectraOptions(DensityOptions("slices"), alternatives=())
INVARIANT = ("alpha", "sigma", "distance", "n_tail", "stable_rank", "entropy", "rank", "n", "soft_rank", "n_spikes")
SCALED = ("alpha_hat", "log_alpha_norm", "log_spectral", "log_frobenius", "x_min", "bulk_edge")


def kernel(seed, shape=(14, 18, 3, 3)):
    """Gaussian weights with channels of unequal size, so that the spectrum has a tail."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) * (1 + rng.pareto(2.5, size=(shape[0],) + (1,) * (len(shape) - 1)))


def rows_of(arrays, options=PLAIN):
    return analyse_spectra(arrays, options).spectra


def same(found, expected, names):
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        for name in names:
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-8, nan_ok=True), name


@settings(max_examples=20)
@given(seeds)
def test_the_order_of_channels_does_not_matter(seed):
    weights, rng = kernel(seed), np.random.default_rng(seed)
    shuffled = weights[rng.permutation(14)][:, rng.permutation(18)]
    for arrangement in ("slices", "pooled", "unfolded"):
        options = replace(PLAIN, density=DensityOptions(arrangement))
        same(rows_of({"c": shuffled}, options), rows_of({"c": weights}, options), INVARIANT + SCALED)


@settings(max_examples=20)
@given(seeds)
def test_transposition_does_not_matter(seed):
    weights = kernel(seed, (14, 30))
    plain, turned = rows_of({"c": weights}), rows_of({"c": weights.T})
    same(turned, plain, INVARIANT + SCALED)
    assert (turned[0].rows, turned[0].columns) == (plain[0].columns, plain[0].rows)
    same(rows_of({"c": weights.T}, replace(PLAIN, transposed=("c",))), plain, ("rows", "columns", "alpha"))


def test_sums_run_over_all_slices_and_means_over_what_was_fitted():
    network = {"c": kernel(0), "fc": kernel(1, (20, 30))}
    report = analyse_spectra(network, PLAIN)
    fits = [
        fit_power_law(density.eigenvalues) for density in spectral_densities(read_checkpoint(network), PLAIN.density)
    ]
    terms = [fit.alpha * np.log10(d.eigenvalues[0]) for fit, d in zip(fits, report.densities, strict=True)]
    model = report.model
    assert (model.n_layers, model.n_spectra, model.n_fitted) == (2, 10, 10)
    assert model.n_weights == 14 * 18 * 9 + 600
    assert model.sum_alpha_hat == pytest.approx(sum(terms))
    assert model.mean_alpha_hat == pytest.approx(np.mean(terms))
    assert model.mean_alpha == pytest.approx(np.mean([fit.alpha for fit in fits]))
    assert model.log_product_frobenius == pytest.approx(sum(np.log10(d.eigenvalues.sum()) for d in report.densities))


def test_what_failed_is_listed_and_in_no_average():
    good = {"c": kernel(0), "fc": kernel(1, (20, 30))}
    spoiled = np.full((20, 30), 0.5)
    spoiled[3, 4] = np.nan
    bad = {
        "dead": np.zeros((20, 30)),
        "nan": spoiled,
        "small": np.ones((3, 30)),
        "orthogonal": np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0] @ np.diag([1.0] * 30),
        "one slice": np.stack([kernel(2, (14, 18)), np.zeros((14, 18))], axis=-1),
        "identity": np.eye(20),
        "bias": np.ones(20),
    }
    report = analyse_spectra(read_checkpoint({**good, **bad}, non_finite="keep"), PLAIN)
    failures = report.failures
    assert failures["dead"] == "All weights are zero." and "NaN" in failures["nan"] and "minimum" in failures["small"]
    assert failures["one slice[1]"] == "All weights of this slice are zero."
    assert "too few distinct values" in failures["identity"]
    assert [part.name for part in report.not_layers] == ["bias"]
    clean = analyse_spectra({**good, "one slice": bad["one slice"][..., :1]}, PLAIN)
    kept = [row for row in report.spectra if row.ok and row.layer != "orthogonal"]
    same(kept, clean.spectra, ("alpha", "alpha_hat"))
    fitted = [row.alpha for row in report.spectra if row.ok]
    assert report.model.mean_alpha == pytest.approx(np.mean(fitted))
    assert report.model.n_skipped == 4 and report.model.n_failed == len(report.spectra) - len(fitted) >= 1
    assert all(math.isfinite(getattr(report.model, name)) for name in ("mean_alpha", "sum_alpha_hat", "mean_distance"))


def test_a_network_without_any_spectrum_has_nan_and_no_error():
    model = analyse_spectra({"bias": np.ones(4)}).model
    assert model.n_spectra == 0 and math.isnan(model.mean_alpha) and math.isnan(model.sum_alpha_hat)


def test_nulls_and_intervals_come_from_the_seed_and_not_from_other_layers():
    options = SpectraOptions(null="shuffled", n_null=4, n_resamples=20, n_simulations=20, seed=3)
    first = rows_of({"a": kernel(0), "b": kernel(1, (20, 30))}, options)
    again = rows_of({"b": kernel(1, (20, 30))}, options)
    assert first[-1] == again[0]
    other = rows_of({"b": kernel(1, (20, 30))}, replace(options, seed=4))[0]
    assert other.alpha == again[0].alpha
    assert other.null_low != again[0].null_low and other.alpha_low != again[0].alpha_low
    for row in first:
        assert row.null_low <= row.null_median <= row.null_high and row.n_null == 4
        assert row.alpha_low < row.alpha_high and 0 < row.p_value <= 1


def test_the_null_of_a_null_is_like_itself():
    """A Gaussian layer's exponent is one more draw of its null: beyond nine others with probability 2/10. Of 40 layers
    that is 8 ± 2.5, so that none at all, or more than 18, has a chance below 2e-4."""
    options = SpectraOptions(null="gaussian", n_null=9, alternatives=())
    network = {f"fc{i}": np.random.default_rng(i).normal(size=(24, 40)) for i in range(40)}
    outside = sum(not row.null_low <= row.alpha <= row.null_high for row in rows_of(network, options))
    assert 0 < outside <= 18


@pytest.mark.parametrize(("share", "expected"), [(0.5, 10), (0.26, 6), (1.0, 20)])
def test_a_share_of_the_eigenvalues_is_the_tail(share, expected):
    options = SpectraOptions(tail_share=share, n_resamples=10, n_simulations=10)
    (row,) = rows_of({"fc": kernel(1, (20, 30))}, options)
    assert row.n_tail == expected and np.isfinite(row.alpha_low) and row.favoured


def test_with_its_choices_the_numbers_are_weightwatchers():
    network = {"conv.weight": kernel(0, (16, 18, 3, 3)).astype("f4"), "fc.weight": kernel(1, (40, 30)).astype("f4")}
    options = replace(PLAIN, density=DensityOptions("pooled", divide_by="nothing", scale="weightwatcher"))
    details = weightwatcher_details(read_checkpoint(network))
    for row, (_, tool) in zip(rows_of(network, options), details.iterrows(), strict=True):
        assert row.alpha == pytest.approx(tool["alpha"], rel=1e-8)
        assert row.alpha_hat == pytest.approx(tool["alpha_weighted"], rel=1e-8)
        assert row.log_alpha_norm == pytest.approx(tool["log_alpha_norm"], rel=1e-8)
        assert row.log_frobenius == pytest.approx(tool["log_norm"], rel=1e-8)
        assert row.stable_rank == pytest.approx(tool["stable_rank"], rel=1e-8)
        assert row.entropy == pytest.approx(tool["entropy"], abs=1e-6)  # the tool adds 1e-10 to every share
