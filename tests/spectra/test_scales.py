"""Weights and eigenvalues from 1e-300 to 1e300: right, or refused, by every public function that takes them."""

import numpy as np
import pytest

import capcore.spectra as sp
from capcore.checkpoints import read_checkpoint
from tests.any_scale import ORDINARY, at_all_scales, equals, functions, right_or_refused

RNG = np.random.default_rng(20)
VALUES = RNG.pareto(1.5, 80) + 1
WEIGHTS = RNG.standard_t(3, size=(24, 40))
KERNEL = RNG.standard_t(3, size=(12, 16, 3, 3))
NOISE = np.linalg.eigvalsh(WEIGHTS @ WEIGHTS.T) / 40
FIT = sp.fit_power_law(VALUES)


def fitted(values, **options):
    fit = sp.fit_power_law(values, **options)
    assert fit.ok
    return [fit.alpha, fit.distance, fit.sigma, fit.n_tail, fit.n]


def generator():
    return np.random.default_rng(7)


def of_densities(k, found):
    """Eigenvalues of slices of the scaled kernel; nothing may be missing."""
    assert not found.skipped
    return np.concatenate([density.eigenvalues for density in found])


def kernel_layer(k):
    return sp.find_layers(read_checkpoint({"conv": np.ldexp(KERNEL, k)})).layers[0]


def metrics_of(report, k):
    """Scale-free metrics of all spectra, and those with a unit as logarithms, less what the scale adds to them."""
    if report.failures:
        raise ValueError(report.failures["fc"])
    shift = 2 * k * np.log10(2)
    free = ("alpha", "sigma", "distance", "n_tail", "stable_rank", "entropy", "rank", "soft_rank", "n_spikes")
    rows = [[getattr(row, name) for name in free] for row in report.spectra]
    logs = [
        [row.log_spectral - shift, row.log_frobenius - shift, row.log_alpha_norm - row.alpha * shift]
        for row in report.spectra
    ]
    for row in report.spectra:
        assert np.isclose(np.log10(row.lambda_max), row.log_spectral)
        assert np.isclose(row.alpha_hat, row.alpha * row.log_spectral)
        assert np.isclose(row.log_stable_rank, row.log_frobenius / row.log_spectral)
    return np.hstack([rows, logs])


SLICES = sp.SpectraOptions(sp.DensityOptions("slices"))


def analysed(k):
    return sp.analyse_spectra({"fc": np.ldexp(WEIGHTS, k), "conv": np.ldexp(KERNEL, k)}, SLICES)


BASE = analysed(0)


def compared(values, k):
    tests = sp.compare_tails(values, sp.fit_power_law(values))
    rates = [np.ldexp(test.model.parameters.get("rate", 0.0), k) for test in tests]
    return [each for test in tests for each in (test.ratio, test.p_value)] + rates


def watched(k):
    table = sp.weightwatcher_details({"fc.weight": np.ldexp(WEIGHTS, k)})
    row = table.iloc[0]
    return [np.log2(row["lambda_max"]) - 2 * k, row["stable_rank"], row["num_evals"], row["matrix_rank"]]


# name → k → (what is computed, what it must be); eigenvalues are 2^k times as large, or weights are
CASES = {
    "fit_power_law": lambda k: (lambda: fitted(np.ldexp(VALUES, k)), fitted(VALUES)),
    "fit_power_laws": lambda k: (lambda: [sp.fit_power_laws([np.ldexp(VALUES, k), NOISE])[0].alpha], [FIT.alpha]),
    "fit_power_law with its end": lambda k: (
        lambda: fitted(np.ldexp(VALUES, k), x_min=float(np.ldexp(2.0, k))),
        fitted(VALUES, x_min=2.0),
    ),
    "bootstrap_power_law": lambda k: (
        lambda: sp.bootstrap_power_law(np.ldexp(VALUES, k), generator(), n_resamples=20).alphas,
        sp.bootstrap_power_law(VALUES, generator(), n_resamples=20).alphas,
    ),
    "goodness_of_fit": lambda k: (
        lambda: sp.goodness_of_fit(np.ldexp(VALUES, k), generator(), n_simulations=20).distances,
        sp.goodness_of_fit(VALUES, generator(), n_simulations=20).distances,
    ),
    "compare_tails": lambda k: (lambda: compared(np.ldexp(VALUES, k), k), compared(VALUES, 0)),
    "spectrum_norms": lambda k: (
        lambda: [
            (found := sp.spectrum_norms(np.ldexp(VALUES, k))).stable_rank,
            found.entropy,
            found.rank,
            found.log_frobenius - k * np.log10(2),
            np.ldexp(found.lambda_max, -k),
        ],
        [(base := sp.spectrum_norms(VALUES)).stable_rank, base.entropy, base.rank, base.log_frobenius, base.lambda_max],
    ),
    "log_alpha_norm": lambda k: (
        lambda: sp.log_alpha_norm(np.ldexp(VALUES, k), 2.5) - 2.5 * k * np.log10(2),
        sp.log_alpha_norm(VALUES, 2.5),
    ),
    "fit_bulk": lambda k: (
        lambda: [
            np.ldexp((fit := sp.fit_bulk(np.ldexp(NOISE, k), (24, 40))).upper, -k),
            fit.soft_rank,
            fit.n_spikes,
        ],
        [(base := sp.fit_bulk(NOISE, (24, 40))).upper, base.soft_rank, base.n_spikes],
    ),
    "gram_spectra": lambda k: (
        lambda: np.ldexp(sp.gram_spectra(np.ldexp(WEIGHTS, k)).eigenvalues, -2 * k),
        sp.gram_spectra(WEIGHTS).eigenvalues,
    ),
    "operator_spectra": lambda k: (
        lambda: np.ldexp(sp.operator_spectra(np.ldexp(KERNEL[None], k), 4).eigenvalues, -2 * k),
        sp.operator_spectra(KERNEL[None], 4).eigenvalues,
    ),
    "layer_densities": lambda k: (
        lambda: np.ldexp(of_densities(k, sp.layer_densities(kernel_layer(k), sp.DensityOptions("slices"))), -2 * k),
        of_densities(0, sp.layer_densities(kernel_layer(0), sp.DensityOptions("slices"))),
    ),
    "null_weights, gaussian": lambda k: (
        lambda: np.ldexp(sp.null_weights(np.ldexp(WEIGHTS, k), "gaussian", seed=0, name="fc"), -k),
        sp.null_weights(WEIGHTS, "gaussian", seed=0, name="fc"),
    ),
    "null_weights": lambda k: (
        lambda: np.ldexp(sp.null_weights(np.ldexp(WEIGHTS, k), "shuffled", seed=0, name="fc"), -k),
        sp.null_weights(WEIGHTS, "shuffled", seed=0, name="fc"),
    ),
    "slices": lambda k: (lambda: np.ldexp(sp.slices(np.ldexp(KERNEL[None], k)), -k), sp.slices(KERNEL[None])),
    "unfolded": lambda k: (lambda: np.ldexp(sp.unfolded(np.ldexp(KERNEL[None], k)), -k), sp.unfolded(KERNEL[None])),
    "analyse_spectra": lambda k: (lambda: metrics_of(analysed(k), k), metrics_of(BASE, 0)),
}
SINGLE = {"weightwatcher_details": watched}
NEVER_REFUSED = {"fit_power_law", "fit_power_laws", "spectrum_norms", "log_alpha_norm"}
EXEMPT = {
    "usual_options": "takes options",
    "report": "has the numbers of analyse_spectra, with a null of which test_chance.py has the laws",
    "noise_eigenvalues": "draws noise of unit variance",
    **dict.fromkeys(("find_layers", "layer_generator"), "takes names and shapes"),
    **dict.fromkeys(("model_metrics", "weightwatcher_summary"), "takes tables of metrics"),
}


def test_every_public_function_is_here_or_exempt():
    tested = {name.split(",")[0].split(" with")[0] for name in (*CASES, *SINGLE)}
    assert tested.isdisjoint(EXEMPT)
    assert tested | set(EXEMPT) == functions(sp)


@pytest.mark.parametrize("name", CASES)
@at_all_scales
def test_it_is_right_at_every_scale_or_refused(name, k):
    compute, expected = CASES[name](k)
    right_or_refused(compute, equals(expected), ordinary=abs(k) <= ORDINARY or name in NEVER_REFUSED)


@at_all_scales
def test_what_computes_in_single_precision_says_where_that_ends(k):
    """Eigenvalues up to 1e-5 are dropped by the tool; what is compared here does not depend on that."""
    right_or_refused(lambda: watched(k), equals(watched(0), 1e-5), ordinary=abs(k) <= 15)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_one_layer_of_another_scale_ends_no_run(scale):
    report = sp.analyse_spectra({"odd": scale * WEIGHTS, "ok": WEIGHTS}, SLICES)
    assert [row.name for row in report.spectra] == ["ok"] and "expected squares" in report.failures["odd"]


def test_a_layer_that_cannot_be_analysed_is_named_with_its_reason():
    tiny = KERNEL.copy()
    tiny[:, :, 0, 0] *= 1e-200
    report = sp.analyse_spectra({"tiny": tiny, "ok": WEIGHTS}, SLICES)
    assert [row.name for row in report.spectra] == ["ok"]
    assert "expected squares from 1e-303" in report.failures["tiny"]
    with pytest.raises(ValueError, match=r"scale: found 2.0, expected one of 'weightwatcher'"):
        sp.DensityOptions(scale=2.0)
